"""The ranges of generic addresses of the state spaces. They are the simulator's own choice."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_simulator.faults import LaunchError
from gpu_simulator.hardware.tensor_memory_layout import ALLOCATIONS, COLUMNS

FUNCTION_BASE = 0x6000_0000_0000
LINE_BYTES = 1 << 32  # pointers to both sides of a multiple of it differ in their upper 32 bits
BELOW_LINE = 1 << 24  # bytes from GLOBAL_BASE to the next such multiple
GLOBAL_BASE = 0x7000_0000_0000 - BELOW_LINE
# The lower 32 bits of the windows are not 0, as on GPUs: a generic address that is cut to 32 bits is no shared address.
LOCAL_WINDOW = 0x7E00_8000_0000
SHARED_WINDOW = 0x7F00_8000_0000
# Where shared memory does not begin at 0, neither does its window: this is a multiple of 4,096 alone.
OTHER_SHARED_WINDOW = 0x7F00_8421_5000
WINDOW_BYTES = 1 << 32


def align_up(value: int, align: int) -> int:
    """The smallest multiple of `align` that is not below `value`."""
    return -(-value // align) * align


@dataclass(frozen=True)
class Placement:
    """What a kernel must not rely on. Raises `LaunchError` for a base that is none.

    crossing: the number of an array, in the order of `args`, whose middle is placed at a multiple of 4 GiB, so that
    addresses computed in 32 bits are wrong; possible if it and the arrays before it have at most 16 MiB.
    reversed_arrays: place the arrays of `args` in memory from the last one to the first, at odd multiples of 16 bytes.
    shared_memory_base: the address in bytes, a multiple of 1,024, at which the shared memory of a block begins. On
    GPUs from sm_80 on it is 1,024, because the system reserves the bytes below. With another base than 0 the
    `__shared__` arrays also lie in the opposite order, and generic addresses of shared memory begin elsewhere, which
    nobody promises either.
    tensor_memory_base: the column, a multiple of 32, from which tcgen05.alloc looks for free columns first. By default
    the first allocation of a block begins at column 0, which no GPU promises.
    """

    crossing: int | None = None
    reversed_arrays: bool = False
    shared_memory_base: int = 0
    tensor_memory_base: int = 0

    def __post_init__(self) -> None:
        for name, step, end in (
            ("shared_memory_base", 1024, 16 * 1024),
            ("tensor_memory_base", ALLOCATIONS[0], COLUMNS),
        ):
            base = getattr(self, name)
            if base not in range(0, end, step):
                raise LaunchError(f"{name} must be a multiple of {step:,} from 0 to {end - step:,}, not {base!r}.")
