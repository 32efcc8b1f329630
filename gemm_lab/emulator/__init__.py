"""PTX executed in NumPy: results, counts per instruction and line, hazards. Needs no GPU.

`launch` runs a kernel and returns a `Report`; `supported` tells the opcodes.
"""

from gemm_lab.emulator.faults import (
    AssertionFailed,
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
    WarpgroupFault,
)
from gemm_lab.emulator.hazards import widest_first
from gemm_lab.emulator.launching import launch
from gemm_lab.emulator.registry import supported
from gemm_lab.emulator.report import Report, Site, Totals

__all__ = [
    "AssertionFailed",
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
    "WarpgroupFault",
    "launch",
    "supported",
    "widest_first",
]
