"""Accesses of one warp to shared memory, with the wavefronts that Nsight Compute counted on an H200."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gemm_lab_lessons.shared.patterns import INSTRUCTIONS, patterns
from gemm_lab_lessons.shared.recorded import FOLDER, ROWS, recorded
from gemm_results.profile import read_rows


@dataclass(frozen=True)
class RecordedAccess:
    """An instruction that one warp executed once.

    pattern: the name of its addresses.   addresses: a byte address for each lane that the instruction uses.
    width: bytes per lane.   wavefronts: as counted on the GPU.
    """

    instruction: str
    pattern: str
    addresses: tuple[int, ...]
    width: int
    wavefronts: int


@lru_cache
def recorded_accesses(*instructions: str) -> tuple[RecordedAccess, ...]:
    """The recorded accesses of some instructions of `measure.patterns.INSTRUCTIONS`, in the order of the recording."""
    counted, found = recorded(), []
    for name in instructions:
        width, parts = INSTRUCTIONS[name][0], name.split(".")
        lanes = ROWS[parts[1]] if parts[0] in ("ldmatrix", "stmatrix") else 32
        for pattern in patterns(width):
            if (name, pattern.name) in counted:
                addresses = tuple(pattern.shared.tolist()[:lanes])
                found.append(RecordedAccess(name, pattern.name, addresses, width, counted[name, pattern.name]))
    return tuple(found)


@lru_cache
def recorded_kernel(name: str, n: int) -> int:
    """The wavefronts of a rung's launch at n × n × n, as counted on the GPU."""
    (row,) = (row for row in read_rows(FOLDER / "rungs.csv") if row["kernel"] == name and row["n"] == str(n))
    return int(row["wavefronts"])


@lru_cache
def recorded_on() -> str:
    """The GPU and the tool of the recordings, such as "NVIDIA H200, Nsight Compute 2025.3"."""
    (about,) = read_rows(FOLDER / "about.csv")
    return f"{about['gpu']}, Nsight Compute {about['ncu']}"
