"""Limits the memory of a launch: estimated before it begins, counted while it runs.

The limit is `launch(max_bytes=…)`, or GPU_SIMULATOR_MEMORY_MB, or three quarters of the memory that is free on this
machine (and in its container). A launch that needs more raises an error before the memory is allocated, so the rest of
the process is not affected.
"""

from __future__ import annotations

import os
from pathlib import Path

from gpu_simulator.codegen.program import Program
from gpu_simulator.faults import BudgetExceeded, LaunchError
from gpu_simulator.ptx.demangle import source_name

VARIABLE = "GPU_SIMULATOR_MEMORY_MB"
FORMER = "GEMM_LAB_MEMORY_MB"  # its name in 1.0, which still counts where the new one is not set
SHARE = 0.75
# Bytes that are assumed to be free if the system does not report its memory.
UNKNOWN = 4 << 30
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def free_bytes() -> int:
    """Bytes that this process can still allocate: the least of what the system and the container report as free."""
    known = []
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        known.append(int(lines["MemAvailable"].split()[0]) * 1024)
    except (OSError, KeyError, ValueError):
        try:
            known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
        except (AttributeError, OSError, ValueError):
            known.append(UNKNOWN)
    for limit, used in _CGROUPS:
        try:
            known.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return max(min(known), 0)


def limit_bytes(given: int | None) -> int:
    """The memory limit of a launch in bytes. given: its argument `max_bytes`. Raises `LaunchError` if it is invalid."""
    if given is not None:
        if int(given) != given or given <= 0:
            raise LaunchError(f"max_bytes must be a positive whole number, not {given!r}.")
        return int(given)
    for variable in (VARIABLE, FORMER):
        said = os.environ.get(variable, "").strip()
        if not said:
            continue
        if not said.isdecimal() or int(said) == 0:
            raise LaunchError(f"{variable} is {said!r}; set it to a whole number of megabytes.")
        return int(said) << 20
    return int(SHARE * free_bytes())


def in_words(size: int) -> str:
    """A number of bytes in words, such as 1.5 GB, 20 MB or 3 kB."""
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{max(size, 1) / 1024:.0f} kB"


class Account:
    """The bytes that a launch uses. Call `take` before memory is allocated and `give` after it is freed."""

    def __init__(self, limit: int):
        self.limit, self.taken = limit, 0

    def take(self, size: int, what: str) -> None:
        """Count `size` more bytes. Raises `BudgetExceeded` if they pass the limit; what: names them in the message."""
        self.taken += size
        if self.taken > self.limit:
            raise BudgetExceeded(
                f"The launch needs more than its {in_words(self.limit)} of memory: {what} would bring it to "
                f"{in_words(self.taken)}. Take a smaller problem or fewer blocks, or allow more with max_bytes= or "
                f"{VARIABLE}."
            )

    def give(self, size: int) -> None:
        """Return bytes that were taken."""
        self.taken -= size


def blocks_at_once(
    wanted: int, a_block: dict[str, int], fixed: dict[str, int], limit: int, program: Program, cluster: int = 1
) -> int:
    """How many of the `wanted` blocks (or clusters, if they have more than one block) can be resident together.

    a_block, fixed: bytes needed for each of them and once, by what needs them.   cluster: blocks in a cluster.
    Raises `LaunchError` if not even one fits.
    """
    each, rest = sum(a_block.values()), sum(fixed.values())
    if rest + each <= limit:
        return max(1, min(wanted, (limit - rest) // each))
    parts = {**fixed, **a_block}
    largest = sorted(parts, key=parts.__getitem__, reverse=True)[:3]
    words = ", ".join(f"{in_words(parts[name])} for {name}" for name in largest if parts[name])
    remedy = REMEDIES[next(key for key in REMEDIES if largest[0].startswith(key))]
    raise LaunchError(
        f"{source_name(program.entry)} would need about {in_words(rest + each)} of memory with one "
        f"{'block' if cluster == 1 else 'cluster'} resident ({words}), more than the "
        f"{in_words(limit)} that it may take here. {remedy}, or allow more with max_bytes= or {VARIABLE}."
    )


# What to do, by the beginning of the name of what needs the most memory; the first match counts.
REMEDIES = {
    "the global arrays": "Pass smaller arrays",
    "the variables": "Make the __device__ and __constant__ arrays of the source smaller",
    "the heap": "Give malloc a smaller heap with heap_bytes=",
    "shared memory": "Declare less shared memory",
    "the hazards": "Look for hazards at a smaller size",
    "local memory": "Make the kernel's local arrays smaller, or launch blocks of fewer threads",
    "": "Launch blocks of fewer threads",
}
