"""Reads the form of a `wgmma.mma_async` instruction, for the forms that the simulator executes.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions: wgmma.mma_async".
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from gpu_simulator.ptx.ir import Immediate, Instruction, Register, Vector
from gpu_simulator.ptx.types import register_code

M, WARPS, THREADS = 64, 4, 128  # rows of one instruction; warps and threads of a warpgroup
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8}
_FLOATS = {"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "e4m3": ("f16", "f32"), "e5m2": ("f16", "f32")}
_PAIRS = ({"e4m3", "e5m2"}, {"s8", "u8"})  # sets of types in which A and B may differ
_INTEGER_N = (8, 16, 24, 32, *range(48, 257, 16))
K_BYTES = 32  # bytes along K that one instruction multiplies


class WgmmaForm(NamedTuple):
    """The form of one instruction.

    d, a: numbers of the registers of the accumulators and of A (empty where A is in shared memory).
    form: as for the fragments of `mma.sync` m16n8: m, n, k, types of A, B and the accumulator, bits of an element.
    major_a, major_b: "k" or "mn".   sign: 1 or -1, by which the product is multiplied.
    """

    n: int
    d: tuple[int, ...]
    a: tuple[int, ...]
    form: tuple
    major_a: str
    major_b: str
    sign: int

    @property
    def k(self) -> int:
        return self.form[2]

    @property
    def element_bytes(self) -> int:
        return self.form[6] // 8

    @property
    def shape(self) -> str:
        return f"m{M}n{self.n}k{self.k}"


class NoSuchForm(ValueError):
    """A wgmma that does not exist or is not executed here; the message says what is wrong."""


def kind_of(item: Instruction) -> WgmmaForm:
    """The form of a wgmma.mma_async. Raises `NoSuchForm` if it does not exist or is not executed here."""
    parts = item.parts
    if "sp" in parts:
        raise NoSuchForm("products with a sparse A are not supported; mma.sp is")
    m = re.fullmatch(r"m64n(\d+)k(\d+)", parts[4]) if len(parts) == 8 else None
    if m is None or parts[1:4] != ("mma_async", "sync", "aligned"):
        raise NoSuchForm("m64nNk16 of f16 and bf16, m64nNk8 of tf32 and m64nNk32 of 8-bit types are known here")
    n, k, (accumulator, a, b) = int(m[1]), int(m[2]), parts[5:]
    if a not in BITS or (a != b and {a, b} not in _PAIRS) or accumulator not in _FLOATS.get(a, ("s32",)):
        raise NoSuchForm(f"{a} and {b} into {accumulator} is no combination of types")
    if k != 8 * K_BYTES // BITS[a]:
        raise NoSuchForm(f"k is {8 * K_BYTES // BITS[a]} for {a}")
    if not 8 <= n <= 256 or n % 8:
        raise NoSuchForm(f"n is a multiple of 8 up to 256, not {n}")
    if accumulator == "s32" and n not in _INTEGER_N:
        raise NoSuchForm(f"with integers n is 8, 16, 24, 32 or a multiple of 16, not {n}")
    return _operands(item, n, (16, 8, k, a, b, accumulator, BITS[a]))


def _operands(item: Instruction, n: int, form: tuple) -> WgmmaForm:
    accumulator, a_type = form[5], form[3]
    d = _registers(item.operands[0], n // 4 if accumulator == "f16" else n // 2, "accumulator")
    first = item.operands[1]
    a = _registers(first, 4, "A") if type(first) is Vector else ()
    rest = item.operands[4:]
    if not all(type(operand) is Immediate for operand in rest):
        raise NoSuchForm("imm-scale and imm-trans are constants")
    signs, majors = [1, 1], ["k", "k"]
    if accumulator != "s32":
        values = [int(operand.text, 0) for operand in rest]
        transposable = BITS[a_type] == 16
        if len(values) != 2 + transposable * (1 if a else 2):
            raise NoSuchForm(f"{len(values)} constants behind scale-d")
        signs, turns = values[:2], values[2:]
        if not set(signs) <= {1, -1} or not set(turns) <= {0, 1}:
            raise NoSuchForm("imm-scale is 1 or -1, imm-trans 0 or 1")
        majors = ["mn" if turn else "k" for turn in ([0] * (2 - len(turns)) + turns)]
    elif rest:
        raise NoSuchForm("the integer forms end with scale-d")
    return WgmmaForm(n, d, a, form, majors[0], majors[1], signs[0] * signs[1])


def _registers(operand: object, count: int, what: str) -> tuple[int, ...]:
    items = operand.items if type(operand) is Vector else ()
    if len(items) != count or not all(type(item) is Register for item in items):
        raise NoSuchForm(f"the {what} takes {count} registers here, and {len(items)} stand there")
    if any(register_code(item.type) not in ("u4", "f4") for item in items):
        raise NoSuchForm(f"the {what} takes registers of 32 bits")
    return tuple(item.index for item in items)


# ---- What the rest of the program has to know ----


def is_multiply(item: Instruction) -> bool:
    """Whether an instruction is a wgmma product."""
    return item.family == "wgmma" and "mma_async" in item.parts


class Registers(NamedTuple):
    """The registers of a program that its wgmma instructions use.

    results: the accumulators.   operands: the accumulators and A.
    sources: the operands, and all registers that plain moves copy into them.
    copies: sources, other than accumulators, that plain moves may have filled with the result of a wgmma. Compilers
    rename accumulators in this way between two wgmma.
    """

    results: dict[int, Register]
    operands: frozenset[int]
    sources: frozenset[int]
    copies: dict[int, Register]


def plain_move(item: Instruction) -> tuple[Register, Register] | None:
    """(destination, source) of a mov without a guard between two registers; None for anything else."""
    if item.family != "mov" or item.guard is not None or len(item.operands) != 2:
        return None
    return item.operands if all(type(operand) is Register for operand in item.operands) else None


def registers_of(items: list[Instruction]) -> Registers:
    """The registers that the wgmma instructions among `items` use. items: all instructions of a program."""
    results: dict[int, Register] = {}
    operands: set[int] = set()
    for item in filter(is_multiply, items):
        for operand in item.operands[:2]:
            operands.update(r.index for r in getattr(operand, "items", ()) if type(r) is Register)
        results.update((r.index, r) for r in getattr(item.operands[0], "items", ()) if type(r) is Register)
    moves = [move for move in map(plain_move, items) if move is not None] if operands else []
    sources, reached = set(operands), dict(results)
    while found := [source.index for to, source in moves if to.index in sources and source.index not in sources]:
        sources.update(found)
    while fresh := [to for to, source in moves if source.index in reached and to.index not in reached]:
        reached.update((to.index, to) for to in fresh)
    copies = {index: register for index, register in reached.items() if index in sources and index not in results}
    return Registers(results, frozenset(operands), frozenset(sources), copies)


def with_results(items: list) -> list:
    """The items, with all accumulators added as an operand of each wait_group, because they get their values there."""
    found = registers_of([item for item in items if isinstance(item, Instruction)])
    if not found.results:
        return items
    results = Vector((*found.results.values(), *found.copies.values()))
    return [
        replace(item, operands=(item.operands[0], results))
        if isinstance(item, Instruction) and item.family == "wgmma" and "wait_group" in item.parts
        else item
        for item in items
    ]
