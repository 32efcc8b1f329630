"""Which waits for an mbarrier stand in a loop that does nothing but ask again until the answer is “yes”.

Such a loop ends only when the phase has ended, so to ask often shows nothing that to ask a few times does not.
A loop that counts its questions, looks at a clock, or writes anything may give up, and is not one of these.
"""

from __future__ import annotations

from gpu_simulator.machine.special_registers import CLOCKS
from gpu_simulator.ptx.basic_blocks import WAITS, Block, reads_and_writes
from gpu_simulator.ptx.ir import Immediate, Instruction, Negated, Register, Special

# Instructions that may stand in such a loop: they write registers, and nothing else.
_HARMLESS = {
    "add", "and", "bra", "cvt", "cvta", "ld", "lop3", "mad", "mov", "mul", "nanosleep", "neg", "not", "or", "selp",
    "set", "setp", "shl", "shr", "sub", "xor",
}  # fmt: skip


def spinning_waits(blocks: list[Block]) -> frozenset[int]:
    """The sites of the waits that are asked again and again, in a loop that changes nothing, until they are over."""
    return frozenset(block.terminator.site for block in blocks if _is_wait(block.terminator) and _spins(blocks, block))


def _is_wait(item: Instruction | None) -> bool:
    return item is not None and item.family == "mbarrier" and item.parts[1] in WAITS


def _spins(blocks: list[Block], wait: Block, before: tuple[int, ...] = ()) -> bool:
    """Whether every way from the answer “no” leads back to the wait, and nothing is carried from one turn to the next.

    The compiler may put the first question before the loop; then the ways lead to another wait for the same phase.
    before: the waits from which ways lead to this one.
    """
    result, asked = wait.terminator.operands[0], wait.terminator.operands[1:]
    if type(result) is not Register or not all(map(_is_harmless, wait.code)):
        return False
    loop, others = {wait.index: wait}, set()
    ways: list[tuple[int, dict[int, int]]] = [(wait.targets[0], {result.index: 0})]
    while ways:
        index, known = ways.pop()
        if index == wait.index:
            continue
        if index in loop or index >= len(blocks):
            return False
        block = blocks[index]
        if _is_wait(block.terminator) and block.terminator.operands[1:] == asked:
            others.add(index)
            continue
        if block.end not in ("goto", "branch") or not all(map(_is_harmless, block.code)):
            return False
        loop[index], known = block, dict(known)
        for item in block.code:
            _follow(item, known)
        ways += ((target, known) for target in _next(block, known))
    changed = 0
    for block in loop.values():
        changed |= block.defines
    before_it, after_it = wait.live_in & changed, wait.live_out & changed & ~(1 << result.index)
    return not (before_it and after_it) and all(  # what is carried around is live at both
        other not in before and _spins(blocks, blocks[other], (*before, wait.index)) for other in others
    )


def _is_harmless(item: Instruction) -> bool:
    clock = any(type(operand) is Special and operand.name.lstrip("%") in CLOCKS for operand in item.operands)
    return item.family in _HARMLESS and not clock


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
