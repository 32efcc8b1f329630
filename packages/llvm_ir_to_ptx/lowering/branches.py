"""Branches, and the moves into the registers of phi instructions on the way from one block to the next."""

from __future__ import annotations

from llvm_ir_to_ptx.code import register_type
from llvm_ir_to_ptx.lowering import addresses, integers
from llvm_ir_to_ptx.lowering.addresses import Address
from llvm_ir_to_ptx.lowering.arithmetic import in_common
from llvm_ir_to_ptx.lowering.calls import hand_over
from llvm_ir_to_ptx.lowering.context import Lowering
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.types import Integer, Pointer, scalars
from llvm_ir_to_ptx.reading.values import Typed, Zero
from llvm_ir_to_ptx.unsupported import UnsupportedIR


def declare_phis(low: Lowering, block: str, instructions: list[Instruction]) -> None:
    """Give each phi instruction at the start of a block its registers, before anything is translated."""
    for instruction in instructions:
        if instruction.op != "phi" or instruction.name is None:
            continue
        low.phis.setdefault(block, []).append(instruction)
        space = low.spaces.get(instruction.name)
        registers = [(kind, low.code.register(register_type(kind))) for kind in scalars(instruction.type)]
        low.define(
            instruction,
            *(Address(register, 0, space) if isinstance(kind, Pointer) else register for kind, register in registers),
        )


def go(low: Lowering, target: str) -> None:
    """Set the registers of the target's phi instructions, and branch to it."""
    moves: list[tuple[str, str, str]] = []
    for phi in low.phis.get(target, []):
        value = next((value for value, block in phi.incoming if block == low.block), None)
        if value is None:
            raise UnsupportedIR(f"A phi instruction without a value from the block {low.block}")
        if isinstance(value, Zero) and value.undefined:
            continue  # the register may keep what it holds
        space = low.spaces.get(phi.name or "")
        given = low.operands(Typed(phi.type, value))
        for kind, held, new in zip(scalars(phi.type), low.values[phi.name or ""], given, strict=True):
            if isinstance(kind, Pointer):
                new = addresses.in_register(low.code, in_common(low, new, space))
            register = held.base if isinstance(held, Address) else held
            plain = low.plain(new)
            if plain != register:
                moves.append((register, plain, register_type(kind)))
    for held_in, source, register_kind in ordered(low, moves):
        low.code.move(held_in, source, register_kind)
    low.code.put(f"bra {low.label_of(target)};")


def ordered(low: Lowering, moves: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Moves that are meant at the same time, (target, source, type), in an order in which none reads what one has set.

    Where they go round in a circle, one of the values is kept in a further register.
    """
    left, done = list(moves), []
    while left:
        sources = {source for _, source, _ in left}
        free = [move for move in left if move[0] not in sources]
        if free:
            done += free
            left = [move for move in left if move[0] in sources]
            continue
        target, _, kind = left[0]
        kept = low.code.register(kind)
        done.append((kept, target, kind))
        left = [(to, kept if source == target else source, of) for to, source, of in left]
    return done


def branch(low: Lowering, instruction: Instruction) -> None:
    """A branch. The way to a target with phi instructions leads over their moves."""
    if len(instruction.targets) == 1:
        go(low, instruction.targets[0])
        return
    yes, no = instruction.targets
    condition = low.register(instruction.operands[0])
    if yes == no or condition in ("0", "1"):
        go(low, no if condition == "0" else yes)
        return
    if not low.phis.get(yes) and (low.phis.get(no) or low.following != yes):
        low.code.put(f"@{condition} bra {low.label_of(yes)};")
        go(low, no)
    elif not low.phis.get(no):
        low.code.put(f"@!{condition} bra {low.label_of(no)};")
        go(low, yes)
    else:
        go_if(low, condition, yes)
        go_apart(low, no)


def go_apart(low: Lowering, target: str) -> None:
    """`go` where what is computed for it is not known afterwards, as not every way leads over it."""
    known = dict(low.code.known)
    go(low, target)
    low.code.known = known


def go_if(low: Lowering, condition: str, target: str) -> None:
    """`go` if a condition holds; otherwise the lines behind it follow."""
    other = low.new_label()
    low.code.put(f"@!{condition} bra {other};")
    go_apart(low, target)
    low.code.label(other)


def switch(low: Lowering, instruction: Instruction) -> None:
    """A branch to one of several targets, as one comparison after the other."""
    (asked,) = instruction.operands
    if not isinstance(asked.type, Integer):
        raise UnsupportedIR(f"A switch over {asked.type}")
    register = low.register(asked)
    default, *targets = instruction.targets
    for value, target in zip(instruction.cases, targets, strict=True):
        wanted = integers.constant(asked.type, value)
        same = integers.compare(low.code, "eq", asked.type, register, wanted)
        if not low.phis.get(target):
            low.code.put(f"@{same} bra {low.label_of(target)};")
            continue
        go_if(low, same, target)
    go(low, default)


def leave(low: Lowering, instruction: Instruction) -> None:
    """The end of a function, with its result where it has one."""
    if instruction.operands:
        (result,) = instruction.operands
        hand_over(low, Address("func_retval0", 0, "param"), result.type, low.registers(result))
    low.code.put("ret;")


def unreachable(low: Lowering, instruction: Instruction) -> None:
    """A place that the program never comes to."""
    low.code.put("trap;")
    low.code.put("exit;")
