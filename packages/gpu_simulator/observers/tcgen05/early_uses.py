"""Registers of tcgen05.ld that an instruction uses before tcgen05.wait::ld.

Found in the code, along every path. A mov only passes a value on. The use waits for its value by itself: PTX ISA,
tcgen05, "Register dependencies, same thread". But this is the only thing that waits, so the remark is made.
"""

from __future__ import annotations

from gpu_simulator.ptx.basic_blocks import Block, reads_and_writes
from gpu_simulator.ptx.ir import Instruction

Pending = dict[int, frozenset[int]]  # register -> sites of the loads whose value it may hold


def early_uses(blocks: list[Block]) -> dict[int, int]:
    """By the site of a tcgen05.ld, that of the first instruction which uses one of its registers too early."""
    codes = [[*block.code, *([] if block.terminator is None else [block.terminator])] for block in blocks]
    entering: list[Pending] = [{} for _ in blocks]
    found: dict[int, int] = {}
    work = list(range(len(blocks)))
    while work:
        index = work.pop(0)
        pending = dict(entering[index])
        for item in codes[index]:
            _step(item, pending, found)
        for target in blocks[index].targets:
            if _merged(entering[target], pending) and target not in work:
                work.append(target)
    return found


def _merged(into: Pending, pending: Pending) -> bool:
    """Add what is pending on one more way to a block; whether that changes anything."""
    more = {register: sites | into.get(register, frozenset()) for register, sites in pending.items()}
    changed = any(into.get(register) != sites for register, sites in more.items())
    into.update(more)
    return changed


def _step(item: Instruction, pending: Pending, found: dict[int, int]) -> None:
    what = item.parts[1] if item.family == "tcgen05" else ""
    if what == "wait__ld":
        pending.clear()
    if not pending and what != "ld":
        return
    reads, writes = reads_and_writes(item)
    loads = frozenset[int]().union(*(pending.get(register, ()) for register in reads))
    if item.family != "mov":
        for site in loads:
            found.setdefault(site, item.site)
    for register in writes:
        if what == "ld":
            pending[register] = frozenset({item.site})
        elif item.family == "mov" and loads:
            pending[register] = loads
        elif item.guard is None:
            pending.pop(register, None)
