"""What the translation of a function knows while it goes: the operands in PTX of every value so far."""

from __future__ import annotations

import re
from collections.abc import Mapping

from llvm_ir_to_ptx.code import Code, register_type
from llvm_ir_to_ptx.lowering import addresses, conversions, floats, integers
from llvm_ir_to_ptx.lowering.addresses import SPACES, Address
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.module import Function, Module
from llvm_ir_to_ptx.reading.types import Float, Integer, Pointer, Scalar, Type, scalars
from llvm_ir_to_ptx.reading.values import (
    Aggregate,
    Binary,
    Conversion,
    Element,
    Global,
    Local,
    Number,
    Typed,
    Zero,
)
from llvm_ir_to_ptx.unsupported import UnsupportedIR

# A scalar: a register or constant, or for a pointer an address.
Operand = str | Address


def symbol(name: str) -> str:
    """A name of LLVM IR as one of PTX, which has no dots in names."""
    return re.sub(r"[^\w$]", "_$_", name)


class Lowering:
    """The translation of one function.

    values: the operands of each local value, one for each of its scalars.   spaces: the state space of each pointer
    that several places give a value, or None.   phis: of each block, the phi instructions that it begins with.
    block, following: the labels of the block that is being translated and of the next one.
    local_bytes: the size of the function's local memory so far.
    """

    def __init__(self, module: Module, function: Function, number: int, arch: str):
        self.module, self.function, self.number, self.arch = module, function, number, arch
        self.code = Code()
        self.values: dict[str, list[Operand]] = {}
        self.spaces: Mapping[str, str | None] = {}
        self.phis: dict[str, list[Instruction]] = {}
        self.block = self.following = ""
        self.local_bytes = 0
        self.labels = 0
        self.calls = 0

    @property
    def name(self) -> str:
        """The name of the function in PTX."""
        return symbol(self.function.name)

    @property
    def depot(self) -> str:
        """The name of the function's local memory."""
        return f"__local_depot{self.number}"

    def new_label(self) -> str:
        """A label that no block has."""
        self.labels += 1
        return f"$L__edge{self.number}_{self.labels}"

    def label_of(self, block: str) -> str:
        """The label of a block."""
        return f"$L__BB{self.number}_{symbol(block)}"

    def define(self, instruction: Instruction, *operands: Operand) -> None:
        """Note the operands of the value that an instruction defines."""
        if instruction.name is not None:
            self.values[instruction.name] = list(operands)

    # ---- Operands ----

    def operands(self, of: Typed) -> list[Operand]:
        """The operands of a value, one for each of its scalars."""
        kind, value = of
        if isinstance(value, Local):
            if value.name not in self.values:
                raise UnsupportedIR(f"The value %{value.name}, which is not known where it is used,")
            return self.values[value.name]
        if isinstance(value, Zero):
            return [_zero(scalar) for scalar in scalars(kind)]
        if isinstance(value, Aggregate):
            return [operand for part in value.parts for operand in self.operands(part)]
        if isinstance(value, Number):
            if isinstance(kind, Integer):
                return [integers.constant(kind, value.value)]
            if isinstance(kind, Float):
                return [floats.constant(kind, value.value)]
        if isinstance(value, Global):
            return [self.variable(value.name)]
        if isinstance(value, Element):
            return [self.element(value.element, value.operands)]
        if isinstance(value, Conversion):
            return [self.converted(value.op, value.of, value.to)]
        if isinstance(value, Binary) and isinstance(kind, Integer):
            pair = self.register(value.left), self.register(value.right)
            return [integers.binary(self.code, value.op, kind, *pair)]
        raise UnsupportedIR(f"The constant {value} of type {kind}")

    def registers(self, of: Typed) -> list[str]:
        """The operands of a value as registers or constants; pointers as generic addresses."""
        return [self.plain(operand) for operand in self.operands(of)]

    def plain(self, operand: Operand) -> str:
        """An operand as a register or constant; a pointer as its generic address."""
        return addresses.generic(self.code, operand) if isinstance(operand, Address) else operand

    def register(self, of: Typed) -> str:
        """The only operand of a scalar as a register or constant."""
        return self.registers(of)[0]

    def address(self, of: Typed) -> Address:
        """The operand of a pointer."""
        found = self.operands(of)[0]
        return found if isinstance(found, Address) else Address(found, 0, SPACES.get(_space(of.type)))

    def variable(self, name: str) -> Address:
        """The address of a variable or function of the module."""
        if name in self.module.functions:
            return Address(self.code.compute("mov.u64", "b64", symbol(name)))
        found = self.module.variables.get(name)
        if found is None:
            raise UnsupportedIR(f"The address of {name}")
        return Address(symbol(name), 0, SPACES.get(found.space, "global"))

    def element(self, of: Type, operands: tuple[Typed, ...]) -> Address:
        """The address that a getelementptr computes."""
        start, *indices = operands
        steps = []
        for index in indices:
            if not isinstance(index.type, Integer):
                raise UnsupportedIR(f"An index of type {index.type}")
            steps.append((index.type, self.register(index)))
        return addresses.element(self.code, self.address(start), of, steps)

    def converted(self, op: str, of: Typed, to: Type) -> Operand:
        """A scalar converted by an operation of LLVM."""
        if op == "addrspacecast" or (isinstance(of.type, Pointer) and isinstance(to, Pointer)):
            address, space = self.address(of), SPACES.get(_space(to))
            return addresses.in_space(self.code, address, space) if space else address
        if op == "inttoptr" and isinstance(of.type, Integer):
            number = conversions.convert(self.code, "zext", of.type, Integer(64), self.register(of))
            return Address(number, 0, SPACES.get(_space(to)))
        if op in ("ptrtoint", "ptrtoaddr") and isinstance(to, Integer):
            address = self.address(of)
            own = _space(of.type) != 0
            number = addresses.in_register(self.code, address) if own else addresses.generic(self.code, address)
            return conversions.convert(self.code, "trunc", Integer(64), to, number)
        (source,), (target,) = scalars(of.type), scalars(to)
        return conversions.convert(self.code, op, source, target, self.register(of))

    def in_registers(self, of: Typed) -> list[str]:
        """The operands of a value, each in a register."""
        pairs = zip(self.registers(of), scalars(of.type), strict=True)
        return [self.code.in_register(operand, register_type(scalar)) for operand, scalar in pairs]


def _space(of: Type) -> int:
    return of.space if isinstance(of, Pointer) else 0


def _zero(of: Scalar) -> Operand:
    if isinstance(of, Pointer):
        return Address("0", 0, SPACES.get(of.space))
    return floats.constant(of, 0) if isinstance(of, Float) else "0"
