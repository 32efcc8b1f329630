"""How much memory a launch may take: estimated before it begins, accounted for while it runs.

The limit is `launch(max_bytes=…)`, or GEMM_LAB_MEMORY_MB, or three quarters of the memory that is free on this machine
(and in its container). A launch that needs more is refused or stopped with a sentence; nothing else in the process is
lost.
"""

from __future__ import annotations

import os
from pathlib import Path

from gpu_simulator.faults import BudgetExceeded, LaunchError

VARIABLE = "GEMM_LAB_MEMORY_MB"
SHARE = 0.75
# Where the system says nothing about its memory.
UNKNOWN = 4 << 30
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def free_bytes() -> int:
    """Memory that this process could still take, by the system's and the container's count."""
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
    """The limit of a launch; `given` is its argument. Raises `LaunchError` for values that are no limit."""
    if given is not None:
        if int(given) != given or given <= 0:
            raise LaunchError(f"max_bytes must be a positive whole number, not {given!r}.")
        return int(given)
    said = os.environ.get(VARIABLE, "").strip()
    if said:
        if not said.isdecimal() or int(said) == 0:
            raise LaunchError(f"{VARIABLE} is {said!r}; set it to a whole number of megabytes.")
        return int(said) << 20
    return int(SHARE * free_bytes())


def in_words(size: int) -> str:
    """1.5 GB, 20 MB, 3 kB"""
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{max(size, 1) / 1024:.0f} kB"


class Account:
    """What a launch has taken. `take` and `give` are told before memory is used and after it is free again."""

    def __init__(self, limit: int):
        self.limit, self.taken = limit, 0

    def take(self, size: int, what: str) -> None:
        """Raises `BudgetExceeded` if the limit would be passed; what: the thing that grows."""
        self.taken += size
        if self.taken > self.limit:
            raise BudgetExceeded(
                f"The launch needs more than its {in_words(self.limit)} of memory: {what} would bring it to "
                f"{in_words(self.taken)}. Take a smaller problem or fewer blocks, or allow more with max_bytes= or "
                f"{VARIABLE}."
            )

    def give(self, size: int) -> None:
        self.taken -= size


def blocks_at_once(
    wanted: int, a_block: dict[str, int], fixed: dict[str, int], limit: int, program, cluster: int = 1
) -> int:
    """How many of the `wanted` blocks (clusters, if of more than one block) can be resident together.

    a_block, fixed: bytes by what needs them.

    Raises `LaunchError` if not even one can.
    """
    each, rest = sum(a_block.values()), sum(fixed.values())
    if rest + each <= limit:
        return max(1, min(wanted, (limit - rest) // each))
    parts = {**fixed, **a_block}
    largest = sorted(parts, key=parts.get, reverse=True)[:3]
    words = ", ".join(f"{in_words(parts[name])} for {name}" for name in largest if parts[name])
    remedy = REMEDIES[next(key for key in REMEDIES if largest[0].startswith(key))]
    raise LaunchError(
        f"{program.entry} would need about {in_words(rest + each)} of memory with one "
        f"{'block' if cluster == 1 else 'cluster'} resident ({words}), more than the "
        f"{in_words(limit)} that it may take here. {remedy}, or allow more with max_bytes= or {VARIABLE}."
    )


# By the beginning of what needs the most.
REMEDIES = {
    "the global arrays": "Pass smaller arrays",
    "the variables": "Make the __device__ and __constant__ arrays of the source smaller",
    "shared memory": "Declare less shared memory",
    "the hazards": "Look for hazards at a smaller size",
    "local memory": "Make the kernel's local arrays smaller, or launch blocks of fewer threads",
    "": "Launch blocks of fewer threads",
}
