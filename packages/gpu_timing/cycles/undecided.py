"""Finds the branches that a trace cannot decide, because they depend on data or on another value that is not followed.

A value is unknown if a load brings it, if its instruction is not executed by `integer_ops`, or if it is computed from
an unknown one. Registers are used again for other values, so this is followed along the control flow, block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpu_simulator.compiler.disassembly import INDIRECT
from gpu_timing.cycles.machine_code import Instruction
from gpu_timing.cycles.path_functions import names_of, reads_of, spilled

GRANTED = ("SYNCS", "UTCATOMSWS", "USETMAXREG")  # they wait, and the trace takes it that they succeed
LOOP = "loop"  # the choice for a branch that goes back: nobody knows how often
Blocks = Sequence[tuple[int, int]]


def choices(
    code: Sequence[Instruction], blocks: Blocks, targets: Sequence[int], follows: Callable[[Instruction], bool]
) -> dict[int, bool | str]:
    """For each basic block whose last instruction cannot be decided: whether it jumps or exits, or `LOOP`.

    An exit is not taken. Of two ways, the one is taken that leads through more code, so that neither `if (…) return`
    nor `if (…) break` shortens the run; a failing assertion, which calls a function outside of the kernel, is not.
    """
    ahead = _reachable(code, blocks, targets)
    leaves = {
        i
        for i, (first, last) in enumerate(blocks)
        if code[last - 1].line.callee == INDIRECT or any(one.op == "BPT" for one in code[first:last])
    }
    found: dict[int, bool | str] = {}
    for number in _undecided(code, blocks, targets, follows):
        goal, following = targets[number], number + 1
        if goal == following:
            continue
        if code[blocks[number][1] - 1].op == "EXIT":
            found[number] = False
        elif 0 <= goal <= number:
            found[number] = LOOP
        elif goal in leaves or following in leaves or goal < 0:
            found[number] = goal not in leaves and goal >= 0
        else:
            more, less = ahead[goal], ahead[following]
            found[number] = more != less and more | less == more
    return found


def _successors(code: Sequence[Instruction], blocks: Blocks, targets: Sequence[int]) -> list[list[int]]:
    ends = [code[last - 1] for _, last in blocks]
    behind: dict[int, list[int]] = {}  # address of a function: the blocks to which it returns
    for number, end in enumerate(ends):
        if end.op == "CALL" and end.line.callee is not None:
            behind.setdefault(end.line.callee, []).append(number + 1)
    found = []
    for number, end in enumerate(ends):
        free = end.guard is None and not any(source.kind in ("P", "UP") for source in end.sources)
        mine = [targets[number]] if targets[number] >= 0 else []
        if end.op == "RET":
            mine = behind.get(end.line.function, [])
        elif not (end.op in ("BRA", "EXIT") and free):
            mine.append(number + 1)
        found.append([one for one in mine if one < len(blocks)])
    return found


def _reachable(code: Sequence[Instruction], blocks: Blocks, targets: Sequence[int]) -> list[int]:
    """The blocks that each block can lead to without a step back, as bits of a number."""
    found = [0] * (len(blocks) + 1)
    following = _successors(code, blocks, targets)
    for number in reversed(range(len(blocks))):
        found[number] = 1 << number
        for other in following[number]:
            found[number] |= found[other] if other > number else 0
    return found


def _undecided(
    code: Sequence[Instruction], blocks: Blocks, targets: Sequence[int], follows: Callable[[Instruction], bool]
) -> list[int]:
    facts = []  # of each instruction: what it reads and writes, whether it is followed, whether it has a guard
    for one in code:
        places = spilled(one)
        writes = set(places) if one.op == "STL" else names_of(one.destinations, one.width)
        reads = set() if one.op in GRANTED else reads_of(one)
        facts.append((reads, writes, bool(places) or follows(one), one.guard is not None))
    following = _successors(code, blocks, targets)
    unknown: list[frozenset | None] = [None] * len(blocks)  # where each block begins; None if nothing leads to it yet
    unknown[0] = frozenset()
    found, todo = set(), [0]
    while todo:
        number = todo.pop()
        first, last = blocks[number]
        values = set(unknown[number] or ())
        for reads, writes, followed, guarded in facts[first:last]:
            if not followed or not values.isdisjoint(reads):
                values |= writes
            elif not guarded:
                values -= writes
        end = code[last - 1]
        if (
            end.op in ("BRA", "EXIT", "CALL")
            and "DIV" not in end.modifiers
            and not values.isdisjoint(facts[last - 1][0])
        ):
            found.add(number)
        for other in following[number]:
            before = unknown[other]
            if before is None or not values <= before:
                unknown[other] = frozenset(values | (before or set()))
                todo.append(other)
    return sorted(found)
