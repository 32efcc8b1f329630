"""Which waits for an mbarrier stand in a loop that asks again until the answer is “yes”, and cannot give up.

From the answer “no” every way leads back to the wait, and on no way is anything written but registers. Such a loop ends
only when the phase has ended, so to ask often shows nothing that to ask a few times does not. It may count how often it
asks and pause in between; but where the count, or a clock, leads out of the loop, the wait is not one of these.
"""

from __future__ import annotations

from gpu_simulator.ptx.basic_blocks import WAITS, Block, reads_and_writes, registers_in
from gpu_simulator.ptx.ir import Immediate, Instruction, Negated, Register

# Instructions that may stand in such a loop: they write registers, and nothing else.
_HARMLESS = {
    "add", "and", "bra", "cvt", "cvta", "ld", "lop3", "mad", "max", "min", "mov", "mul", "nanosleep", "neg", "not",
    "or", "selp", "set", "setp", "shl", "shr", "sub", "xor",
}  # fmt: skip
_MOST_STATES = 200  # places that are looked at for one wait; a loop that only waits has a few


def spinning_waits(blocks: list[Block]) -> frozenset[int]:
    """The sites of the waits that are asked again and again until they are over."""
    return frozenset(block.terminator.site for block in blocks if _is_wait(block.terminator) and _spins(blocks, block))


def _is_wait(item: Instruction | None) -> bool:
    return item is not None and item.family == "mbarrier" and item.parts[1] in WAITS


def _spins(blocks: list[Block], wait: Block, before: tuple[int, ...] = ()) -> bool:
    """Whether every way from the answer “no” leads to the wait, or to another that spins for the same phase.

    The compiler may put the first question before the loop.   before: the waits from which ways lead to this one.
    """
    result, asked = wait.terminator.operands[0], wait.terminator.operands[1:]
    if type(result) is not Register or not _is_harmless(wait):
        return False
    loop, others = {wait.index: wait}, set()
    seen: set[tuple[int, frozenset]] = set()
    ways: list[tuple[int, dict[int, int]]] = [(wait.targets[0], {result.index: 0})]
    while ways:
        index, known = ways.pop()
        state = index, frozenset(known.items())
        if index == wait.index or state in seen:
            continue
        seen.add(state)
        if index >= len(blocks) or len(seen) > _MOST_STATES:
            return False
        block = blocks[index]
        if _is_wait(block.terminator) and block.terminator.operands[1:] == asked:
            others.add(index)
            continue
        if block.end not in ("goto", "branch") or not _is_harmless(block):
            return False
        loop[index], known = block, dict(known)
        for item in block.code:
            _follow(item, known)
        ways += ((target, known) for target in _next(block, known))
    changed = 0
    for block in loop.values():
        changed |= block.defines
    carried = wait.live_in & changed and wait.live_out & changed & ~(1 << result.index)
    same = not any(changed >> register & 1 for operand in asked for register in registers_in(operand))
    return (same or not carried) and all(
        other in before or _spins(blocks, blocks[other], (*before, wait.index)) for other in others
    )


def _is_harmless(block: Block) -> bool:
    return all(item.family in _HARMLESS for item in block.code)


def _next(block: Block, known: dict[int, int]) -> tuple:
    """The blocks that may follow. known: values of registers."""
    guard = block.terminator.guard if block.terminator is not None else None
    negated = isinstance(guard, Negated)
    register = guard.register if isinstance(guard, Negated) else guard
    if block.end == "goto" or register is None or register.index not in known:
        return block.targets
    return block.targets[:1] if bool(known[register.index]) != negated else block.targets[1:]


def _follow(item: Instruction, known: dict[int, int]) -> None:
    """Note the value that an instruction gives to its register, if it follows from `known`; forget the old one."""
    values = [_value(operand, known) for operand in item.operands[1:]]
    found = None
    if item.guard is None:
        if item.family == "selp" and values[2] is not None:
            found = values[0] if values[2] else values[1]
        elif item.family == "mov" and len(values) == 1:
            found = values[0]
        elif item.family == "not" and "pred" in item.parts and values[0] is not None:
            found = int(not values[0])
        elif item.family == "setp" and len(values) == 2 and None not in values and item.parts[1] in ("eq", "ne"):
            found = int((values[0] == values[1]) == (item.parts[1] == "eq"))
    for register in reads_and_writes(item)[1]:
        known.pop(register, None)
    if found is not None and type(item.operands[0]) is Register:
        known[item.operands[0].index] = found


def _value(operand, known: dict[int, int]) -> int | None:
    if type(operand) is Register:
        return known.get(operand.index)
    if type(operand) is Negated:
        value = known.get(operand.register.index)
        return None if value is None else int(not value)
    try:
        return int(operand.text, 0) if type(operand) is Immediate else None
    except ValueError:
        return None
