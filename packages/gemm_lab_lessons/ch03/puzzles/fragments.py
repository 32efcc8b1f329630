"""The puzzles of notebook 03: who holds which element of a matrix, and who names which row for `ldmatrix`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product

import numpy as np

from gemm_lab.notebook.puzzle import Right, register_law
from gpu_simulator.hardware.mma_layouts import Mma, fragment_load, ldmatrix

LANES = (0, 1, 4, 5, *range(32))
_PAIRS = ("first", "second", "third", "fourth")


def _once(*cases: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The cases in their order, each once."""
    return list(dict.fromkeys(case for some in cases for case in some))


@register_law(
    "03_toy_lane",
    title="The lane of an element",
    task="Write toy_lane(row, col): the lane, 0 to 7, that holds the element of the 8 × 8 toy.",
    hint="Four lanes share a row, two elements each: which of the four is it for column 5? Rows 0, 2, 4 and 6 belong "
    "to lanes 0 to 3, the other rows to lanes 4 to 7.",
    cases=_once([(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (5, 5)], product(range(8), range(8))),
    tried="elements tried",
)
def toy_lane(row: int, col: int) -> Right:
    group = "lanes 0 to 3" if row % 2 == 0 else "lanes 4 to 7"
    why = f"Row {row} belongs to {group}, and column {col} is in its {_PAIRS[col // 2]} pair of elements."
    return row % 2 * 4 + col // 2, why


@register_law(
    "03_toy_holder",
    title="Lane, register and half",
    task="Write toy_holder(row, col): the tuple (lane, register, half) that holds the element of the 8 × 8 toy.",
    hint="A lane meets a row of its own every two rows, and each of them goes into its next register. The half is 0 "
    "for the left element of a pair and 1 for the right one.",
    cases=_once([(0, 0), (0, 1), (2, 0), (1, 3), (7, 6)], product(range(8), range(8))),
    tried="elements tried",
)
def toy_holder(row: int, col: int) -> Right:
    lane = row % 2 * 4 + col // 2
    why = f"Row {row} is the {_PAIRS[row // 2]} row of lane {lane}, and column {col} is {_side(col)} of its pair."
    return (lane, row // 2, col % 2), why


def _side(col: int) -> str:
    return "the right one" if col % 2 else "the left one"


@register_law(
    "03_holder",
    title="Who holds A?",
    task="Write holder(row, k): the tuple (lane, register, half) that holds A[row, k] of an m16n8k8, 16 × 8.",
    hint="As in the toy, four lanes share a row of eight elements. But now 32 lanes reach eight rows far, and not two: "
    "lane = 4 · (row mod 8) + …, and the register says whether it is the upper or the lower eight rows.",
    cases=_once([(0, 0), (0, 1), (1, 0), (8, 0), (13, 6)], product(range(16), range(8))),
    tried="elements tried",
    facts=[("model", "the layout of the PTX manual, as the simulator uses it")],
)
def holder(row: int, k: int) -> Right:
    part = "upper" if row < 8 else "lower"
    why = f"Row {row} is row {row % 8} of the {part} eight rows, and column {k} is {_side(k)} of pair {k // 2}."
    return Mma("m16n8k8", "f16").holder("A", row, k), why


@register_law(
    "03_a_element",
    title="What a lane holds of A",
    task="Write a_element(lane, register, half): the tuple (row, k) of the element of A that is there, for m16n8k16, "
    "where A is 16 × 16 and a lane has four registers.",
    hint="Registers 0 and 1 are those of m16n8k8. Registers 2 and 3 hold the same rows, eight columns further on. So "
    "one bit of the register number moves down, and the other one moves to the right.",
    cases=_once(product(LANES, range(4), range(2))),
    tried="elements tried",
)
def a_element(lane: int, register: int, half: int) -> Right:
    return _held("A", lane, register, half), _sharing("row", lane)


@register_law(
    "03_b_element",
    title="What a lane holds of B",
    task="Write b_element(lane, register, half): the tuple (k, col) of the element of B that is there, for m16n8k16, "
    "where B is 16 × 8 and a lane has two registers.",
    hint="Read A's rule with rows and columns exchanged: four lanes share a column, and a register holds two elements "
    "of it, one below the other. The second register is eight further along k.",
    cases=_once(product(LANES, range(2), range(2))),
    tried="elements tried",
)
def b_element(lane: int, register: int, half: int) -> Right:
    return _held("B", lane, register, half), _sharing("column", lane)


@register_law(
    "03_d_element",
    title="What a lane holds of D",
    task="Write d_element(lane, number): the tuple (row, col) of sum number 0 to 3 of a lane, where D is 16 × 8.",
    hint="D is shared out like A of m16n8k8, but a sum in FP32 fills a whole register, so a pair takes two registers: "
    "numbers 0 and 1 are side by side in the upper eight rows, 2 and 3 in the lower eight.",
    cases=_once(product(LANES, range(4))),
    tried="sums tried",
)
def d_element(lane: int, number: int) -> Right:
    return _held("D", lane, number, 0), f"Lane {lane} belongs to row {lane // 4} of each eight rows."


@cache
def _coordinates(operand: str) -> np.ndarray:
    return Mma("m16n8k16", "f16").coordinates(operand)


def _held(operand: str, lane: int, register: int, half: int) -> tuple[int, ...]:
    """(row, column) of the element that is there, for m16n8k16."""
    return tuple(_coordinates(operand)[lane, register, half].tolist())


def _sharing(line: str, lane: int) -> str:
    return f"Lane {lane} is number {lane % 4} of the four lanes that share {line} {lane // 4} of each eight."


@register_law(
    "03_pack",
    title="Two halves in a register",
    task="Write pack(low, high): the number from 0 to 2³² - 1 that a register holds if its lower 16 bits are those of "
    "`low` and its upper 16 bits are those of `high`.",
    hint="Shifting a number to the left by 16 bits, x << 16, makes room for 16 more. Multiplying by 65,536 does it, "
    "too.",
    cases=[(0, 0), (1, 0), (0, 1), (0x3C00, 0x4000), (0xFFFF, 0), (0, 0xFFFF), (0xABCD, 0x1234)],
    tried="pairs tried",
    facts=[("1.0 and 2.0 in FP16", "0x40003c00")],
)
def pack(low: int, high: int) -> Right:
    both = low | high << 16
    return both, f"In hexadecimal, {high:04x} and {low:04x} together are {both:08x}."


@register_law(
    "03_named",
    title="The row that a lane names",
    task="Write named(lane): the tuple (row, k) where the row of eight elements begins that this lane names, so that "
    "one ldmatrix.x4 loads A of m16n8k16 from a tile of 16 × 16 elements.",
    hint="Lanes 0 to 7 name the rows of matrix 0, which goes into register 0; lanes 8 to 15 those of matrix 1, and so "
    "on. Where in A do the elements of register 1 begin? And those of register 2?",
    cases=_once(product((0, 1, 8, 16, 24, *LANES))),
    tried="lanes tried",
)
def named(lane: int) -> Right:
    load = fragment_load(Mma("m16n8k16", "f16"), "A")
    why = f"Lane {lane} names row {lane % 8} of matrix {lane // 8}, which goes into register {lane // 8}."
    return (int(load.rows[lane]), int(load.chunks[lane]) * 8), why


@register_law(
    "03_received",
    title="What ldmatrix hands out",
    task="Write received(lane): the two elements, as a list of two tuples (row, col), that ldmatrix gives to this lane "
    "of each 8 × 8 matrix.",
    hint="Eight elements of a row are handed out to four lanes, two each, as in the fragments of A.",
    cases=_once(product(LANES)),
    tried="lanes tried",
)
def received(lane: int) -> Right:
    return _pair(lane, "row")


@register_law(
    "03_transposed",
    title="What ldmatrix.trans hands out",
    task="Write transposed(lane): the two elements, as a list of two tuples (row, col), that ldmatrix.trans gives to "
    "this lane of each 8 × 8 matrix.",
    hint="The lane gets what it would get from the transposed matrix. So exchange rows and columns of the answer "
    "before: the pair now lies one below the other.",
    cases=_once(product(LANES)),
    tried="lanes tried",
)
def transposed(lane: int) -> Right:
    return _pair(lane, "column")


def _pair(lane: int, line: str) -> Right:
    """The two elements of a row that ldmatrix gives to a lane, or of a column with .trans."""
    given = ldmatrix(1, line == "column")[1][lane, 0, :, 1:]
    why = f"Lane {lane} is number {lane % 4} of the four lanes that share {line} {lane // 4}."
    return [(row, col) for row, col in given.tolist()], why
