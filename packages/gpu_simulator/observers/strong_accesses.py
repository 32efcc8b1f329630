"""What the accesses of a kernel are in the PTX memory model: weak or strong, of which scope, and whether repeated.

PTX ISA, "Memory Consistency Model": `volatile` is `relaxed` with the scope of the system. Two strong accesses of
the same bytes whose scopes include both threads are no data race, whatever their order; they order no others unless one
is a release and the other an acquire.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from gpu_simulator.ptx.basic_blocks import WAITS, Block, exchanges, reads_and_writes, registers_in
from gpu_simulator.ptx.ir import Instruction

WEAK, BLOCK, CLUSTER, DEVICE = range(4)
_SCOPES = {"cta": BLOCK, "cluster": CLUSTER, "gpu": DEVICE, "sys": DEVICE}
_STRONG = {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"}
_ACCESSES = {"ld", "st", "atom", "red"}


class StrongAccesses:
    """Facts about each instruction of a program, by its number (site).

    scope: WEAK for a weak access, else BLOCK, CLUSTER or DEVICE; one more entry at the end, WEAK, stands for none.
    width: bytes of each element that a strong access reads or writes; 0 for other instructions.
    acquires, releases: the scope of an acquire or a release, WEAK for others.   atomic: atom and red.
    retried: reads of which nobody can say that they depend on timing: atom, and loads in a loop of which their value
    decides a branch, so that they are repeated.   any: whether there is a strong access.   waits: whether a loop waits
    for what a strong access reads.   ignored: sites of waits for an mbarrier whose answer decides nothing.
    """

    def __init__(self, program):
        sites = program.sites
        self.scope = np.array([*map(scope_of, sites), WEAK])
        self.width = np.array([*map(_width_of, sites), 0])
        self.any = bool(self.scope.any())
        self.acquires = [scope_of(item) if {"acquire", "acq_rel"} & {*item.parts} else WEAK for item in sites]
        self.releases = [scope_of(item) if {"release", "acq_rel"} & {*item.parts} else WEAK for item in sites]
        self.atomic = np.array([item.family in ("atom", "red") or "reduce" in item.parts for item in sites] + [False])
        self.retried = self.atomic.copy()
        self.waits, self.ignored = False, frozenset(_ignored(program.blocks))
        if self.any:
            found = dict(_retried(program.blocks))
            self.retried[list(found)] = True
            self.waits = any(found.values())

    def together(self, site: int, others: np.ndarray, one_block: np.ndarray, one_cluster: np.ndarray) -> np.ndarray:
        """Whether an access and others are strong for each other. others: their sites; -1 for none.

        one_block, one_cluster: Boolean arrays of the same shape, whether both threads are in one.
        """
        least = np.where(self.width[others] == self.width[site], np.minimum(self.scope[others], self.scope[site]), WEAK)
        return (least == DEVICE) | (least == CLUSTER) & one_cluster | (least > WEAK) & one_block

    def mixed(self, site: int, other: int) -> str:
        """Why two accesses of which one is strong may race: "scope", "size", "plain" if one is weak; "" if both are."""
        strong = [self.scope[site] > WEAK, self.scope[other] > WEAK]
        if all(strong) and self.width[site] != self.width[other]:
            return "size"
        return "scope" if all(strong) else "plain" if any(strong) else ""


_OF_PROGRAMS: WeakKeyDictionary = WeakKeyDictionary()


def accesses_of(program) -> StrongAccesses:
    """The facts about a program; they are found once."""
    found = _OF_PROGRAMS.get(program)
    if found is None:
        found = _OF_PROGRAMS[program] = StrongAccesses(program)
    return found


def scope_of(item: Instruction) -> int:
    """The scope of a strong access; WEAK for a weak one and for other instructions."""
    if item.family == "cp":
        return DEVICE if "reduce" in item.parts else WEAK
    if item.family not in _ACCESSES or {"st", "async"} <= {*item.parts}:
        return WEAK
    strong = bool(_STRONG & {*item.parts}) or item.family in ("atom", "red")
    return max((_SCOPES[part] for part in item.parts if part in _SCOPES), default=DEVICE) if strong else WEAK


def _width_of(item: Instruction) -> int:
    """Bytes of an element of a strong access, 0 for other instructions."""
    if not scope_of(item):
        return 0
    bits = [re.fullmatch(r"(?:bf|[bsuf])(\d+)(x2)?", part) for part in item.parts]
    return max((int(one[1]) // 8 * (2 if one[2] else 1) for one in bits if one), default=0)


def _retried(blocks: list[Block]) -> Iterator[tuple[int, bool]]:
    """Yields (site, whether it is in a loop that waits for global memory) of strong loads that may read stale values.

    Those are the strong loads of a loop that a strong load decides (a wait, or a sequence lock), those whose value an
    atom.cas compares with memory again, and those that decide only where to go, if one way reads the place once more.
    """
    before: dict[int, list[int]] = {}
    for block in blocks:
        for target in block.targets:
            before.setdefault(target, []).append(block.index)
    reads = "ld", "atom"
    strong = [(block, item) for block in blocks for item in block.code if item.family in reads and scope_of(item)]
    for block, item in strong:
        after = _reached(block.index, lambda number: blocks[number].targets)
        loop = [blocks[number] for number in after & _reached(block.index, lambda number: before.get(number, ()))]
        inside = [other for other in strong if other[0] in loop]
        if any(_decides(loop, _depending(loop, other)) for _, other in inside):
            yield item.site, not any(part.startswith("shared") for part in item.parts)
            continue
        later = [blocks[number] for number in after | {block.index}]
        depend = _depending(later, item)
        if _compared_again(later, depend) or (_decides(later, depend) and _read_again(later, item)):
            yield item.site, False


def _ignored(blocks: list[Block]) -> Iterator[int]:
    """Yields the sites of mbarrier.test_wait and try_wait whose answer no branch and no guard depends on."""
    for block in blocks:
        item = block.terminator
        if item is not None and item.family == "mbarrier" and item.parts[1] in WAITS:
            depend = _depending(blocks, item)
            guards = (other.guard for one in blocks for other in one.code if other.guard is not None)
            if not _decides(blocks, depend) and depend.isdisjoint(r for guard in guards for r in registers_in(guard)):
                yield item.site


def _reached(start: int, following) -> set[int]:
    """The blocks that can be reached from a block by one step or more."""
    found: set[int] = set()
    todo = [start]
    while todo:
        for number in following(todo.pop()):
            if number not in found:
                found.add(number)
                todo.append(number)
    return found


def _depending(blocks: list[Block], load: Instruction) -> set:
    """The registers whose values depend on what an instruction loads, within some blocks."""
    depend, size = set(registers_in(load.operands[0])), -1
    while size != len(depend):
        size = len(depend)
        for block in blocks:
            for item in block.code:
                reads, writes = reads_and_writes(item)
                if not depend.isdisjoint(reads):
                    depend.update(writes)
    return depend


def passed_on(program, site: int) -> bool:
    """Whether the lanes of a warp exchange what the load of this number reads, or what depends on it."""
    load = program.sites[site]
    if load.family != "ld":
        return False
    depend = _depending(program.blocks, load)
    return any(exchanges(item) and not depend.isdisjoint(reads_and_writes(item)[0]) for item in program.sites)


def guessed(program, site: int) -> bool:
    """Whether the load of this number only gives a first value, which an atom.cas compares with the same place."""
    load = program.sites[site]
    return load.family == "ld" and _compared_again(program.blocks, _depending(program.blocks, load), load.operands[1])


def _decides(blocks: list[Block], depend: set) -> bool:
    """Whether one of some registers decides a branch of these blocks."""
    return any(
        block.terminator is not None
        and len(block.targets) > 1
        and not depend.isdisjoint(reads_and_writes(block.terminator)[0])
        for block in blocks
    )


def _compared_again(blocks: list[Block], depend: set, place: object = None) -> bool:
    """Whether an atom.cas compares one of some registers with memory, at this address if one is given."""
    return any(
        item.family == "atom"
        and "cas" in item.parts
        and not depend.isdisjoint(registers_in(item.operands[2]))
        and place in (None, item.operands[1])
        for block in blocks
        for item in block.code
    )


def _read_again(blocks: list[Block], load: Instruction) -> bool:
    """Whether another strong load reads the place of this one."""
    return any(
        item.family == "ld" and scope_of(item) and item.site != load.site and item.operands[1] == load.operands[1]
        for block in blocks
        for item in block.code
    )
