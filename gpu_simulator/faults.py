"""What can go wrong in an emulated kernel. Each message is a sentence that names the line and the reason."""

from __future__ import annotations

from gpu_simulator.errors import LabError, LaunchError


class EmulatorError(LabError):
    """A kernel that cannot be emulated, or that did something a GPU would not forgive."""


class MalformedPtx(EmulatorError):
    """Text that is not PTX; the message names the line."""


class UnsupportedInstruction(EmulatorError):
    """An opcode outside `supported()`; the message names PTX line, source line and opcode."""


class MemoryFault(EmulatorError):
    """An access out of bounds or misaligned; the message names thread, block, line and nearest allocation."""


class MbarrierFault(EmulatorError):
    """An mbarrier used before its init, initialised twice, overwritten, or counted past its limits."""


class ClusterFault(EmulatorError):
    """A cluster's barrier or addresses used against their rules."""


class WarpgroupFault(EmulatorError):
    """wgmma by a part of a warpgroup, or with a descriptor that does not mean what it should."""


class TensorMemoryFault(EmulatorError):
    """Tensor memory misused, or a tcgen05 instruction that the hardware would refuse or take for another one."""


class Deadlock(EmulatorError):
    """No thread can go on; the message says who waits on what."""


class BudgetExceeded(EmulatorError):
    """More work than a launch may make (`effort`); the message names the line that spins."""


class AssertionFailed(EmulatorError):
    """A device-side assert(), with its text, file and line."""


class Trap(EmulatorError):
    """The kernel executed `trap`."""


class HazardFound(EmulatorError):
    """`Report.raise_hazards()`: races, uninitialised reads, missing waits."""


__all__ = [
    "AssertionFailed",
    "BudgetExceeded",
    "ClusterFault",
    "Deadlock",
    "EmulatorError",
    "HazardFound",
    "LaunchError",
    "MalformedPtx",
    "MbarrierFault",
    "MemoryFault",
    "TensorMemoryFault",
    "Trap",
    "UnsupportedInstruction",
    "WarpgroupFault",
]
