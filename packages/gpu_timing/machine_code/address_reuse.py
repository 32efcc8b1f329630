"""Measures how soon a register that a cp.async reads is written again.

A GPU issues the instructions of a warp in order, but an LDGSTS (cp.async) reads its address registers only when it
reaches the front of the memory pipe's queue. An instruction that writes one of these registers has to wait until then,
and so do the instructions after it in the warp.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_simulator.compiler.disassembly import SassLine
from gpu_simulator.errors import SimulatorError
from gpu_timing.machine_code.main_loop import main_loop

_REGISTER = re.compile(r"\bR(\d+)(\.64)?")
_READS_ONLY = ("ST", "LDGSTS", "BAR", "BRA", "DEPBAR", "LDGDEPBAR", "ISETP", "RED")


def until_overwritten(lines: Sequence[SassLine]) -> list[int]:
    """For each LDGSTS of the main loop, the number of instructions until one of its address registers is written.

    After the last instruction of the loop, the first one follows. A register that the loop never writes is ignored; if
    that applies to all registers of a copy, the result is the length of the loop. `SimulatorError` is raised if the
    main loop has no LDGSTS.
    """
    loop = main_loop(lines)
    body = loop.lines if loop else ()
    copies = [place for place, line in enumerate(body) if line.opcode.startswith("LDGSTS")]
    if not copies:
        raise SimulatorError("There is no main loop with LDGSTS in this code.")
    writes = [_written(line) for line in body]
    found = []
    for place in copies:
        read = _read(body[place])
        later = [*range(place + 1, len(body)), *range(place)]
        found.append(next((way for way, at in enumerate(later, 1) if writes[at] & read), len(body)))
    return found


def _read(line: SassLine) -> set[int]:
    """The numbers of the registers in "LDGSTS.E.128 [R234+0x800], desc[UR6][R238.64]": 234, 238 and 239."""
    return {int(number) + more for number, wide in _REGISTER.findall(line.text) for more in range(2 if wide else 1)}


def _written(line: SassLine) -> set[int]:
    if line.opcode.startswith(_READS_ONLY):
        return set()
    first = re.search(r"\bR(\d+)\b", line.text.split(line.opcode, 1)[-1].split(",")[0])
    if not first:
        return set()
    wide = 4 if line.opcode.startswith(("HMMA", "LDSM")) else 2 if ".64" in line.opcode or ".WIDE" in line.opcode else 1
    return set(range(int(first[1]), int(first[1]) + wide))
