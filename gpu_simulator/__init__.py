"""Executes PTX in NumPy, without a GPU: results, counts per instruction and per source line, hazards.

`launch` runs a kernel and returns a `Report`; `supported` lists the opcodes.
"""

from gpu_simulator.codegen.ops import supported
from gpu_simulator.faults import (
    AssertionFailed,
    BarrierFault,
    BudgetExceeded,
    ClusterFault,
    Deadlock,
    EmulatorError,
    HazardFound,
    MalformedPtx,
    MbarrierFault,
    MemoryFault,
    TensorMemoryFault,
    Trap,
    UnsupportedInstruction,
    WarpFault,
    WarpgroupFault,
)
from gpu_simulator.launching import launch
from gpu_simulator.observers.hazards import widest_first
from gpu_simulator.report import Report, Site, Totals

__all__ = [
    "AssertionFailed",
    "BarrierFault",
    "BudgetExceeded",
    "ClusterFault",
    "Deadlock",
    "EmulatorError",
    "HazardFound",
    "MalformedPtx",
    "MbarrierFault",
    "MemoryFault",
    "Report",
    "Site",
    "TensorMemoryFault",
    "Totals",
    "Trap",
    "UnsupportedInstruction",
    "WarpFault",
    "WarpgroupFault",
    "launch",
    "supported",
    "widest_first",
]
