"""The puzzles of notebook 03: who holds which element of a matrix, and who names which row for `ldmatrix`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import expect, expect_all
from gpu_simulator.hardware.mma_layouts import Mma, fragment_load, ldmatrix

LANES = range(32)
_PART = {  # what a register of m16n8k16 holds
    "A": ("the upper left quarter", "the lower left quarter", "the upper right quarter", "the lower right quarter"),
    "B": ("the upper eight rows", "the lower eight rows"),
}
_PAIRS = ("first", "second", "third", "fourth")


@register(
    "03_toy_lane",
    title="The lane of an element",
    task="Write toy_lane(row, col): the lane, 0 to 7, that holds the element of the 8 × 8 toy.",
    hint="Four lanes share a row, two elements each: which of the four is it for column 5? Rows 0, 2, 4 and 6 belong "
    "to lanes 0 to 3, the other rows to lanes 4 to 7.",
)
def toy_lane(answer: Callable[[int, int], int]) -> Facts:
    def why(row: int, col: int) -> str:
        group = "lanes 0 to 3" if row % 2 == 0 else "lanes 4 to 7"
        return f"Row {row} belongs to {group}, and column {col} is in its {_PAIRS[col // 2]} pair of elements."

    places = [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (5, 5)] + [(row, col) for row in range(8) for col in range(8)]
    expect_all(answer, [((row, col), row % 2 * 4 + col // 2) for row, col in places], why)
    return [("elements tried", "64")]


@register(
    "03_toy_holder",
    title="Lane, register and half",
    task="Write toy_holder(row, col): the tuple (lane, register, half) that holds the element of the 8 × 8 toy.",
    hint="A lane meets a row of its own every two rows, and each of them goes into its next register. The half is 0 "
    "for the left element of a pair and 1 for the right one.",
)
def toy_holder(answer: Callable[[int, int], tuple[int, int, int]]) -> Facts:
    def why(row: int, col: int) -> str:
        mine = f"lane {row % 2 * 4 + col // 2}"
        return f"Row {row} is the {_PAIRS[row // 2]} row of {mine}, and column {col} is {_side(col)} of its pair."

    places = [(0, 0), (0, 1), (2, 0), (1, 3), (7, 6)] + [(row, col) for row in range(8) for col in range(8)]
    expect_all(answer, [((r, c), (r % 2 * 4 + c // 2, r // 2, c % 2)) for r, c in places], why)
    return [("elements tried", "64")]


def _side(col: int) -> str:
    return "the right one" if col % 2 else "the left one"


@register(
    "03_holder",
    title="Who holds A?",
    task="Write holder(row, k): the tuple (lane, register, half) that holds A[row, k] of an m16n8k8, 16 × 8.",
    hint="As in the toy, four lanes share a row of eight elements. But now 32 lanes reach eight rows far, and not two: "
    "lane = 4 · (row mod 8) + …, and the register says whether it is the upper or the lower eight rows.",
)
def holder(answer: Callable[[int, int], tuple[int, int, int]]) -> Facts:
    shape = Mma("m16n8k8", "f16")

    def why(row: int, k: int) -> str:
        part = "upper" if row < 8 else "lower"
        return f"Row {row} is row {row % 8} of the {part} eight rows, and column {k} is {_side(k)} of pair {k // 2}."

    places = [(0, 0), (0, 1), (1, 0), (8, 0), (13, 6)] + [(row, k) for row in range(16) for k in range(8)]
    expect_all(answer, [((row, k), shape.holder("A", row, k)) for row, k in places], why)
    return [("elements tried", "128"), ("model", "the layout of the PTX manual, as the simulator uses it")]


@register(
    "03_a_element",
    title="What a lane holds of A",
    task="Write a_element(lane, register, half): the tuple (row, k) of the element of A that is there, for m16n8k16, "
    "where A is 16 × 16 and a lane has four registers.",
    hint="Registers 0 and 1 are those of m16n8k8. Registers 2 and 3 hold the same rows, eight columns further on. So "
    "one bit of the register number moves down, and the other one moves to the right.",
)
def a_element(answer: Callable[[int, int, int], tuple[int, int]]) -> Facts:
    return _elements(answer, "A", 4)


@register(
    "03_b_element",
    title="What a lane holds of B",
    task="Write b_element(lane, register, half): the tuple (k, col) of the element of B that is there, for m16n8k16, "
    "where B is 16 × 8 and a lane has two registers.",
    hint="Read A's rule with rows and columns exchanged: four lanes share a column, and a register holds two elements "
    "of it, one below the other. The second register is eight further along k.",
)
def b_element(answer: Callable[[int, int, int], tuple[int, int]]) -> Facts:
    return _elements(answer, "B", 2)


@register(
    "03_d_element",
    title="What a lane holds of D",
    task="Write d_element(lane, number): the tuple (row, col) of sum number 0 to 3 of a lane, where D is 16 × 8.",
    hint="D is shared out like A of m16n8k8, but a sum in FP32 fills a whole register, so a pair takes two registers: "
    "numbers 0 and 1 are side by side in the upper eight rows, 2 and 3 in the lower eight.",
)
def d_element(answer: Callable[[int, int], tuple[int, int]]) -> Facts:
    held = Mma("m16n8k16", "f16").coordinates("D")
    for lane in (0, 1, 4, 5, *LANES):
        for number in range(4):
            row, col = (int(x) for x in held[lane, number, 0])
            expect(answer, (lane, number), (row, col), f"Lane {lane} belongs to row {lane // 4} of each eight rows.")
    return [("sums tried", "128")]


def _elements(answer: Callable[..., Any], operand: str, registers: int) -> Facts:
    held = Mma("m16n8k16", "f16").coordinates(operand)
    along = "row" if operand == "A" else "column"
    for lane in (0, 1, 4, 5, *LANES):
        for number in range(registers):
            for half in range(2):
                wanted = tuple(int(x) for x in held[lane, number, half])
                why = (
                    f"Lane {lane} is number {lane % 4} of the four lanes that share {along} {lane // 4} of each eight."
                )
                expect(answer, (lane, number, half), wanted, why)
    return [("elements tried", str(32 * registers * 2))]


@register(
    "03_pack",
    title="Two halves in a register",
    task="Write pack(low, high): the number from 0 to 2³² - 1 that a register holds if its lower 16 bits are those of "
    "`low` and its upper 16 bits are those of `high`.",
    hint="Shifting a number to the left by 16 bits, x << 16, makes room for 16 more. Multiplying by 65,536 does it, "
    "too.",
)
def pack(answer: Callable[[int, int], int]) -> Facts:
    cases = [(0, 0), (1, 0), (0, 1), (0x3C00, 0x4000), (0xFFFF, 0), (0, 0xFFFF), (0xABCD, 0x1234)]
    for low, high in cases:
        wanted = low | high << 16
        expect(answer, (low, high), wanted, f"In hexadecimal, {high:04x} and {low:04x} together are {wanted:08x}.")
    return [("pairs tried", str(len(cases))), ("1.0 and 2.0 in FP16", "0x40003c00")]


@register(
    "03_named",
    title="The row that a lane names",
    task="Write named(lane): the tuple (row, k) where the row of eight elements begins that this lane names, so that "
    "one ldmatrix.x4 loads A of m16n8k16 from a tile of 16 × 16 elements.",
    hint="Lanes 0 to 7 name the rows of matrix 0, which goes into register 0; lanes 8 to 15 those of matrix 1, and so "
    "on. Where in A do the elements of register 1 begin? And those of register 2?",
)
def named(answer: Callable[[int], tuple[int, int]]) -> Facts:
    load = fragment_load(Mma("m16n8k16", "f16"), "A")

    def why(lane: int) -> str:
        return f"Lane {lane} names row {lane % 8} of matrix {lane // 8}, which goes into register {lane // 8}."

    rows = [(int(row), int(chunk) * 8) for row, chunk in zip(load.rows, load.chunks, strict=True)]
    expect_all(answer, [((lane,), rows[lane]) for lane in (0, 1, 8, 16, 24, *LANES)], why)
    return [("lanes tried", "32")]


@register(
    "03_received",
    title="What ldmatrix hands out",
    task="Write received(lane): the two elements, as a list of two tuples (row, col), that ldmatrix gives to this lane "
    "of each 8 × 8 matrix.",
    hint="Eight elements of a row are handed out to four lanes, two each, as in the fragments of A.",
)
def received(answer: Callable[[int], list[tuple[int, int]]]) -> Facts:
    return _received(answer, False)


@register(
    "03_transposed",
    title="What ldmatrix.trans hands out",
    task="Write transposed(lane): the two elements, as a list of two tuples (row, col), that ldmatrix.trans gives to "
    "this lane of each 8 × 8 matrix.",
    hint="The lane gets what it would get from the transposed matrix. So exchange rows and columns of the answer "
    "before: the pair now lies one below the other.",
)
def transposed(answer: Callable[[int], list[tuple[int, int]]]) -> Facts:
    return _received(answer, True)


def _received(answer: Callable[..., Any], trans: bool) -> Facts:
    line = "column" if trans else "row"
    given = ldmatrix(1, trans)[1][:, 0, :, 1:]
    for lane in (0, 1, 4, 5, *LANES):
        pair = [(int(row), int(col)) for row, col in given[lane]]
        why = f"Lane {lane} is number {lane % 4} of the four lanes that share {line} {lane // 4}."
        expect(answer, (lane,), pair, why)
    return [("lanes tried", "32")]
