"""The types of LLVM IR, with their sizes and layouts for the target nvptx64."""

from __future__ import annotations

from dataclasses import dataclass

from llvm_ir_to_ptx.unsupported import UnsupportedIR

FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


@dataclass(frozen=True)
class Integer:
    """An integer of `bits` bits, without a sign of its own."""

    bits: int

    def __str__(self) -> str:
        return f"i{self.bits}"


@dataclass(frozen=True)
class Float:
    """A floating-point number; `kind` is half, bfloat, float or double."""

    kind: str

    @property
    def bits(self) -> int:
        return FLOAT_BITS[self.kind]

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True)
class Pointer:
    """A pointer of 64 bits into the numbered address space `space`; 0 is the generic one."""

    space: int = 0

    @property
    def bits(self) -> int:
        return 64

    def __str__(self) -> str:
        return f"ptr addrspace({self.space})" if self.space else "ptr"


@dataclass(frozen=True)
class Array:
    """`count` elements one after the other in memory."""

    count: int
    element: Type

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


@dataclass(frozen=True)
class Vector:
    """`count` scalars that one instruction computes with."""

    count: int
    element: Scalar

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


@dataclass(frozen=True)
class Struct:
    """Fields of different types; those of a packed struct have no padding between them."""

    fields: tuple[Type, ...]
    packed: bool = False

    def __str__(self) -> str:
        return "{ " + ", ".join(map(str, self.fields)) + " }"


@dataclass(frozen=True)
class Void:
    """The result of an instruction without one."""

    def __str__(self) -> str:
        return "void"


Scalar = Integer | Float | Pointer
Type = Integer | Float | Pointer | Array | Vector | Struct | Void
VOID, BOOLEAN, WORD = Void(), Integer(1), Integer(32)


def rounded_up(number: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is not below `number`."""
    return -(-number // multiple) * multiple


def size_and_align(of: Type) -> tuple[int, int]:
    """The bytes that a value takes up in an array, and the boundary on which it lies without further notice."""
    if isinstance(of, Integer):
        size = 1 << max(0, (-(-of.bits // 8) - 1).bit_length())
        return size, min(size, 16)
    if isinstance(of, Float):
        return of.bits // 8, of.bits // 8
    if isinstance(of, Pointer):
        return 8, 8
    if isinstance(of, Array):
        size, align = size_and_align(of.element)
        return size * of.count, align
    if isinstance(of, Vector):
        if of.element == BOOLEAN:
            raise UnsupportedIR(f"A vector {of} in memory")
        size = 1 << (size_and_align(of.element)[0] * of.count - 1).bit_length()
        return size, min(size, 16)
    if isinstance(of, Struct):
        size, widest = 0, 1
        for field in of.fields:
            length, align = size_and_align(field)
            align = 1 if of.packed else align
            size, widest = rounded_up(size, align) + length, max(widest, align)
        return rounded_up(size, widest), widest
    return 0, 1


def size_of(of: Type) -> int:
    """The bytes that a value takes up in an array."""
    return size_and_align(of)[0]


def align_of(of: Type) -> int:
    """The boundary in bytes on which a value lies if nothing else is said."""
    return size_and_align(of)[1]


def field_offset(of: Struct, number: int) -> int:
    """The offset in bytes of a field of a struct."""
    offset = 0
    for index, field in enumerate(of.fields):
        size, align = size_and_align(field)
        offset = rounded_up(offset, 1 if of.packed else align)
        if index == number:
            return offset
        offset += size
    raise UnsupportedIR(f"Field {number} of {of}")


def scalars(of: Type) -> list[Scalar]:
    """The scalars that a value consists of, in order; a value is held in one register for each."""
    if isinstance(of, (Integer, Float, Pointer)):
        return [of]
    if isinstance(of, (Array, Vector)):
        return scalars(of.element) * of.count
    if isinstance(of, Struct):
        return [scalar for field in of.fields for scalar in scalars(field)]
    return []


def scalar_offsets(of: Type) -> list[int]:
    """The offset in bytes of each of the `scalars` of a value in memory."""
    if isinstance(of, (Integer, Float, Pointer)):
        return [0]
    if isinstance(of, (Array, Vector)):
        size, inner = size_of(of.element), scalar_offsets(of.element)
        return [index * size + offset for index in range(of.count) for offset in inner]
    if isinstance(of, Struct):
        starts = [field_offset(of, number) for number in range(len(of.fields))]
        return [
            start + offset for start, field in zip(starts, of.fields, strict=True) for offset in scalar_offsets(field)
        ]
    return []


def part_at(of: Type, indices: tuple[int, ...]) -> tuple[int, Type]:
    """The number of the first scalar of a part of an aggregate, and the part's type."""
    first = 0
    for index in indices:
        if isinstance(of, Struct):
            first += sum(len(scalars(field)) for field in of.fields[:index])
            of = of.fields[index]
        elif isinstance(of, (Array, Vector)):
            first += index * len(scalars(of.element))
            of = of.element
        else:
            raise UnsupportedIR(f"A part of {of}")
    return first, of
