"""Loads, stores, atomics and local variables."""

from __future__ import annotations

from math import gcd

from llvm_ir_to_ptx.code import Load, register_type
from llvm_ir_to_ptx.lowering import conversions
from llvm_ir_to_ptx.lowering.addresses import Address
from llvm_ir_to_ptx.lowering.context import Lowering
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.types import (
    BOOLEAN,
    WORD,
    Float,
    Integer,
    Pointer,
    Scalar,
    Struct,
    Type,
    align_of,
    rounded_up,
    scalar_offsets,
    scalars,
    size_and_align,
    size_of,
)
from llvm_ir_to_ptx.unsupported import UnsupportedIR

_SCOPES = {"": "sys", "device": "gpu", "agent": "gpu", "cluster": "cluster", "block": "cta", "workgroup": "cta"}
_ORDERS = {"unordered": "relaxed", "monotonic": "relaxed", "acquire": "acquire", "release": "release"}
_ATOMICS = {"xchg": "exch.b", "add": "add.u", "and": "and.b", "or": "or.b", "xor": "xor.b"}
_ATOMICS |= {"max": "max.s", "min": "min.s", "umax": "max.u", "umin": "min.u", "fadd": "add.f"}
_ATOMICS |= {"uinc_wrap": "inc.u", "udec_wrap": "dec.u"}
_WORD = "b32"
_MOST = 16  # bytes of one access


def memory_type(of: Scalar) -> str:
    """The PTX type of a scalar in memory. Raises `UnsupportedIR` for integers that do not fill their bytes."""
    if isinstance(of, Pointer):
        return "u64"
    if isinstance(of, Float):
        return "b16" if of.bits == 16 else f"f{of.bits}"
    if of.bits not in (1, 8, 16, 32, 64):
        raise UnsupportedIR(f"An integer of {of.bits} bits in memory")
    return f"u{max(of.bits, 8)}"


def load_from(low: Lowering, prefix: str, address: Address, of: Type, align: int) -> list[str]:
    """The registers with a value from memory.

    prefix: the instruction up to the state space, such as "ld.volatile".   align: of the address, in bytes.
    """
    code = low.code
    kinds = scalars(of)
    targets: list[str] = []
    for first, count, offset in _accesses(of, align):
        part = kinds[first : first + count]
        size = size_of(part[0])
        if size < 4 and size * count >= 4:  # several in each word
            words = [code.register(_WORD) for _ in range(size * count // 4)]
            _read(low, prefix, address, offset, _WORD, words, gcd(align, offset))
            targets += conversions.regrouped(code, WORD, part[0], words)
            continue
        registers = [code.register("b16" if kind == BOOLEAN else register_type(kind)) for kind in part]
        _read(low, prefix, address, offset, memory_type(part[0]), registers, gcd(align, offset))
        if part[0] == BOOLEAN:
            registers = [conversions.convert(code, "trunc", Integer(8), BOOLEAN, register) for register in registers]
        targets += registers
    return targets


def store_to(low: Lowering, prefix: str, address: Address, of: Type, values: list[str], align: int) -> None:
    """Write a value to memory, whose scalars are in `values`. For the other arguments see `load_from`."""
    code = low.code
    kinds = scalars(of)
    for first, count, offset in _accesses(of, align):
        part, given = kinds[first : first + count], values[first : first + count]
        size = size_of(part[0])
        if size < 4 and size * count >= 4:
            words = [code.in_register(word, _WORD) for word in conversions.regrouped(code, part[0], WORD, given)]
            _write(low, prefix, address, offset, _WORD, words)
            continue
        if part[0] == BOOLEAN:
            given = [conversions.convert(code, "zext", BOOLEAN, Integer(8), value) for value in given]
        kind = "b16" if part[0] == BOOLEAN else register_type(part[0])
        registers = [code.in_register(value, kind) for value in given]
        _write(low, prefix, address, offset, memory_type(part[0]), registers)


def _read(low: Lowering, prefix: str, address: Address, offset: int, kind: str, registers: list[str], at: int) -> None:
    """Write one load of one, two or four registers. at: the alignment of its address in bytes."""
    space, vector, group = _words(address, registers)
    load = None
    if prefix == "ld" and not vector:
        load = Load(address.base, address.offset + offset, address.space or "", kind, at)
    text = f"{prefix}{space}{vector}.{kind} {group}, {address.in_brackets(offset)};"
    low.code.put(text, *registers, load=load, only_registers=prefix == "ld")


def _write(low: Lowering, prefix: str, address: Address, offset: int, kind: str, registers: list[str]) -> None:
    """Write one store of one, two or four registers."""
    space, vector, group = _words(address, registers)
    low.code.put(f"{prefix}{space}{vector}.{kind} {address.in_brackets(offset)}, {group};")


def _words(address: Address, registers: list[str]) -> tuple[str, str, str]:
    """Of a load or store the words for its state space and for the number of registers, and the registers."""
    space = f".{address.space}" if address.space else ""
    if len(registers) == 1:
        return space, "", registers[0]
    return space, f".v{len(registers)}", f"{{{', '.join(registers)}}}"


def _accesses(of: Type, align: int) -> list[tuple[int, int, int]]:
    """The accesses of a value in memory: number of the first scalar, how many, and the offset of the first in bytes.

    An access has at most 16 bytes and lies on a boundary of its own size. It is one scalar, or two or four of the same
    type, or so many small ones as fill one, two or four words.
    """
    kinds, offsets = scalars(of), scalar_offsets(of)
    found, first = [], 0
    while first < len(kinds):
        kind, offset = kinds[first], offsets[first]
        size = size_of(kind)
        count = 1
        for more in (_MOST, 8, 4, 2):
            wanted = more // size
            if wanted < 2 or more > align or offset % more or kind == BOOLEAN or (size < 4 and more < 4):
                continue
            if kinds[first : first + wanted] == [kind] * wanted and all(
                offsets[first + index] == offset + index * size for index in range(wanted)
            ):
                count = wanted
                break
        found.append((first, count, offset))
        first += count
    return found


# ---- Instructions ----


def _prefix(instruction: Instruction, name: str) -> str:
    """The name of a load or store with what is said of its order."""
    if "atomic" in instruction.flags:
        order = _ORDERS.get(instruction.ordering)
        if order is None:
            raise UnsupportedIR(f"An atomic {instruction.op} with the order {instruction.ordering}")
        return f"{name}.{order}.{scope_of(instruction)}"
    return f"{name}.volatile" if "volatile" in instruction.flags else name


def scope_of(instruction: Instruction) -> str:
    """The PTX name of the scope of an atomic or fence."""
    if instruction.scope not in _SCOPES:
        raise UnsupportedIR(f"The scope {instruction.scope}")
    return _SCOPES[instruction.scope]


def load(low: Lowering, instruction: Instruction) -> None:
    """A load; a value of several scalars is read with as few accesses as its alignment allows."""
    of, address = instruction.type, low.address(instruction.operands[0])
    registers = load_from(low, _prefix(instruction, "ld"), address, of, instruction.align or align_of(of))
    pairs = zip(registers, scalars(of), strict=True)
    low.define(instruction, *(Address(value) if isinstance(kind, Pointer) else value for value, kind in pairs))


def store(low: Lowering, instruction: Instruction) -> None:
    """A store; a value of several scalars is written with as few accesses as its alignment allows."""
    value, pointer = instruction.operands
    align = instruction.align or align_of(value.type)
    values, address = low.registers(value), low.address(pointer)
    store_to(low, _prefix(instruction, "st"), address, value.type, values, align)


def alloca(low: Lowering, instruction: Instruction) -> None:
    """A local variable, which lies in the local memory of the function."""
    low.define(instruction, local_variable(low, instruction.element, instruction.align))


def local_variable(low: Lowering, of: Type, align: int = 0) -> Address:
    """The address of room for a value in local memory."""
    size, own = size_and_align(of)
    offset = rounded_up(low.local_bytes, max(own, align))
    low.local_bytes = offset + size
    return Address(low.depot, offset, "local")


def atomicrmw(low: Lowering, instruction: Instruction) -> None:
    """A read-modify-write. The atomics of CUDA, which clang marks seq_cst, are those without an order, as in nvcc."""
    pointer, operand = instruction.operands
    kind = operand.type
    if not isinstance(kind, (Integer, Float)) or kind.bits < 16:
        raise UnsupportedIR(f"An atomic operation on {kind}")
    code, op = low.code, instruction.predicate
    value = code.in_register(low.register(operand), register_type(kind))
    if op in ("sub", "fsub"):
        zero = "0" if op == "sub" else {16: "0x8000", 32: "0f80000000", 64: "0d8000000000000000"}[kind.bits]
        name = f"sub.s{kind.bits}" if op == "sub" else f"sub.rn.f{kind.bits}"
        value, op = code.compute(name, register_type(kind), zero, value), {"sub": "add", "fsub": "fadd"}[op]
    if op not in _ATOMICS:
        raise UnsupportedIR(f"The atomic operation {op}")
    name = f"{_ATOMICS[op]}{kind.bits}"
    if kind.bits == 16:
        name = f"add.noftz.{'bf16' if kind == Float('bfloat') else 'f16'}" if op == "fadd" else name
    low.define(instruction, atomic(low, instruction, name, low.address(pointer), register_type(kind), value))


def atomic(low: Lowering, instruction: Instruction, name: str, address: Address, kind: str, *values: str) -> str:
    """Write an `atom`; the register with what was in memory before it."""
    order = instruction.ordering if instruction.ordering in ("acquire", "release", "acq_rel") else ""
    words = f".{order}.{scope_of(instruction)}" if order else ""
    space = f".{address.space}" if address.space else ""
    target = low.code.register(kind)
    operands = ", ".join([target, address.in_brackets(), *values])
    low.code.put(f"atom{words}{space}.{name} {operands};", target)
    return target


def cmpxchg(low: Lowering, instruction: Instruction) -> None:
    """An atomic compare-and-swap; its results are what was in memory and whether it was as expected."""
    pointer, expected, new = instruction.operands
    kind = expected.type
    if not isinstance(kind, (Integer, Pointer)) or kind.bits < 16:
        raise UnsupportedIR(f"An atomic comparison of {kind}")
    values = [low.in_registers(operand)[0] for operand in (expected, new)]
    before = atomic(low, instruction, f"cas.b{kind.bits}", low.address(pointer), register_type(kind), *values)
    same = low.code.compute(f"setp.eq.s{kind.bits}", "pred", before, values[0])
    low.define(instruction, Address(before) if isinstance(kind, Pointer) else before, same)


def fence(low: Lowering, instruction: Instruction) -> None:
    """A fence between the memory accesses before and after it."""
    order = "sc" if instruction.ordering == "seq_cst" else "acq_rel"
    low.code.put(f"fence.{order}.{scope_of(instruction)};")


def copy(low: Lowering, to: Address, source: Address, of: Type, align: int) -> None:
    """Copy a value from one place in memory to another."""
    store_to(low, "st", to, of, load_from(low, "ld", source, of, align), align)


def bytes_type(count: int, align: int) -> Type:
    """A type of `count` bytes whose scalars are as wide as their alignment allows."""
    step = next(size for size in (8, 4, 2, 1) if size <= align and count % size == 0)
    return Struct((Integer(8 * step),) * (count // step))
