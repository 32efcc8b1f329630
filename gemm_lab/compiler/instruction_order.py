"""In which order machine code does things: runs of opcodes, and how early ldmatrix leaves before its mma.

A GPU issues the instructions of a warp in the order in which they stand, so the order is half of a schedule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from gemm_lab.compiler.disassembly import SassLine
from gemm_lab.compiler.main_loop import main_loop
from gemm_lab.errors import LabError

_REGISTER = re.compile(r"\bR(\d+)\b")
_BYTES = {"128": 4, "64": 2}  # registers that LDG.….128 and LDG.….64 fill
_WIDTH = {"2": 2, "4": 4}  # registers that LDSM.….2 and LDSM.….4 fill


def runs(lines: Iterable[SassLine], opcodes: Sequence[str]) -> list[tuple[str, int]]:
    """[("LDG", 12), ("STS", 12), …]: the instructions among `opcodes` in order, neighbours of one kind counted."""
    kept = (name for line in lines if (name := line.opcode.split(".")[0]) in opcodes)
    return [(name, len(list(group))) for name, group in groupby(kept)]


def mma_before_use(lines: Sequence[SassLine]) -> list[int]:
    """For each LDSM of the main loop, how many HMMA stand between it and the first HMMA that reads what it loads.

    The loop is taken as a ring: what is loaded at its end is read at its beginning, a turn later. 0 means that the
    next multiplication has to wait for this load. Raises `LabError` where there is no main loop with both.
    """
    loop = main_loop(lines)
    if found := mma_before_use_in(loop.lines if loop else ()):
        return found
    raise LabError("There is no main loop with LDSM and HMMA in this code.")


def mma_before_use_in(body: Sequence[SassLine]) -> list[int]:
    """`mma_before_use` of one loop, whose lines are given; [] where it has no LDSM or no HMMA.

    Raises `LabError` where it has both, and no HMMA reads what one LDSM loads.
    """
    if not any(line.opcode.startswith("HMMA") for line in body):
        return []
    return [_distance(body, place) for place, line in enumerate(body) if line.opcode.startswith("LDSM")]


def mma_before_store_in(body: Sequence[SassLine]) -> list[int]:
    """For each LDG of a loop, how many MMA stand between it and the first instruction that touches what it loads.

    The loop is taken as a ring. 0 means that a warp waits for global memory before it multiplies on.
    """
    found = []
    for place, line in enumerate(body):
        if line.opcode.split(".")[0] != "LDG":
            continue
        first = int(_REGISTER.search(line.text.split(line.opcode, 1)[1]).group(1))
        loaded = set(range(first, first + _BYTES.get(_width(line.opcode), 1)))
        between = 0
        for other in (*body[place + 1:], *body[:place]):
            if loaded & {int(number) for number in _REGISTER.findall(other.text)}:
                break
            between += "MMA" in other.opcode.split(".")[0]
        found.append(between)
    return found


def _width(opcode: str) -> str:
    return next((part for part in opcode.split(".") if part in _BYTES), "")


def _distance(body: Sequence[SassLine], place: int) -> int:
    first = int(_REGISTER.search(body[place].text).group(1))
    loaded = set(range(first, first + _WIDTH.get(body[place].opcode[-1], 1)))
    between = 0
    for line in (*body[place + 1:], *body[:place]):
        if line.opcode.startswith("HMMA"):
            if _inputs(line) & loaded:
                return between
            between += 1
    raise LabError(f"No HMMA reads what {body[place].text} loads.")


def _inputs(line: SassLine) -> set[int]:
    """The registers of A and B: "HMMA.1688.F16 R128, R132, R136, R128" reads A from R132 and R133, B from R136."""
    _, a, b = (int(number) for number in _REGISTER.findall(line.text)[:3])
    wide = not line.opcode.startswith("HMMA.1688")  # m16n8k16: A in four registers, B in two
    return set(range(a, a + (4 if wide else 2))) | set(range(b, b + (2 if wide else 1)))
