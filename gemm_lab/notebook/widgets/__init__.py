"""Interactive widgets for notebooks. If the notebook is not running, each shows a still picture.

from gemm_lab.notebook import widgets
widgets.swizzle(…)        which banks an access to a tile uses; also lab.swizzle
widgets.fragments(…)      which lane holds which element of an mma
widgets.wavefronts(run)   the shared-memory accesses of a compiled kernel, one wavefront at a time
widgets.zoom(run)         the whole product on one picture, from DRAM to the bits of an address; also lab.zoom
widgets.mbarrier()        the phases of an mbarrier, step by step, and the effect of a wrong parity
widgets.block_order(…)    which output tiles run at the same time, and how many reads L2 then saves
widgets.TileExplorer(…)   a block tile on the roofline of a GPU, and what limits its speed
lab.swizzle_puzzle(…)     invent a swizzle by hand; its module swizzle_puzzle has the same name
"""

import importlib

_HOMES = {
    "swizzle": "swizzle_explorer",
    "fragments": "fragment_map",
    "wavefronts": "wavefront_stepper",
    "zoom": "zoom",
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
