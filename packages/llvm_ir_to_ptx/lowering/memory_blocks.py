"""memcpy, memmove and memset: of a known number of bytes as loads and stores, else as a loop."""

from __future__ import annotations

from collections.abc import Callable

from llvm_ir_to_ptx.lowering import conversions, integers
from llvm_ir_to_ptx.lowering.addresses import Address, in_register
from llvm_ir_to_ptx.lowering.context import Lowering
from llvm_ir_to_ptx.lowering.memory import bytes_type, load_from, store_to
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.types import Integer, scalars
from llvm_ir_to_ptx.reading.values import Number
from llvm_ir_to_ptx.unsupported import UnsupportedIR

_BYTE, _LONG = Integer(8), Integer(64)
_MOST_UNROLLED = 1024  # bytes


def _align(call: Instruction, argument: int) -> int:
    return int(call.attributes[argument].get("align", 1))


def _count(call: Instruction) -> int | None:
    """The number of bytes; None if it is computed."""
    value = call.operands[2].value
    return value.value if isinstance(value, Number) else None


def copied(low: Lowering, call: Instruction) -> None:
    """memcpy or memmove. An unrolled copy reads all bytes before it writes the first, so that they may overlap."""
    to, source, count = low.address(call.operands[0]), low.address(call.operands[1]), _count(call)
    if count is not None and count <= _MOST_UNROLLED:
        align = min(_align(call, 0), _align(call, 1))
        of = bytes_type(count, align)
        store_to(low, "st", to, of, load_from(low, "ld", source, of, align), align)
        return
    if "memmove" in call.callee:
        raise UnsupportedIR("memmove of a number of bytes that is not known")

    def step(at: str) -> None:
        value = load_from(low, "ld", _further(low, source, at), _BYTE, 1)
        store_to(low, "st", _further(low, to, at), _BYTE, value, 1)

    _loop(low, call, step)


def filled(low: Lowering, call: Instruction) -> None:
    """memset."""
    to, count, value = low.address(call.operands[0]), _count(call), low.register(call.operands[1])
    if count is not None and count <= _MOST_UNROLLED:
        of = bytes_type(count, _align(call, 0))
        kind = scalars(of)[0]
        if not isinstance(kind, Integer):
            return
        word = conversions.convert(low.code, "zext", _BYTE, kind, value)
        if kind != _BYTE:
            word = integers.binary(low.code, "mul", kind, word, str(int("01" * (kind.bits // 8), 16)))
        store_to(low, "st", to, of, [word] * len(scalars(of)), _align(call, 0))
        return
    _loop(low, call, lambda at: store_to(low, "st", _further(low, to, at), _BYTE, [value], 1))


def _further(low: Lowering, address: Address, at: str) -> Address:
    base = in_register(low.code, address)
    return Address(low.code.compute("add.s64", "b64", base, at), 0, address.space)


def _loop(low: Lowering, call: Instruction, step: Callable[[str], None]) -> None:
    """Write a loop over the bytes 0, 1, … of a memory block."""
    code, count = low.code, call.operands[2]
    if not isinstance(count.type, Integer):
        raise UnsupportedIR(f"A number of bytes of type {count.type}")
    end = code.in_register(conversions.convert(code, "zext", count.type, _LONG, low.register(count)), "b64")
    at, again, done = code.register("b64"), low.new_label(), low.new_label()
    code.move(at, "0", "b64")
    known = dict(code.known)
    code.label(again)
    over = code.compute("setp.ge.u64", "pred", at, end)
    code.put(f"@{over} bra {done};")
    step(at)
    code.put(f"add.s64 {at}, {at}, 1;", at)
    code.put(f"bra {again};")
    code.label(done)
    code.known = known
