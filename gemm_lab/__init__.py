"""gemm_lab: how to make matrix multiplication fast on NVIDIA tensor cores, kernel by kernel.

import gemm_lab as lab
lab.here()                              what this machine can do
lab.kernel("t4/03_swizzled").run()      compile, launch, check and time a kernel
lab.ladder("t4").bench([4096]).plot()   compare all rungs with cuBLAS
lab.simulate(source, grid=1, block=256, args=[a, b])    any kernel of yours, line by line
lab.progress()                          how many puzzles and exercises you have solved

An installed course adds names of its own, such as those that the notebooks use; dir(lab) has them all.
"""

from __future__ import annotations

import importlib
import sys

try:
    import gemm_look  # noqa: F401  the smallest of the packages that an installation brings
except ModuleNotFoundError:
    raise ImportError(
        "This folder has gemm_lab, and the packages that it needs are not installed. `make lab` in the folder of the "
        "repository installs them into .venv and opens the notebooks; .venv/bin/python finds them from then on."
    ) from None

from gemm_lab.doors import Doors

if Doors not in sys.meta_path:
    sys.meta_path.append(Doors)  # after Python's own: an old path is one that nobody else finds

# Names of this package. A course adds others: see gemm_lab.courses.
_HOMES = {
    "here": "gemm_lab.lab",
    "kernel": "gemm_lab.lab",
    "ladder": "gemm_lab.lab",
    "Kernel": "gemm_lab.lab",
    "Run": "gemm_lab.lab",
    "Ladder": "gemm_lab.lab",
    "simulate": "gemm_lab.lab",
    "gpu": "gpu_simulator.hardware.data_sheets",
    "LabError": "gemm_results.errors",
    "roofline": "gemm_results.roofline_model",
    "occupancy": "gpu_timing.occupancy",
    "figure": "gemm_lab.notebook.show",
    "guess": "gemm_lab.notebook.guess",
    "progress": "gemm_lab.notebook.remembered.progress",
    "puzzle": "gemm_lab.notebook.puzzle",
    "exercise": "gemm_lab.notebook.exercises",
}
_FORMER = {"predict": "gemm_lab.notebook.guess"}  # what `guess` was called; for copies of earlier notebooks
__all__ = sorted(_HOMES)
__version__ = "1.0.0"


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that importing the package is fast."""
    home = _HOMES.get(name) or _FORMER.get(name)
    if home is None:
        added = {} if name.startswith("__") else _added()
        if name not in added:
            none = "" if added else f" {importlib.import_module('gemm_lab.courses').NONE}"
            raise AttributeError(f"gemm_lab has no “{name}”; it has {', '.join([*__all__, *added])}.{none}")
        home = added[name]
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def _added() -> dict[str, str]:
    return importlib.import_module("gemm_lab.courses").added("NAMES")


def __dir__() -> list[str]:
    return sorted([*__all__, *_added(), "__version__"])


def load_ipython_extension(ipython: object) -> None:
    """For `%load_ext gemm_lab`: register the %%kernel magic and the display of the lab's errors."""
    importlib.import_module("gemm_lab.notebook.cells").register(ipython)
