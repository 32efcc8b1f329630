"""The pictures of the notebooks: one function draws each, from numbers that the package computes.

`draw("banks_and_wavefronts")` returns the Figure, `names()` lists the pictures, `save_all(folder)` writes the PNG files
that the notebooks show. `python -m tools.figures` rewrites `images/`.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from gemm_look import style
from gemm_results.errors import LabError
from tools.figures import (
    address_bits,
    ampere_code,
    async_copies,
    bank_columns,
    banks,
    board,
    copy_moves,
    copy_rows,
    cta_pairs,
    data_movement,
    descriptors,
    epilogue,
    fragments,
    grid,
    half_warps,
    inline_ptx,
    instructions,
    journey,
    kept_bits,
    lane_groups,
    latency,
    ldmatrix,
    locality,
    machine,
    machine_code,
    multicast,
    number_formats,
    overlap,
    padding,
    padding_toy,
    persistent,
    promotions,
    quads,
    ring,
    rooflines,
    row_lengths,
    scale_tile,
    sector_shift,
    strides,
    swizzle,
    swizzle_bits,
    tails,
    tensor_memory,
    tile_loops,
    tiling,
    tma,
    turns,
    warp_tiles,
    warpgroup_operands,
    warpgroups,
    wmma,
    xor_steps,
)
from tools.figures.png import write_png

_FIGURES = {
    function.__name__: style.drawn(function)
    for function in (
        grid.grid_of_blocks,
        journey.journey,
        machine.memory_hierarchy,
        data_movement.naive_best_tiled,
        data_movement.loop_orders,
        rooflines.roofline_idea,
        rooflines.t4_roofline_units,
        rooflines.t4_roofline_memories,
        rooflines.multiplication_vs_addition,
        tiling.tiling_levels,
        tiling.tile_intensity,
        tile_loops.counted_levels,
        tiling.warp_reload,
        tile_loops.nine_loops,
        tile_loops.coalescing,
        warp_tiles.warp_tiles,
        instructions.one_instruction,
        inline_ptx.inline_ptx,
        ldmatrix.ldmatrix_x4,
        ldmatrix.ldmatrix_trans,
        number_formats.number_formats,
        ldmatrix.one_stride,
        bank_columns.bank_columns,
        strides.stride_wavefronts,
        lane_groups.lane_groups,
        row_lengths.row_lengths,
        sector_shift.sector_shift,
        half_warps.half_warps,
        padding_toy.padding_toy,
        padding.padding,
        address_bits.address_bits,
        swizzle_bits.swizzle_bits,
        copy_moves.copy_moves,
        copy_rows.copy_rows,
        latency.memory_latency_hidden,
        banks.banks_and_wavefronts,
        banks.ldmatrix_conflict,
        swizzle.swizzle_xor,
        fragments.mma_fragments,
        overlap.prefetch_overlap,
        machine_code.main_loops_03_04,
        xor_steps.xor_steps,
        overlap.barriers_and_buffers,
        epilogue.staged_epilogue,
        machine_code.main_loops_04_08,
        async_copies.copy_paths,
        ampere_code.ampere_loops_04_05,
        async_copies.copy_groups,
        ampere_code.ampere_loops_06_10,
        async_copies.late_addresses,
        tails.tail_tile,
        wmma.wmma_fragment_load,
        wmma.wmma_loops,
        locality.block_order_locality,
        persistent.persistent_blocks,
        quads.quad_exchange,
        ring.stage_ring,
        tma.tma_box,
        warpgroup_operands.wgmma_operands,
        warpgroups.warpgroup_ring,
        multicast.cluster_multicast,
        turns.ping_pong,
        tensor_memory.tensor_memory,
        descriptors.matrix_descriptor,
        cta_pairs.cta_pairs,
        board.scoreboard,
        number_formats.eight_bits,
        kept_bits.kept_bits,
        promotions.promotions,
        scale_tile.scale_tile,
    )
}


def names() -> list[str]:
    """The names of all pictures, in the order of the notebooks."""
    return list(_FIGURES)


def draw(name: str) -> Figure:
    """A new Figure of the picture `name`. Raises `LabError`, with all names, for an unknown one."""
    if name not in _FIGURES:
        raise LabError(f"There is no picture called {name!r}; there are {', '.join(names())}.")
    return _FIGURES[name]()


def save_all(folder: str | Path) -> list[Path]:
    """Write every picture as `<name>.png` into `folder`, which is created if necessary; return the paths."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [write_png(draw(name), name, folder / f"{name}.png") for name in names()]
