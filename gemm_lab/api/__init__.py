"""The nouns that a learner types: Kernel, Run, Ladder, and where am I. Floor 5."""

from gemm_lab.api.here import Here, here
from gemm_lab.api.kernel import Kernel, kernel
from gemm_lab.api.ladder import Bench, Ladder, ladder
from gemm_lab.api.run import Run

__all__ = ["Bench", "Here", "Kernel", "Ladder", "Run", "here", "kernel", "ladder"]
