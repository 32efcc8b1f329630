"""The errors of an emulated kernel. Each message is a sentence that names the line and the reason."""

from __future__ import annotations

from gpu_simulator.errors import LabError, LaunchError


class EmulatorError(LabError):
    """A kernel that cannot be emulated, or that does something that fails on a GPU."""


class MalformedPtx(EmulatorError):
    """Invalid PTX; the message names the line."""


class UnsupportedInstruction(EmulatorError):
    """An opcode, or a form of it, that the emulator does not support; the message names PTX and source line."""


class MemoryFault(EmulatorError):
    """An access that is out of bounds or misaligned; the message names thread, block, line and nearest allocation."""


class BarrierFault(EmulatorError):
    """A barrier of the block (bar, barrier) whose number or number of threads no GPU has."""


class MbarrierFault(EmulatorError):
    """An mbarrier that is used before its init, initialised twice or overwritten, or whose counts leave their range."""


class ClusterFault(EmulatorError):
    """An incorrect use of barrier.cluster, or of an address in the shared memory of a cluster."""


class WarpFault(EmulatorError):
    """An instruction between the lanes of a warp, executed by a lane that its membermask does not name, or an mma.sp
    with metadata that have no meaning."""


class WarpgroupFault(EmulatorError):
    """A wgmma executed by only a part of a warpgroup, or with an invalid matrix descriptor."""


class TensorMemoryFault(EmulatorError):
    """An incorrect use of tensor memory, or a tcgen05 instruction that the hardware would reject or misinterpret."""


class Deadlock(EmulatorError):
    """No thread can continue; the message says which threads wait for what."""


class BudgetExceeded(EmulatorError):
    """More work (`effort`) or memory (`memory_limit`) than the launch may use; the message says where."""


class AssertionFailed(EmulatorError):
    """A device-side assert() that failed; the message has its text, file and line."""


class Trap(EmulatorError):
    """The kernel executed `trap`."""


class HazardFound(EmulatorError):
    """Raised by `Report.raise_hazards()`: races, uninitialised reads, missing waits and fences."""


__all__ = [
    "AssertionFailed",
    "BarrierFault",
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
    "WarpFault",
    "WarpgroupFault",
]
