"""Addresses in PTX: a base register or variable, an offset in bytes, and the state space if it is known."""

from __future__ import annotations

from typing import NamedTuple

from llvm_ir_to_ptx.code import Code, is_register
from llvm_ir_to_ptx.lowering import integers
from llvm_ir_to_ptx.reading.types import Array, Integer, Struct, Type, Vector, field_offset, size_of
from llvm_ir_to_ptx.unsupported import UnsupportedIR

SPACES = {1: "global", 3: "shared", 4: "const", 5: "local", 101: "param"}


class Address(NamedTuple):
    """base + offset in a state space. Without a space it is a generic address.

    `base` is a register, the name of a variable, or a number. The generic address of global memory is the same number
    as the address in its space, so that one may stand for the other.
    """

    base: str
    offset: int = 0
    space: str | None = None

    def moved(self, offset: int) -> Address:
        """The address `offset` bytes further."""
        return self._replace(offset=self.offset + offset)

    def in_brackets(self, offset: int = 0) -> str:
        """The operand of a load or store `offset` bytes further."""
        total = self.offset + offset
        return f"[{self.base}{f'+{total}' if total else ''}]"


def in_register(code: Code, address: Address) -> str:
    """The register with an address in its own space, or the number if it is constant."""
    base = address.base
    if not is_register(base) and not base.lstrip("-").isdigit():
        base = code.compute("mov.u64", "b64", base)
    if not address.offset:
        return base
    if not is_register(base):
        return str(int(base) + address.offset)
    return code.compute("add.s64", "b64", base, str(address.offset))


def generic(code: Code, address: Address) -> str:
    """The register with the generic address."""
    base = in_register(code, address)
    if address.space in (None, "global"):
        return base
    return code.compute(f"cvta.{address.space}.u64", "b64", code.in_register(base, "b64"))


def as_generic(code: Code, address: Address) -> Address:
    """The address as a generic one, with its offset kept apart."""
    if address.space is None:
        return address
    return Address(generic(code, address._replace(offset=0)), address.offset)


def in_space(code: Code, address: Address, space: str | None) -> Address:
    """The address in a state space. Raises `UnsupportedIR` if it is known to lie in another."""
    if address.space == space:
        return address
    if space is None:
        return as_generic(code, address)
    if address.space is not None:
        raise UnsupportedIR(f"An address of .{address.space} memory as one of .{space} memory")
    if space == "global":
        return address._replace(space="global")
    base = code.compute(f"cvta.to.{space}.u64", "b64", code.in_register(address.base, "b64"))
    return Address(base, address.offset, space)


def element(code: Code, start: Address, of: Type, indices: list[tuple[Integer, str]]) -> Address:
    """The address of an element: the steps of a getelementptr over the type `of`."""
    address, inner = start, Array(0, of)
    rest: Type = inner
    scaled: list[tuple[str, int]] = []
    for kind, index in indices:
        if isinstance(rest, Struct):
            address = address.moved(field_offset(rest, int(index)))
            rest = rest.fields[int(index)]
            continue
        if not isinstance(rest, (Array, Vector)):
            raise UnsupportedIR(f"An address inside of {rest}")
        rest = rest.element
        if is_register(index):
            index, moved = _without_constant(code, kind, index)
            address = address.moved(moved * size_of(rest))
            scaled.append((_wide(code, kind, index), size_of(rest)))
        else:
            number = int(index)
            address = address.moved((number - (1 << 64) if number >> 63 == 1 else number) * size_of(rest))
    for index, size in scaled:
        address = _stepped(code, address, index, size)
    return address


def _wide(code: Code, kind: Integer, index: str) -> str:
    """An index in 64 bits; getelementptr reads indices with their sign."""
    if kind.bits == 64:
        return index
    if kind.bits != 32:
        index = code.compute("cvt.s32.s16", "b32", integers.sign_extended(code, kind, index))
    return code.compute("cvt.s64.s32", "b64", index)


def _without_constant(code: Code, kind: Integer, index: str) -> tuple[str, int]:
    """An index of 64 bits without the constant that is added to it last, and this constant."""
    parts = code.origin(index, "add.s64") if kind.bits == 64 else ()
    if parts and is_register(parts[0]) and not is_register(parts[1]):
        return parts[0], int(parts[1])
    return index, 0


def _stepped(code: Code, address: Address, index: str, size: int) -> Address:
    """The address `index` times `size` bytes further."""
    base = address.base if is_register(address.base) else in_register(code, address._replace(offset=0))
    step = index
    if size != 1:
        step = integers.product(code, 64, "b64", index, str(size))
        if not code.origin(step, "mul.wide.s32") and not code.origin(step, "mul.wide.u32") and not size & (size - 1):
            step = code.compute("shl.b64", "b64", index, str(size.bit_length() - 1))
    return address._replace(base=code.compute("add.s64", "b64", base, step))
