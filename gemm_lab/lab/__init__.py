"""The objects that a learner works with: `Kernel`, `Run`, `Ladder`, `here()`, the machine that kernels run on, and
`simulate()`, for kernels of their own.
"""

from gemm_lab.lab.here import Here, here
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_lab.lab.ladder import Bench, Ladder, ladder
from gemm_lab.lab.run import Run
from gemm_lab.lab.simulate import Simulation, simulate

__all__ = ["Bench", "Here", "Kernel", "Ladder", "Run", "Simulation", "here", "kernel", "ladder", "simulate"]
