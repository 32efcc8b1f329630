"""The errors of a simulated kernel. Each message is a sentence that names the line and the reason."""

from __future__ import annotations

import re
from typing import Any, TypeAlias, TypeVar

from gpu_simulator.errors import LaunchError, SimulatorError

Extents: TypeAlias = tuple[int, int, int]
Fault = TypeVar("Fault", bound="SimulatedFault")
_XYZ = r"\((\d+), (\d+), (\d+)\)"
_THREAD = re.compile(rf"\b[Bb]lock {_XYZ}(?:, thread {_XYZ})?")  # as `ResidentBlocks.name_lane` writes it
TEXTURES = (
    "textures and surfaces are made by the host and read by units of a GPU that are not here. Give the kernel an array "
    "as a pointer and read it by its index; where the texture clamps or interpolates, write that out"
)


class SimulatedFault(SimulatorError):
    """A kernel that cannot be simulated, or that does something that fails on a GPU.

    file, line: of the source, None and 0 where the PTX names none.   ptx_line: of the PTX, 0 without an instruction.
    block, thread: (x, y, z) of the thread that the message names first, or None.
    """

    file: str | None = None
    line = ptx_line = 0
    block: Extents | None = None
    thread: Extents | None = None

    @property
    def kind(self) -> str:
        """The name of the class in words, such as "memory fault"."""
        return re.sub(r"(?<!^)(?=[A-Z])", " ", type(self).__name__).lower()

    def at(self: Fault, item: Any) -> Fault:
        """Note the position of a PTX instruction as that of the fault; returns the fault."""
        self.ptx_line = item.line
        if item.location is not None:
            self.file, self.line = item.location.frames[item.location.in_own_file]
        return self


def threads_named(message: str) -> tuple[Extents | None, Extents | None]:
    """(block, thread) that a message names first, each as (x, y, z); None for what it does not name."""
    found = _THREAD.search(message)
    if found is None:
        return None, None
    x, y, z, *thread = (int(number) for number in found.groups() if number is not None)
    return (x, y, z), (thread[0], thread[1], thread[2]) if thread else None


class MalformedPtx(SimulatedFault):
    """Invalid PTX; the message names the line."""


class UnsupportedInstruction(SimulatedFault):
    """An opcode, or a form of it, that the simulator does not support; the message names PTX and source line."""


class MemoryFault(SimulatedFault):
    """An access that is out of bounds or misaligned; the message names thread, block, line and nearest allocation."""


class BarrierFault(SimulatedFault):
    """A barrier of the block (bar, barrier) whose number or number of threads no GPU has."""


class MbarrierFault(SimulatedFault):
    """An mbarrier that is used before its init, initialised twice or overwritten, or whose counts leave their range."""


class ClusterFault(SimulatedFault):
    """An incorrect use of barrier.cluster, or of an address in the shared memory of a cluster."""


class WarpFault(SimulatedFault):
    """An instruction between the lanes of a warp, executed by a lane that its membermask does not name or by a part of
    a warp that has to execute it as a whole; or an mma.sp with metadata that have no meaning."""


class WarpgroupFault(SimulatedFault):
    """A wgmma executed by only a part of a warpgroup, or with an invalid matrix descriptor."""


class TensorMemoryFault(SimulatedFault):
    """An incorrect use of tensor memory, or a tcgen05 instruction that the hardware would reject or misinterpret."""


class Deadlock(SimulatedFault):
    """No thread can continue; the message says which threads wait for what."""


class BudgetExceeded(SimulatedFault):
    """More work (`effort`) or memory (`memory_limit`) than the launch may use; the message says where."""


class AssertionFailed(SimulatedFault):
    """A device-side assert() that failed; the message has its text, file and line."""


class Trap(SimulatedFault):
    """The kernel executed `trap`."""


class HazardFound(SimulatedFault):
    """Raised by `Report.raise_hazards()`: races, uninitialised reads, missing waits and fences."""


__all__ = [
    "AssertionFailed",
    "BarrierFault",
    "BudgetExceeded",
    "ClusterFault",
    "Deadlock",
    "HazardFound",
    "LaunchError",
    "MalformedPtx",
    "MbarrierFault",
    "MemoryFault",
    "SimulatedFault",
    "TensorMemoryFault",
    "Trap",
    "UnsupportedInstruction",
    "WarpFault",
    "WarpgroupFault",
]
