"""The widgets of the courses, and the frame that all of them share: `PicturedWidget`, `esm`, `css`.

If the notebook is not running, each shows a still picture. Those of the lessons:

from gemm_lab.notebook import widgets
widgets.swizzle(…)        which banks an access to a tile uses; also lab.swizzle
widgets.fragments(…)      which lane holds which element of an mma
widgets.wavefronts(run)   the shared-memory accesses of a compiled kernel, one wavefront at a time
widgets.zoom(run)         the whole product on one picture, from DRAM to the bits of an address; also lab.zoom
widgets.mbarrier()        the phases of an mbarrier, step by step, and the effect of a wrong parity
widgets.tile_walk(f, …)   what a function of counted matrices reads from where, step by step
widgets.block_order(…)    which output tiles run at the same time, and how many reads L2 then saves
widgets.TileExplorer(…)   a block tile on the roofline of a GPU, and what limits its speed
widgets.predicted_timeline(p)   what the warps of an SM issue or wait for, cycle by cycle; p is k.predicted_timeline()
lab.swizzle_puzzle(…)     invent a swizzle by hand; its module swizzle_puzzle has the same name
"""

import importlib

from gemm_lab.courses import NONE, added


def __getattr__(name: str):
    """Load a widget of a course when it is first used."""
    homes = added("WIDGETS") if name == "__all__" or not name.startswith("__") else {}
    if name == "__all__":
        return list(homes)
    if name not in homes:
        has = f"it has {', '.join(homes)}." if homes else NONE
        raise AttributeError(f"widgets has no “{name}”; {has}")
    return getattr(importlib.import_module(homes[name]), name)


def __dir__() -> list[str]:
    return sorted(added("WIDGETS"))
