"""What the accesses of a kernel are in the PTX memory model: weak or strong, of which scope, and whether repeated.

PTX ISA, "Memory Consistency Model": `volatile` is `relaxed` with the scope of the system. Two strong accesses of
the same bytes whose scopes include both threads are no data race, whatever their order; they order no others unless one
is a release and the other an acquire.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from gpu_simulator.ptx.basic_blocks import Block, reads_and_writes, registers_in
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
    decides a branch, so that they are repeated.   any: whether there is a strong access.
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
        if self.any:
            self.retried[list(_retried(program.blocks))] = True

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


def _retried(blocks: list[Block]) -> Iterator[int]:
    """Yields the sites of strong loads in loops in which their value decides a branch."""
    before: dict[int, list[int]] = {}
    for block in blocks:
        for target in block.targets:
            before.setdefault(target, []).append(block.index)
    for block in blocks:
        for item in block.code:
            if item.family == "ld" and scope_of(item):
                back = _reached(block.index, lambda number: before.get(number, ()))
                loop = back & _reached(block.index, lambda number: blocks[number].targets)
                if _decides([blocks[number] for number in loop], item):
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


def _decides(loop: list[Block], load: Instruction) -> bool:
    """Whether the result of a load decides a branch of a loop."""
    depend, size = set(registers_in(load.operands[0])), -1
    while size != len(depend):
        size = len(depend)
        for block in loop:
            for item in block.code:
                reads, writes = reads_and_writes(item)
                if not depend.isdisjoint(reads):
                    depend.update(writes)
    return any(
        block.terminator is not None
        and len(block.targets) > 1
        and not depend.isdisjoint(reads_and_writes(block.terminator)[0])
        for block in loop
    )
