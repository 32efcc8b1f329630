"""Instructions that compute with scalars, and those that take vectors and structs apart."""

from __future__ import annotations

from llvm_ir_to_ptx.code import register_type
from llvm_ir_to_ptx.lowering import addresses, conversions, floats, integers
from llvm_ir_to_ptx.lowering.addresses import Address
from llvm_ir_to_ptx.lowering.context import Lowering, Operand
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.types import Float, Integer, Pointer, Vector, part_at, scalars
from llvm_ir_to_ptx.reading.values import Aggregate, Number, Typed, Value, Zero
from llvm_ir_to_ptx.unsupported import UnsupportedIR


def binary(low: Lowering, instruction: Instruction) -> None:
    """An operation on two numbers, or on each pair of two vectors."""
    left, right = (low.registers(operand) for operand in instruction.operands)
    results, code, op = [], low.code, instruction.op
    contracted = bool(instruction.flags & {"contract", "fast"})
    for kind, a, b in zip(scalars(instruction.type), left, right, strict=True):
        if isinstance(kind, Integer):
            results.append(integers.binary(code, op, kind, a, b))
        elif isinstance(kind, Float):
            results.append(floats.binary(code, op, kind, a, b, contracted))
    low.define(instruction, *results)


def fneg(low: Lowering, instruction: Instruction) -> None:
    """A number, or each of a vector, with its sign changed."""
    values = zip(scalars(instruction.type), low.registers(instruction.operands[0]), strict=True)
    low.define(instruction, *(floats.negated(low.code, kind, v) for kind, v in values if isinstance(kind, Float)))


def freeze(low: Lowering, instruction: Instruction) -> None:
    """The value itself: registers of PTX are never poison."""
    low.define(instruction, *low.operands(instruction.operands[0]))


def icmp(low: Lowering, instruction: Instruction) -> None:
    """A comparison of integers or addresses. Addresses in different spaces are compared as generic ones."""
    left, right = instruction.operands
    results, code = [], low.code
    kinds = scalars(left.type)
    for kind, a, b in zip(kinds, low.operands(left), low.operands(right), strict=True):
        if isinstance(a, Address) and isinstance(b, Address) and a.space == b.space:
            pair = [addresses.in_register(code, a), addresses.in_register(code, b)]
        else:
            pair = [low.plain(a), low.plain(b)]
        of = kind if isinstance(kind, Integer) else Integer(64)
        results.append(integers.compare(code, instruction.predicate, of, *pair))
    low.define(instruction, *results)


def fcmp(low: Lowering, instruction: Instruction) -> None:
    """A comparison of two floating-point numbers, or of each pair of two vectors."""
    left, right = (low.registers(operand) for operand in instruction.operands)
    kinds = scalars(instruction.operands[0].type)
    values = zip(kinds, left, right, strict=True)
    predicate = instruction.predicate
    low.define(
        instruction,
        *(floats.compare(low.code, predicate, kind, a, b) for kind, a, b in values if isinstance(kind, Float)),
    )


def select(low: Lowering, instruction: Instruction) -> None:
    """One of two values, as a condition says; for vectors there may be one condition for each element."""
    condition, *values = instruction.operands
    yes, no = (low.operands(value) for value in values)
    conditions = low.registers(condition)
    if len(conditions) != len(yes):
        conditions = conditions * len(yes)
    space = low.spaces.get(instruction.name or "")
    results: list[Operand] = []
    for kind, test, *pair in zip(scalars(instruction.type), conditions, yes, no, strict=True):
        if isinstance(kind, Pointer):
            both = [addresses.in_register(low.code, in_common(low, value, space)) for value in pair]
            results.append(Address(integers.chosen(low.code, "b64", test, *both), 0, space))
        else:
            registers = [low.plain(value) for value in pair]
            if isinstance(kind, Float) and kind.bits == 16:
                registers = [low.code.in_register(value, "b16") for value in registers]
            results.append(integers.chosen(low.code, register_type(kind), test, *registers))
    low.define(instruction, *results)


def in_common(low: Lowering, value: Operand, space: str | None) -> Address:
    """A pointer as an address in the state space that several pointers have in common."""
    address = value if isinstance(value, Address) else Address(value)
    if address.base == "0" and not address.offset:  # of a pointer that is undefined
        return Address("0", 0, space)
    return addresses.in_space(low.code, address, space)


def convert(low: Lowering, instruction: Instruction) -> None:
    """A conversion of a scalar, of each scalar of a vector, or of the bits of a vector."""
    (of,) = instruction.operands
    old, new = scalars(of.type), scalars(instruction.type)
    if len(old) == 1 == len(new):
        low.define(instruction, low.converted(instruction.op, of, instruction.type))
        return
    values = low.registers(of)
    if instruction.op == "bitcast":
        low.define(instruction, *conversions.regrouped(low.code, old[0], new[0], values))
        return
    if isinstance(old[0], Pointer) or isinstance(new[0], Pointer):
        raise UnsupportedIR(f"The conversion {instruction.op} of {of.type}")
    each = zip(old, new, values, strict=True)
    low.define(instruction, *(conversions.convert(low.code, instruction.op, a, b, value) for a, b, value in each))


def getelementptr(low: Lowering, instruction: Instruction) -> None:
    """The address of an element; nothing is loaded."""
    if not isinstance(instruction.type, Pointer):
        raise UnsupportedIR("A vector of addresses")
    low.define(instruction, low.element(instruction.element, instruction.operands))


# ---- Vectors and structs ----


def extractvalue(low: Lowering, instruction: Instruction) -> None:
    """A part of a struct or array that is in registers."""
    (whole,) = instruction.operands
    first, of = part_at(whole.type, instruction.indices)
    low.define(instruction, *low.operands(whole)[first : first + len(scalars(of))])


def insertvalue(low: Lowering, instruction: Instruction) -> None:
    """A struct or array in registers with one part replaced."""
    whole, part = instruction.operands
    first, of = part_at(whole.type, instruction.indices)
    values = list(low.operands(whole))
    values[first : first + len(scalars(of))] = low.operands(part)
    low.define(instruction, *values)


def constant_index(value: Value) -> int | None:
    """The number of an element that is known; None for one that is computed."""
    return value.value if isinstance(value, Number) else 0 if isinstance(value, Zero) else None


def extractelement(low: Lowering, instruction: Instruction) -> None:
    """An element of a vector; one whose number is computed is chosen among all."""
    whole, index = instruction.operands
    values, number = low.operands(whole), constant_index(index.value)
    if number is not None:
        low.define(instruction, values[number])
        return
    kind = scalars(instruction.type)[0]
    registers, asked = [low.plain(value) for value in values], low.register(index)
    found = registers[0]
    for at, value in enumerate(registers[1:], 1):
        found = integers.chosen(low.code, register_type(kind), _is(low, index, asked, at), value, found)
    low.define(instruction, Address(found) if isinstance(kind, Pointer) else found)


def insertelement(low: Lowering, instruction: Instruction) -> None:
    """A vector with one element replaced; if its number is computed, every element is chosen."""
    whole, part, index = instruction.operands
    values, number = list(low.operands(whole)), constant_index(index.value)
    (new,) = low.operands(part)
    if number is not None:
        values[number] = new
        low.define(instruction, *values)
        return
    kind, asked, plain = register_type(scalars(part.type)[0]), low.register(index), low.plain(new)
    chosen = [
        integers.chosen(low.code, kind, _is(low, index, asked, at), plain, low.plain(value))
        for at, value in enumerate(values)
    ]
    low.define(instruction, *(Address(v) if isinstance(part.type, Pointer) else v for v in chosen))


def _is(low: Lowering, index: Typed, register: str, number: int) -> str:
    """The predicate register that tells whether an index has this value."""
    if not isinstance(index.type, Integer):
        raise UnsupportedIR(f"An index of type {index.type}")
    return integers.compare(low.code, "eq", index.type, register, str(number))


def shufflevector(low: Lowering, instruction: Instruction) -> None:
    """A vector of elements of two others, in a constant order."""
    left, right, mask = instruction.operands
    both = [*low.operands(left), *low.operands(right)]
    if isinstance(mask.value, Aggregate):
        numbers = [constant_index(part.value) or 0 for part in mask.value.parts]
    elif isinstance(mask.value, Zero) and isinstance(mask.type, Vector):
        numbers = [0] * mask.type.count
    else:
        raise UnsupportedIR("A shufflevector whose order is computed")
    low.define(instruction, *(both[number] for number in numbers))
