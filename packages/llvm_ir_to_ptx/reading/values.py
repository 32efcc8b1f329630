"""The operands of instructions of LLVM IR: names, constants and constant expressions."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import NamedTuple

from llvm_ir_to_ptx.reading.types import Type


@dataclass(frozen=True)
class Local:
    """%name: a parameter or the result of an instruction, without its %."""

    name: str


@dataclass(frozen=True)
class Global:
    """@name: a variable or function, without its @."""

    name: str


@dataclass(frozen=True)
class Number:
    """A constant: an integer, or the bits of a floating-point number in its own format."""

    value: int


@dataclass(frozen=True)
class Zero:
    """zeroinitializer, null, undef or poison; any value may stand for an undefined one."""

    undefined: bool = False


@dataclass(frozen=True)
class Aggregate:
    """The parts of a constant vector, array or struct."""

    parts: tuple[Typed, ...]


@dataclass(frozen=True)
class Conversion:
    """A constant expression such as `addrspacecast (ptr addrspace(3) @a to ptr)`."""

    op: str
    of: Typed
    to: Type


@dataclass(frozen=True)
class Binary:
    """A constant expression such as `add (i64 …, i64 …)`."""

    op: str
    left: Typed
    right: Typed


@dataclass(frozen=True)
class Element:
    """The constant address of an element: `getelementptr (type, ptr @a, i64 …)`."""

    element: Type
    operands: tuple[Typed, ...]


Value = Local | Global | Number | Zero | Aggregate | Conversion | Binary | Element


class Typed(NamedTuple):
    """A value and its type."""

    type: Type
    value: Value


def float_bits(text: str, kind: str) -> int:
    """The bits of a floating-point literal in the format `kind`. Raises `ValueError` if it is none.

    LLVM writes 0x and the bits of a double for float and double, 0xH and 0xR and the bits themselves for half and
    bfloat, or a decimal number.
    """
    if text[:3] in ("0xH", "0xR"):
        return int(text[3:], 16)
    number = struct.unpack(">d", int(text[2:], 16).to_bytes(8, "big"))[0] if text[:2] == "0x" else float(text)
    if kind == "double":
        return int.from_bytes(struct.pack(">d", number), "big")
    if kind == "bfloat":
        return int.from_bytes(struct.pack(">f", number), "big") >> 16
    if math.isnan(number):
        wide = int.from_bytes(struct.pack(">d", number), "big")
        sign, payload = wide >> 63, wide >> 29 & 0x7FFFFF
        return sign << 31 | 0x7F800000 | (payload or 1 << 22) if kind == "float" else sign << 15 | 0x7E00
    return int.from_bytes(struct.pack({"half": ">e", "float": ">f"}[kind], number), "big")
