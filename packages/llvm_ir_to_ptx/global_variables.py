"""The variables of a module as declarations of PTX."""

from __future__ import annotations

import re

from llvm_ir_to_ptx.lowering.addresses import SPACES
from llvm_ir_to_ptx.lowering.context import symbol
from llvm_ir_to_ptx.reading.module import Module, Variable
from llvm_ir_to_ptx.reading.types import (
    Array,
    Float,
    Integer,
    Pointer,
    Struct,
    Type,
    Vector,
    field_offset,
    size_of,
)
from llvm_ir_to_ptx.reading.values import Aggregate, Conversion, Element, Global, Number, Value, Zero
from llvm_ir_to_ptx.unsupported import UnsupportedIR

# A part of an initial value: its offset in bytes, and its bytes or the name of the variable whose address it is.
_Part = tuple[int, bytes | str]


def declarations(module: Module, text: str) -> list[str]:
    """The declarations of the variables, without those that are declared elsewhere and not used.

    text: the PTX of the functions.
    """
    used = set(re.findall(r"[\w$]+", text))
    found = []
    for name, variable in module.variables.items():
        if name.startswith("llvm.") or (variable.external and symbol(name) not in used):
            continue
        found.append(declaration(variable, module))
    return found


def declaration(variable: Variable, module: Module) -> str:
    """The declaration of one variable of a module, with its initial value."""
    name, space, size = symbol(variable.name), SPACES.get(variable.space, "global"), size_of(variable.type)
    head = f".align {variable.align} .b8 {name}"
    if space == "shared":
        return f".shared {head}[{size}];" if size and not variable.external else f".extern .shared {head}[];"
    if variable.external:
        return f".extern .{space} {head}[{size}];"
    if isinstance(variable.type, Integer) and variable.type.bits in (32, 64):
        initial = f" = {variable.initial.value}" if isinstance(variable.initial, Number) else ""
        return f".visible .{space} .align {variable.align} .u{variable.type.bits} {name}{initial};"
    functions = _functions(variable, module)
    if functions:
        return f".visible .{space} .align {variable.align} .u64 {name}[{len(functions)}] = {{{', '.join(functions)}}};"
    return f".visible .{space} {head}[{size}]{_initial(variable)};"


def _functions(variable: Variable, module: Module) -> list[str]:
    """The words of an initial value in which addresses of functions stand, among numbers; [] if there are none."""
    parts = _parts(variable.type, variable.initial, 0) if variable.initial is not None else []
    if not any(isinstance(part, str) and part in module.functions for _, part in parts):
        return []
    words = ["0"] * (size_of(variable.type) // 8)
    for offset, part in parts:
        if isinstance(part, str):
            words[offset // 8] = symbol(part) if part in module.functions else f"generic({symbol(part)})"
        elif any(part):
            raise UnsupportedIR("An initial value of addresses of functions and of numbers")
    return words


def _initial(variable: Variable) -> str:
    """The initialiser of a variable; "" for one of zeros."""
    if variable.initial is None:
        return ""
    parts = _parts(variable.type, variable.initial, 0)
    if all(isinstance(part, bytes) and not any(part) for _, part in parts):
        return ""
    data: list[str] = ["0"] * size_of(variable.type)
    for offset, part in parts:
        if isinstance(part, bytes):
            data[offset : offset + len(part)] = map(str, part)
        else:
            data[offset : offset + 8] = [f"{0xFF << 8 * byte:#x}(generic({symbol(part)}))" for byte in range(8)]
    return f" = {{{', '.join(data)}}}"


def _parts(of: Type, value: Value, start: int) -> list[_Part]:
    """The parts of an initial value that begins at the offset `start`."""
    if isinstance(value, Zero):
        return [(start, bytes(size_of(of)))]
    if isinstance(value, Number) and isinstance(of, (Integer, Float)):
        return [(start, (value.value & ((1 << of.bits) - 1)).to_bytes(size_of(of), "little"))]
    if isinstance(value, Aggregate):
        if isinstance(of, Struct):
            offsets = [field_offset(of, number) for number in range(len(of.fields))]
        elif isinstance(of, (Array, Vector)):
            offsets = [number * size_of(of.element) for number in range(of.count)]
        else:
            raise UnsupportedIR(f"An initial value of type {of}")
        if len(offsets) != len(value.parts):
            raise UnsupportedIR(f"An initial value of {len(value.parts)} parts for {of}")
        each = zip(offsets, value.parts, strict=True)
        return [part for offset, inner in each for part in _parts(inner.type, inner.value, start + offset)]
    if isinstance(of, Pointer):
        if isinstance(value, Conversion) and value.op == "addrspacecast":
            return _parts(of, value.of.value, start)
        if isinstance(value, Element) and all(isinstance(index.value, Zero) for index in value.operands[1:]):
            return _parts(of, value.operands[0].value, start)
        if isinstance(value, Global):
            return [(start, value.name)]
    raise UnsupportedIR(f"The initial value of a variable of type {of}")
