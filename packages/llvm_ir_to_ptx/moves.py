"""Leaves out moves: two registers become one where neither is set while the other holds a value that is needed.

A move from one to the other does not count: behind it both hold the same value.

The moves into the registers of phi instructions, and those into the operands of asm that are read and written, are of
this kind: the value that is moved is seldom needed afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from llvm_ir_to_ptx.code import REGISTER, Line

_MOVE = re.compile(r"mov\.\w+ %([a-z]+)(\d+), %([a-z]+)(\d+);")
_BRANCH = re.compile(r"(@\S+ )?bra (\S+);")
_ENDS = ("ret;", "exit;")


@dataclass
class _Stretch:
    """Lines from `first` up to `end`, which are entered at the first and left behind the last.

    uses: registers that are read before they are set.   sets: registers that are set.   after: those whose values are
    needed behind it.
    """

    first: int
    end: int
    targets: list[int]
    uses: set[str]
    sets: set[str]
    after: set[str]


def without_moves(lines: list[Line]) -> list[Line]:
    """The same lines, with registers put together so that as many moves as possible are left out."""
    pairs = [(number, _moved(line)) for number, line in enumerate(lines)]
    moves = [(number, *pair) for number, pair in pairs if pair]
    related = {register for _, *pair in moves for register in pair}
    stretches = _stretches(lines, related)
    _needed_after(stretches)
    alive = _alive(lines, stretches, related)
    sets = _sets(lines, related)
    between: dict[str, list[tuple[int, str, str]]] = {register: [] for register in related}
    for move in moves:
        between[move[1]].append(move)
        between[move[2]].append(move)
    joined: dict[str, str] = {}

    def name(register: str) -> str:
        while register in joined:
            register = joined[register]
        return register

    left, before = sorted(moves, key=_repeated(stretches)), -1
    while len(joined) != before:  # what has become one register may make room for others
        before = len(joined)
        for _, target, source in left:
            one, other = name(target), name(source)
            if one == other:
                continue
            copies = sum(1 << number for number, *pair in set(between[other]) if {*map(name, pair)} == {one, other})
            if (sets[one] & ~copies & alive[other]) | (sets[other] & ~copies & alive[one]):
                continue
            joined[other] = one
            alive[one] |= alive[other]
            sets[one] = (sets[one] | sets[other]) & ~copies  # those will be left out
            between[one] += between[other]
    return [line for line in (_renamed(line, name, related) for line in lines) if not _is_idle(line)]


def _moved(line: Line) -> tuple[str, str] | None:
    """(target, source) of a move between registers of the same type; None for another line."""
    found = _MOVE.fullmatch(line.text)
    return (f"%{found[1]}{found[2]}", f"%{found[3]}{found[4]}") if found and found[1] == found[3] else None


def _is_idle(line: Line) -> bool:
    pair = _moved(line)
    return pair is not None and pair[0] == pair[1]


def _renamed(line: Line, name: Callable[[str], str], related: set[str]) -> Line:
    def new(found: re.Match[str]) -> str:
        return name(found[0]) if found[0] in related else found[0]

    return replace(line, text=REGISTER.sub(new, line.text))


def _stretches(lines: list[Line], related: set[str]) -> list[_Stretch]:
    """The lines as stretches between labels and branches, in order."""
    starts = {0} | {number for number, line in enumerate(lines) if line.is_label}
    starts |= {number + 1 for number, line in enumerate(lines) if _BRANCH.fullmatch(line.text) or line.text in _ENDS}
    ordered = [*sorted(start for start in starts if start < len(lines)), len(lines)]
    index = {start: number for number, start in enumerate(ordered)}
    labels = {line.text[:-1]: index[number] for number, line in enumerate(lines) if line.is_label}
    found = []
    for number, (first, end) in enumerate(zip(ordered, ordered[1:], strict=False)):
        stretch = _Stretch(first, end, [], set(), set(), set())
        for line in lines[first:end]:
            stretch.uses |= (line.reads & related) - stretch.sets
            stretch.sets |= related.intersection(line.writes)
        last = lines[end - 1].text
        branch = _BRANCH.fullmatch(last)
        if branch and branch[2] in labels:
            stretch.targets.append(labels[branch[2]])
        if not (branch and not branch[1]) and last not in _ENDS and number + 2 < len(ordered):
            stretch.targets.append(number + 1)
        found.append(stretch)
    return found


def _needed_after(stretches: list[_Stretch]) -> None:
    """Find out which values are needed behind each stretch."""
    before = [set(stretch.uses) for stretch in stretches]
    changed = True
    while changed:
        changed = False
        for number in range(len(stretches) - 1, -1, -1):
            stretch = stretches[number]
            after = set().union(*(before[target] for target in stretch.targets))
            if len(after) != len(stretch.after):
                stretch.after, changed = after, True
                before[number] = stretch.uses | (after - stretch.sets)


def _sets(lines: list[Line], related: Iterable[str]) -> dict[str, int]:
    """Of each register the lines that set it, as the bits of a number."""
    sets = dict.fromkeys(related, 0)
    for number, line in enumerate(lines):
        for register in line.writes:
            if register in sets:
                sets[register] |= 1 << number
    return sets


def _alive(lines: list[Line], stretches: list[_Stretch], related: Iterable[str]) -> dict[str, int]:
    """Of each register the lines behind which its value is needed, or that set it, as the bits of a number."""
    alive = dict.fromkeys(related, 0)
    for stretch in stretches:
        ends = dict.fromkeys(stretch.after, stretch.end)
        for number in range(stretch.end - 1, stretch.first - 1, -1):
            line = lines[number]
            for register in line.writes:
                if register in alive:
                    end = ends.pop(register, number + 1)
                    alive[register] |= (1 << end) - (1 << number)
            for register in line.reads:
                if register in alive:
                    # the lines of asm may set a result before they have read all operands
                    ends.setdefault(register, number + 1 if line.is_asm else number)
        for register, end in ends.items():
            alive[register] |= (1 << end) - (1 << stretch.first)
    return alive


def _repeated(stretches: list[_Stretch]) -> Callable[[tuple[int, str, str]], int]:
    """A key that sorts moves: those in loops within few lines come first, as they run most often."""
    loops = [
        (stretches[target].first, stretch.end)
        for number, stretch in enumerate(stretches)
        for target in stretch.targets
        if target <= number
    ]

    def depth(move: tuple[int, str, str]) -> int:
        return -sum(first <= move[0] < end for first, end in loops)

    return depth
