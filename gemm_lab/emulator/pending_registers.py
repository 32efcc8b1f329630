"""Registers that tcgen05.ld has not filled yet: which of its loads are used before tcgen05.wait::ld.

Found in the code, along every path, as the compiler would have to find it: a load fills its registers some time before
the wait behind it returns. A mov only passes such a value on. PTX ISA, "tcgen05.wait".
"""

from __future__ import annotations

from gemm_lab.emulator.flow import Block, reads_and_writes
from gemm_lab.emulator.ir import Register


def early_uses(blocks: list[Block]) -> dict[int, int]:
    """Sites of tcgen05.ld -> the first site that uses one of its registers too early."""
    codes = [[*block.code, *([block.terminator] if block.terminator is not None else [])] for block in blocks]
    if not any(_is(item, "ld") for code in codes for item in code):
        return {}
    entering: list[dict[int, frozenset]] = [{} for _ in blocks]
    found: dict[int, int] = {}
    work = list(range(len(blocks)))
    while work:
        index = work.pop(0)
        state = dict(entering[index])
        for item in codes[index]:
            _step(item, state, found)
        for target in blocks[index].targets:
            if target < len(blocks) and _merge(entering[target], state) and target not in work:
                work.append(target)
    return found


def _is(item, what: str) -> bool:
    return item.family == "tcgen05" and item.parts[1] == what


def _merge(into: dict, state: dict) -> bool:
    changed = False
    for register, sites in state.items():
        both = into.get(register, frozenset()) | sites
        if both != into.get(register):
            into[register], changed = both, True
    return changed


def _step(item, state: dict, found: dict) -> None:
    if _is(item, "wait__ld"):
        state.clear()
        return
    if not state and not _is(item, "ld"):
        return
    reads, writes = reads_and_writes(item)
    pending = frozenset().union(*(state[r] for r in reads if r in state)) if state else frozenset()
    passed = item.family == "mov" and type(item.operands[0]) is Register
    if not passed:
        for site in pending:
            found.setdefault(site, item.site)
    for register in writes:
        if _is(item, "ld"):
            state[register] = frozenset((item.site,))
        elif passed and pending:
            state[register] = pending
        elif item.guard is None:
            state.pop(register, None)
