"""The blocks of a loop that ptxas has put elsewhere: a branch leaves the loop for them, and they lead back into it.

A loop is read as the addresses from a label to the branch back to it. A block of an `if` that is in this loop may stand
before or behind these addresses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from gpu_simulator.compiler.disassembly import SassLine

# A jump without a condition, and the end of a thread or of a function: the next line is not the next instruction.
_NEVER_GOES_ON = re.compile(r"^(?:(?:BRA|JMP)\S* `|(?:BRX|JMX|EXIT|RET|KILL)\b)")


def with_detours(body: Sequence[SassLine], lines: Sequence[SassLine]) -> tuple[SassLine, ...]:
    """The lines of a loop, with its detours: those of each branch out of it follow that branch.

    A detour leads from the loop back into it, but not to its first instruction: such a way enters the loop anew.
    body: the addresses from the loop's first instruction to its branch back.   lines: of the whole kernel.
    """
    after = _successors(lines)
    before: dict[int, list[int]] = {}
    for address, following in after.items():
        for other in following:
            before.setdefault(other, []).append(address)
    inside = {line.address for line in body}
    left = _reached(inside, after.__getitem__, inside)
    returning = _reached(inside - {body[0].address}, lambda address: before.get(address, ()), inside)
    waiting = left & returning
    found: list[SassLine] = []
    for line in body:
        found.append(line)
        if line.target in waiting:
            chosen = {line.target} | _reached({line.target}, after.__getitem__, inside)
            found += (other for other in lines if other.address in chosen & waiting)
            waiting -= chosen
    return tuple(found)


def _successors(lines: Sequence[SassLine]) -> dict[int, list[int]]:
    """The addresses that may follow each address, within its function."""
    found = {}
    for number, line in enumerate(lines):
        following = [] if line.target is None else [line.target]
        if number + 1 < len(lines) and not _NEVER_GOES_ON.match(line.text):
            following.append(lines[number + 1].address)
        found[line.address] = following
    return found


def _reached(begin: Iterable[int], neighbours: Callable[[int], Iterable[int]], barred: set[int]) -> set[int]:
    """All addresses outside `barred` to which `neighbours` lead from `begin`, by ways outside `barred`."""
    found, waiting = set(), list(begin)
    while waiting:
        for other in neighbours(waiting.pop()):
            if other not in found and other not in barred:
                found.add(other)
                waiting.append(other)
    return found
