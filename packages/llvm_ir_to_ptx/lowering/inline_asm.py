"""Inline PTX: its text passes through, with the registers of its operands in their places."""

from __future__ import annotations

import re

from llvm_ir_to_ptx.code import is_register, register_type
from llvm_ir_to_ptx.lowering import conversions, integers
from llvm_ir_to_ptx.lowering.addresses import Address
from llvm_ir_to_ptx.lowering.context import Lowering, Operand
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.types import BOOLEAN, Float, Integer, Pointer, Scalar, scalars
from llvm_ir_to_ptx.unsupported import UnsupportedIR

# The letter of a constraint, and the type of the register that it asks for.
LETTERS: dict[str, Scalar] = {
    "h": Integer(16),
    "r": Integer(32),
    "l": Integer(64),
    "f": Float("float"),
    "d": Float("double"),
    "c": Integer(8),
    "b": BOOLEAN,
}
_PLACE = re.compile(r"\$\$|\$\{(\d+)(?::\w+)?\}|\$(\d+)|\$\{:uid\}")


def asm(low: Lowering, instruction: Instruction) -> None:
    """An asm statement. Its operands are numbered from the results on, then come those that it reads."""
    code = low.code
    results = scalars(instruction.type)
    names: list[str] = []
    given: list[tuple[str, Scalar]] = []  # of each result the register and its type
    inputs: list[str] = []
    tied: list[str] = []  # results that are also read
    for constraint in instruction.constraints:
        if constraint.startswith("="):
            kind = _kind(constraint)
            register = code.register(register_type(kind))
            names.append(register)
            given.append((register, kind))
        elif not constraint.startswith("~"):
            inputs.append(constraint)
    for constraint, operand in zip(inputs, instruction.operands, strict=True):
        (of,), value = scalars(operand.type), low.register(operand)
        if constraint in ("n", "i"):
            names.append(value)
        elif constraint.isdigit():  # it starts in the register of a result
            register, kind = given[int(constraint)]
            code.move(register, _as(low, of, kind, value), register_type(kind))
            names.append(register)
            tied.append(register)
        else:
            kind = _kind(constraint)
            names.append(code.in_register(_as(low, of, kind, value), register_type(kind)))
    low.calls += 1
    text = _PLACE.sub(lambda found: _operand(found, names, low.calls), instruction.template)
    written = [register for register, _ in given]
    reads = tied + [name for name in names[len(given) :] if is_register(name) and name not in written]
    effects = "sideeffect" in instruction.flags or "~{memory}" in instruction.constraints
    code.asm(text, written, reads, only_registers=not effects)
    back: list[Operand] = []
    for (register, kind), of in zip(given, results, strict=True):
        value = _as(low, kind, of, register)
        back.append(Address(value) if isinstance(of, Pointer) else value)
    low.define(instruction, *back)


def _operand(found: re.Match[str], names: list[str], uid: int) -> str:
    """What stands in the text for a placeholder."""
    if found[0] == "$$":
        return "$"
    if found[0] == "${:uid}":
        return str(uid)
    number = int(found[1] or found[2])
    if number >= len(names):
        raise UnsupportedIR(f"An asm statement that names the operand %{number}, which it does not have,")
    return names[number]


def _kind(constraint: str) -> Scalar:
    """The type of the register that a constraint such as "=r" asks for."""
    letter = constraint.lstrip("=&")
    if letter not in LETTERS:
        raise UnsupportedIR(f"The constraint “{constraint}” of an asm statement")
    return LETTERS[letter]


def _as(low: Lowering, of: Scalar, to: Scalar, value: str) -> str:
    """A value of one type in the register of another: the same bits, or the lower ones, or with zeros above."""
    if register_type(of) == register_type(to) and of.bits == to.bits:
        return value
    bits, wanted = Integer(of.bits), Integer(to.bits)
    plain = value if not isinstance(of, Float) else conversions.same_bits(low.code, of, bits, value)
    if of.bits != to.bits:
        plain = conversions.convert(low.code, "zext" if of.bits < to.bits else "trunc", bits, wanted, plain)
    if not is_register(plain) and isinstance(to, Integer):
        return integers.constant(to, int(plain, 0))
    return conversions.same_bits(low.code, wanted, to, low.code.in_register(plain, register_type(wanted)))
