"""In which order machine code does things: runs of opcodes, and how early ldmatrix leaves before its mma.

A GPU issues the instructions of a warp in the order in which they stand, so the order is half of a schedule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from gpu_simulator.compiler.disassembly import SassLine
from gpu_simulator.compiler.main_loop import main_loop
from gpu_simulator.errors import LabError

_REGISTER = re.compile(r"\bR(\d+)\b")
_LDG_REGISTERS = {"128": 4, "64": 2}  # that LDG.….128 and LDG.….64 fill
_LDSM_REGISTERS = {"2": 2, "4": 4}  # that LDSM.….2 and LDSM.….4 fill


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


def mma_before_touch_in(body: Sequence[SassLine]) -> list[int]:
    """For each LDG of a loop, how many MMA stand between it and the first instruction that touches what it loads.

    The loop is taken as a ring. 0 means that a warp waits for global memory before it multiplies on. Where nothing
    touches it, all MMA of the loop count.
    """
    found = []
    for place, line in enumerate(body):
        if line.opcode.split(".")[0] == "LDG":
            width = next((part for part in line.opcode.split(".") if part in _LDG_REGISTERS), "")
            loaded = _loaded(line.text.split(line.opcode, 1)[1], _LDG_REGISTERS.get(width, 1))
            between = _between(body, place, loaded, _named)
            found.append(sum("MMA" in other.opcode.split(".")[0] for other in (body if between is None else between)))
    return found


def _distance(body: Sequence[SassLine], place: int) -> int:
    """HMMA between the LDSM at `place` and the first HMMA that reads what it loads."""
    loaded = _loaded(body[place].text, _LDSM_REGISTERS.get(body[place].opcode[-1], 1))
    between = _between(body, place, loaded, _inputs)
    if between is None:
        raise LabError(f"No HMMA reads what {body[place].text} loads.")
    return sum(line.opcode.startswith("HMMA") for line in between)


def _between(
    body: Sequence[SassLine], place: int, loaded: set[int], reads: Callable[[SassLine], set[int]]
) -> Sequence[SassLine] | None:
    """What stands behind `place` in a loop, taken as a ring, before the first instruction that reads a register of
    `loaded`; None where none does. reads: the registers that count as read by an instruction."""
    ring = (*body[place + 1 :], *body[:place])
    return next((ring[:number] for number, line in enumerate(ring) if loaded & reads(line)), None)


def _loaded(text: str, count: int) -> set[int]:
    """The first register that `text` names, and those behind it, `count` in all."""
    first = int(_REGISTER.search(text).group(1))
    return set(range(first, first + count))


def _named(line: SassLine) -> set[int]:
    return {int(number) for number in _REGISTER.findall(line.text)}


def _inputs(line: SassLine) -> set[int]:
    """The registers of A and B: "HMMA.1688.F16 R128, R132, R136, R128" reads A from R132 and R133, B from R136.

    Empty for other instructions.
    """
    if not line.opcode.startswith("HMMA"):
        return set()
    _, a, b = (int(number) for number in _REGISTER.findall(line.text)[:3])
    wide = not line.opcode.startswith("HMMA.1688")  # m16n8k16: A in four registers, B in two
    return set(range(a, a + (4 if wide else 2))) | set(range(b, b + (2 if wide else 1)))
