"""The pictures of the notebooks: one function draws each, from numbers that the package computes.

`draw("banks_and_wavefronts")` returns the Figure, `names()` lists the pictures, `save_all(folder)` writes the PNG files
that the notebooks show. `python -m tools.figures` rewrites `images/`.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from matplotlib.figure import Figure

from gemm_look import style
from gemm_results.errors import LabError
from tools.figures.png import write_png

# The functions that draw, by module, about in the order of the notebooks. A module is imported when it draws.
_FUNCTIONS = {
    "grid": ("grid_of_blocks",),
    "journey": ("journey",),
    "machine": ("memory_hierarchy",),
    "data_movement": ("naive_best_tiled", "loop_orders"),
    "rooflines": ("roofline_idea", "t4_roofline_units", "t4_roofline_memories", "multiplication_vs_addition"),
    "tiling": ("tiling_levels", "tile_intensity", "warp_reload"),
    "tile_loops": ("counted_levels", "nine_loops", "coalescing"),
    "warp_tiles": ("warp_tiles",),
    "instructions": ("one_instruction",),
    "inline_ptx": ("inline_ptx",),
    "ldmatrix": ("ldmatrix_x4", "ldmatrix_trans", "one_stride"),
    "number_formats": ("number_formats", "eight_bits"),
    "bank_columns": ("bank_columns",),
    "strides": ("stride_wavefronts",),
    "lane_groups": ("lane_groups",),
    "row_lengths": ("row_lengths",),
    "sector_shift": ("sector_shift",),
    "half_warps": ("half_warps",),
    "padding_toy": ("padding_toy",),
    "padding": ("padding",),
    "address_bits": ("address_bits",),
    "swizzle_bits": ("swizzle_bits",),
    "copy_moves": ("copy_moves",),
    "copy_rows": ("copy_rows",),
    "latency": ("memory_latency_hidden",),
    "banks": ("banks_and_wavefronts", "ldmatrix_conflict"),
    "swizzle": ("swizzle_xor",),
    "fragments": ("mma_fragments",),
    "overlap": ("prefetch_overlap", "barriers_and_buffers"),
    "machine_code": ("main_loops_03_04", "main_loops_04_08"),
    "xor_steps": ("xor_steps",),
    "epilogue": ("staged_epilogue",),
    "async_copies": ("copy_paths", "copy_groups", "late_addresses"),
    "ampere_code": ("ampere_loops_04_05", "ampere_loops_06_10"),
    "tails": ("tail_tile",),
    "wmma": ("wmma_fragment_load", "wmma_loops"),
    "locality": ("block_order_locality",),
    "persistent": ("persistent_blocks",),
    "quads": ("quad_exchange",),
    "ring": ("stage_ring",),
    "tma": ("tma_box",),
    "warpgroup_operands": ("wgmma_operands",),
    "warpgroups": ("warpgroup_ring",),
    "multicast": ("cluster_multicast",),
    "turns": ("ping_pong",),
    "tensor_memory": ("tensor_memory",),
    "descriptors": ("matrix_descriptor",),
    "cta_pairs": ("cta_pairs",),
    "board": ("scoreboard",),
    "kept_bits": ("kept_bits",),
    "promotions": ("promotions",),
    "scale_tile": ("scale_tile",),
}
_MODULES = {name: module for module, names in _FUNCTIONS.items() for name in names}


def names() -> list[str]:
    """The names of all pictures."""
    return list(_MODULES)


def draw(name: str) -> Figure:
    """A new Figure of the picture `name`. Raises `LabError`, with all names, for an unknown one."""
    if name not in _MODULES:
        raise LabError(f"There is no picture called {name!r}; there are {', '.join(names())}.")
    return style.drawn(getattr(importlib.import_module(f"tools.figures.{_MODULES[name]}"), name))()


def save_all(folder: str | Path) -> list[Path]:
    """Write every picture as `<name>.png` into `folder`, which is created if necessary; return the paths."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [write_png(draw(name), name, folder / f"{name}.png") for name in names()]
