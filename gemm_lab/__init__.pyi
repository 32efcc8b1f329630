"""The types of the public names, which gemm_lab/__init__.py loads when they are first used."""

from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from gemm_lab.lab import Kernel, Ladder, Run, here, kernel, ladder, simulate
from gemm_lab.notebook.exercises import exercise
from gemm_lab.notebook.guess import guess
from gemm_lab.notebook.puzzle import puzzle
from gemm_lab.notebook.remembered.progress import progress
from gemm_lab.notebook.show import figure
from gemm_results.errors import LabError
from gemm_results.roofline_model import roofline
from gpu_simulator.hardware.data_sheets import gpu
from gpu_timing.occupancy import occupancy

__all__ = [
    "Kernel",
    "LabError",
    "Ladder",
    "Run",
    "exercise",
    "figure",
    "gpu",
    "guess",
    "here",
    "kernel",
    "ladder",
    "occupancy",
    "progress",
    "puzzle",
    "roofline",
    "simulate",
]
__version__: str

def __dir__() -> list[str]: ...
def __getattr__(name: str) -> Any: ...  # what courses add, such as lab.zoom: their packages have its types
def load_ipython_extension(ipython: InteractiveShell) -> None: ...
