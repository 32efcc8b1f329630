"""The types of the public names, which gemm_lab/__init__.py loads when they are first used."""

from IPython.core.interactiveshell import InteractiveShell

from gemm_lab.lab import Kernel, Ladder, Run, here, kernel, ladder, simulate
from gemm_lab.notebook.exercises import exercise
from gemm_lab.notebook.guess import guess
from gemm_lab.notebook.puzzle import puzzle
from gemm_lab.notebook.remembered.progress import progress
from gemm_lab.notebook.show import figure
from gemm_lab_lessons.ch05.layout_puzzle.swizzle_puzzle import swizzle_puzzle
from gemm_lab_lessons.ch05.swizzle_explorer import swizzle
from gemm_lab_lessons.shared.tiled_matmul import tiled_matmul
from gemm_lab_lessons.zoom.zoom import zoom
from gemm_results.roofline_model import roofline
from gpu_simulator.errors import LabError
from gpu_simulator.hardware.data_sheets import gpu
from gpu_simulator.hardware.occupancy import occupancy

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
    "swizzle",
    "swizzle_puzzle",
    "tiled_matmul",
    "zoom",
]
__version__: str

def __dir__() -> list[str]: ...
def load_ipython_extension(ipython: InteractiveShell) -> None: ...
