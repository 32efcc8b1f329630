"""Executes PTX in NumPy, without a GPU: results, counts per instruction and per source line, hazards.

`simulate` compiles CUDA source and runs a kernel of it, `launch` runs one that is compiled; both return a `Report`.
`supported` lists the opcodes.
"""

from gpu_simulator.codegen.ops import supported
from gpu_simulator.errors import ConfigError, SimulatorError
from gpu_simulator.faults import (
    AssertionFailed,
    BarrierFault,
    BudgetExceeded,
    ClusterFault,
    Deadlock,
    HazardFound,
    LaunchError,
    MalformedPtx,
    MbarrierFault,
    MemoryFault,
    SimulatedFault,
    TensorMemoryFault,
    Trap,
    UnsupportedInstruction,
    WarpFault,
    WarpgroupFault,
)
from gpu_simulator.launching import launch
from gpu_simulator.machine.address_space import Placement
from gpu_simulator.observers.hazards import widest_first
from gpu_simulator.report import Report, Site, Totals
from gpu_simulator.simulating import simulate

# Of this package alone: gemm_lab has versions of its own.
__version__ = "1.1.0"
__all__ = [
    "AssertionFailed",
    "BarrierFault",
    "BudgetExceeded",
    "ClusterFault",
    "ConfigError",
    "Deadlock",
    "HazardFound",
    "LaunchError",
    "MalformedPtx",
    "MbarrierFault",
    "MemoryFault",
    "Placement",
    "Report",
    "SimulatedFault",
    "SimulatorError",
    "Site",
    "TensorMemoryFault",
    "Totals",
    "Trap",
    "UnsupportedInstruction",
    "WarpFault",
    "WarpgroupFault",
    "launch",
    "simulate",
    "supported",
    "widest_first",
]
