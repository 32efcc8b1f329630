"""Analyses the order of machine instructions: runs of opcodes, and how early ldmatrix is issued before its mma.

A GPU issues the instructions of a warp in the order of the code, so this order is half of a schedule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from gpu_simulator.compiler.disassembly import SassLine
from gpu_simulator.errors import SimulatorError
from gpu_timing.machine_code.main_loop import main_loop

_REGISTER = re.compile(r"\bR(\d+)\b")
_LDG_REGISTERS = {"128": 4, "64": 2}  # number of registers that LDG.….128 and LDG.….64 load
_LDSM_REGISTERS = {"2": 2, "4": 4}  # number of registers that LDSM.….2 and LDSM.….4 load


def runs(lines: Iterable[SassLine], opcodes: Sequence[str]) -> list[tuple[str, int]]:
    """[("LDG", 12), ("STS", 12), …]: the instructions among `opcodes` in order, equal neighbours counted together."""
    kept = (name for line in lines if (name := line.opcode.split(".")[0]) in opcodes)
    return [(name, len(list(group))) for name, group in groupby(kept)]


def mma_before_use(lines: Sequence[SassLine]) -> list[int]:
    """For each LDSM of the main loop, the number of HMMA between it and the first HMMA that reads what it loads.

    After the last instruction of the loop, the first one follows: what is loaded at the end is read in the next
    iteration. 0 means that the next multiplication has to wait for this load. Raises `SimulatorError` if no main
    loop has both.
    """
    loop = main_loop(lines)
    if found := mma_before_use_in(loop.lines if loop else ()):
        return found
    raise SimulatorError("There is no main loop with LDSM and HMMA in this code.")


def mma_before_use_in(body: Sequence[SassLine]) -> list[int]:
    """`mma_before_use` for the lines of one loop; [] if it has no LDSM or no HMMA.

    Raises `SimulatorError` if it has both and no HMMA reads what one of the LDSM loads.
    """
    if not any(line.opcode.startswith("HMMA") for line in body):
        return []
    return [_distance(body, place) for place, line in enumerate(body) if line.opcode.startswith("LDSM")]


def mma_before_touch_in(body: Sequence[SassLine]) -> list[int]:
    """For each LDG of a loop, the number of MMA between it and the first instruction that uses what it loads.

    After the last instruction of the loop, the first one follows. 0 means that a warp waits for global memory before
    its next MMA. If no instruction uses what is loaded, all MMA of the loop are counted.
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
        raise SimulatorError(f"No HMMA reads what {body[place].text} loads.")
    return sum(line.opcode.startswith("HMMA") for line in between)


def _between(
    body: Sequence[SassLine], place: int, loaded: set[int], reads: Callable[[SassLine], set[int]]
) -> Sequence[SassLine] | None:
    """The instructions after `place` in a loop and before the first one that reads a register of `loaded`.

    After the last instruction of the loop, the first one follows. None if no instruction reads one. reads: returns the
    registers that an instruction is considered to read.
    """
    ring = (*body[place + 1 :], *body[:place])
    return next((ring[:number] for number, line in enumerate(ring) if loaded & reads(line)), None)


def _loaded(text: str, count: int) -> set[int]:
    """The first register that `text` names and those after it, `count` in all."""
    first = int(_REGISTER.findall(text)[0])
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
