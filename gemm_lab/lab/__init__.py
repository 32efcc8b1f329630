"""The objects that a learner works with: `Kernel`, `Run`, `Ladder` and `here()`, the machine that kernels run on."""

from gemm_lab.lab.here import Here, here
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_lab.lab.ladder import Bench, Ladder, ladder
from gemm_lab.lab.run import Run

__all__ = ["Bench", "Here", "Kernel", "Ladder", "Run", "here", "kernel", "ladder"]
