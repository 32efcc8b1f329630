"""Things to play with in a notebook. Each shows a still picture of itself where no kernel runs.

from gemm_lab.notebook import widgets
widgets.swizzle(…)        which banks an access to a tile meets; also lab.swizzle
widgets.fragments(…)      which lane holds which element of an mma
widgets.wavefronts(run)   what a compiled kernel does to shared memory, pass by pass
widgets.mbarrier()        a barrier's phases, step by step, and what a wrong parity does
widgets.block_order(…)    which output tiles run together, and what L2 then saves
widgets.TileExplorer(…)   a block tile on the roofline of a GPU, and what binds
"""

import importlib

_HOMES = {
    "swizzle": "swizzle_explorer",
    "fragments": "fragment_map",
    "wavefronts": "wavefront_stepper",
    "mbarrier": "mbarrier_stepper",
    "block_order": "block_orders",
    "TileExplorer": "tiling",
}
__all__ = list(_HOMES)


def __getattr__(name: str):
    """Load a widget when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"widgets has no “{name}”; it has {', '.join(__all__)}.")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
