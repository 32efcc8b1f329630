"""Calls of functions that were not inlined, and the parameters that they are handed over in."""

from __future__ import annotations

from llvm_ir_to_ptx.lowering import conversions
from llvm_ir_to_ptx.lowering.addresses import Address
from llvm_ir_to_ptx.lowering.context import Lowering, symbol
from llvm_ir_to_ptx.lowering.intrinsics import intrinsic
from llvm_ir_to_ptx.lowering.memory import copy, load_from, memory_type, store_to
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.module import Function, Parameter
from llvm_ir_to_ptx.reading.types import VOID, WORD, Integer, Pointer, Type, align_of, scalars, size_of
from llvm_ir_to_ptx.unsupported import UnsupportedIR


def passed(of: Type) -> Type:
    """The type as which a value is handed over: small integers take up a word."""
    return WORD if isinstance(of, Integer) and of.bits < 32 else of


def declared(of: Type, name: str, align: int = 1, in_kernel: bool = False) -> str:
    """The declaration of a parameter. align: in bytes, if it is more than that of the type.

    in_kernel: of a kernel, whose small integers keep their size.
    """
    handed = of if in_kernel else passed(of)
    kinds = scalars(handed)
    if len(kinds) == 1 and handed == kinds[0]:
        kind = memory_type(kinds[0])
        return f".param .{kind if in_kernel else f'b{kind[1:]}'} {name}"
    return f".param .align {max(align, align_of(handed))} .b8 {name}[{size_of(handed)}]"


def of_parameter(parameter: Parameter) -> Type:
    """The type of what is handed over for a parameter."""
    return parameter.by_value or parameter.type


def own_align(parameter: Parameter) -> int:
    """The alignment in bytes that is written at a parameter which is passed by value; 1 where none is."""
    written = parameter.attributes.get("align", "")
    return int(written) if parameter.by_value and written.isdigit() else 1


def prototype(function: Function) -> str:
    """The head of a device function, from its result to its parameters."""
    result = f"({declared(function.result, 'func_retval0')}) " if function.result != VOID else ""
    name = symbol(function.name)
    parameters = [
        declared(of_parameter(parameter), f"{name}_param_{number}", own_align(parameter))
        for number, parameter in enumerate(function.parameters)
    ]
    return f".func {result}{name}(\n\t" + ",\n\t".join(parameters) + "\n)"


def call(low: Lowering, instruction: Instruction) -> None:
    """A call: of a function llvm.*, of a device function that stays one, or of one by its address."""
    if instruction.callee.startswith("llvm."):
        intrinsic(low, instruction)
        return
    code = low.code
    if instruction.callee:
        callee = low.module.functions.get(instruction.callee)
        if callee is None or len(callee.parameters) != len(instruction.operands):
            raise UnsupportedIR(f"A call of {instruction.callee}")
        target, given, parameters = symbol(callee.name), instruction.operands, callee.parameters
        result, uniform, declares = callee.result, "call.uni", ""
    else:
        target, given, result = low.register(instruction.operands[0]), instruction.operands[1:], instruction.type
        parameters = tuple(Parameter("", operand.type, None, {}) for operand in given)
        if any("byval" in attributes for attributes in instruction.attributes):
            raise UnsupportedIR("A call, by its address, of a function that takes a structure")
        low.calls += 1
        name = f"prototype_{low.number}_{low.calls}"
        takes = ", ".join(declared(operand.type, "_") for operand in given)
        gives = f"({declared(result, '_')}) " if result != VOID else ""
        code.put(f"{name}: .callprototype {gives}_ ({takes});")
        uniform, declares = "call", f", {name}"
    pairs = list(zip(parameters, given, strict=True))
    values = [[] if parameter.by_value else low.registers(operand) for parameter, operand in pairs]
    copied = [low.address(operand) if parameter.by_value else None for parameter, operand in pairs]
    code.put("{")
    for number, ((parameter, _), value, address) in enumerate(zip(pairs, values, copied, strict=True)):
        of, place = of_parameter(parameter), Address(f"param{number}", 0, "param")
        code.put(f"{declared(of, place.base, own_align(parameter))};")
        if address is not None:
            copy(low, place, address, of, align_of(of))
        else:
            hand_over(low, place, of, value)
    results: list[str] = []
    arguments = ", ".join(f"param{number}" for number in range(len(given)))
    if result != VOID:
        code.put(f"{declared(result, 'retval0')};")
        code.put(f"{uniform} (retval0), {target}, ({arguments}){declares};")
        results = taken(low, Address("retval0", 0, "param"), result)
    else:
        code.put(f"{uniform} {target}, ({arguments}){declares};")
    code.put("}")
    kinds = zip(results, scalars(result), strict=True)
    low.define(instruction, *(Address(value) if isinstance(kind, Pointer) else value for value, kind in kinds))


def hand_over(low: Lowering, place: Address, of: Type, values: list[str]) -> None:
    """Store a value where a call or a return hands it over."""
    handed = passed(of)
    if isinstance(of, Integer) and isinstance(handed, Integer) and of != handed:
        values = [conversions.convert(low.code, "zext", of, handed, values[0])]
    store_to(low, "st", place, handed, values, align_of(handed))


def taken(low: Lowering, place: Address, of: Type) -> list[str]:
    """The registers with a value that was handed over."""
    handed = passed(of)
    values = load_from(low, "ld", place, handed, align_of(handed))
    if isinstance(of, Integer) and isinstance(handed, Integer) and of != handed:
        values = [conversions.convert(low.code, "trunc", handed, of, values[0])]
    return values
