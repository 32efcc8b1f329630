"""Rejects launches that no GPU allows: too many threads, too large a grid, too much shared memory."""

from __future__ import annotations

from gpu_simulator.faults import LaunchError
from gpu_simulator.hardware.tensor_memory_layout import ALLOCATIONS, COLUMNS

# The most shared memory that a block may have, in bytes, by compute capability.
# Source: CUDA C++ Programming Guide, "Compute Capabilities", technical specifications.
SHARED_LIMIT = {
    50: 49152,
    52: 49152,
    53: 49152,
    60: 49152,
    61: 49152,
    62: 49152,
    70: 98304,
    72: 98304,
    75: 65536,
    80: 166912,
    86: 101376,
    87: 166912,
    88: 101376,
    89: 101376,
    90: 232448,
    100: 232448,
    101: 232448,
    103: 232448,
    110: 232448,
    120: 101376,
    121: 101376,
}
MAX_THREADS = 1024
TIMINGS = ("early", "late", "staggered")


def check_shared_base(base) -> None:
    """Raise `LaunchError` for an address at which shared memory cannot begin; a program is laid out for it."""
    if base not in range(0, 16 * 1024, 1024):
        raise LaunchError(f"shared_memory_base must be a multiple of 1,024 from 0 to 15,360, not {base!r}.")


def check(launch) -> None:
    """Raise `LaunchError` if a `Launch` has sizes that a GPU, or the kernel, does not allow."""
    program = launch.program
    if launch.timing not in TIMINGS:
        raise LaunchError(f'timing must be "early", "late" or "staggered", not {launch.timing!r}.')
    base = launch.tensor_memory_base
    if base not in range(0, COLUMNS, ALLOCATIONS[0]):
        raise LaunchError(
            f"tensor_memory_base must be a multiple of {ALLOCATIONS[0]} from 0 to {COLUMNS - ALLOCATIONS[0]}, "
            f"not {base!r}."
        )
    if launch.dynamic_smem < 0:
        raise LaunchError(f"dynamic_smem_bytes must be 0 or more, not {launch.dynamic_smem:,}.")
    if launch.threads > MAX_THREADS:
        raise LaunchError(
            f"A block of {launch.threads:,} threads is more than the {MAX_THREADS:,} that a block may have."
        )
    if program.max_threads and launch.threads > program.max_threads:
        raise LaunchError(
            f"A block of {launch.threads} threads is more than the {program.max_threads} that "
            f"{program.entry} was compiled for (__launch_bounds__)."
        )
    if launch.block[2] > 64 or launch.grid[1] > 65535 or launch.grid[2] > 65535 or launch.grid[0] >= 2**31:
        raise LaunchError(
            f"Grid {launch.grid} or block {launch.block} is larger than a GPU allows: grid y and z at most "
            "65,535, block z at most 64."
        )
    limit = SHARED_LIMIT.get(program.module.capability)
    used = launch.smem_bytes - program.shared_base
    if limit is not None and used > limit:
        raise LaunchError(
            f"A block with {used:,} bytes of shared memory is more than the {limit:,} of "
            f"{program.module.target.split(',')[0]} (PTX line {program.module.functions[program.entry].line})."
        )
    if launch.threads % 32:
        for item in program.sites:
            if item.family in ("ldmatrix", "stmatrix", "mma", "wmma", "wgmma", "movmatrix"):
                raise LaunchError(
                    f"A block of {launch.threads} threads ends in a partial warp, but {item.opcode} "
                    f"({launch.describe(item)}) needs all 32 lanes; use a multiple of 32 threads."
                )
