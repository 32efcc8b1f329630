"""Puzzles about numbers of eight bits, and about the sum that Hopper's tensor cores make of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import ml_dtypes
import numpy as np

from gemm_lab.notebook.puzzle import Facts, Right, register, register_law
from gemm_lab.notebook.trying import Missed, call
from gemm_lab_lessons.ch13.sums import BLOCK, add_block

E4M3 = ml_dtypes.float8_e4m3fn


@register(
    "13_decode",
    title="A number in eight bits",
    task="Write decode(byte): the number that a byte, 0 to 255, stands for in E4M3. Its highest bit is the sign, then "
    "come four bits of exponent e and three of fraction f. For e > 0 it is ± (1 + f / 8) · 2^(e - 7), for e = 0 it is "
    "± (f / 8) · 2^-6, and with all seven bits set it is no number, math.nan.",
    hint="byte >> 7 is the sign, byte >> 3 & 15 the exponent, byte & 7 the fraction. Only one pattern of the lower "
    "seven bits is no number; there is no infinity.",
)
def decode(answer: Callable[[int], float]) -> Facts:
    right = np.arange(256, dtype=np.uint8).view(E4M3).astype(np.float64)
    for byte in (0x38, 0x39, 0x40, 0xB8, 0x08, 0x07, 0x01, 0x7E, 0x7F, *range(256)):
        value, wanted = call(answer, byte), float(right[byte])
        if not isinstance(value, (int, float)) or not (value == wanted or math.isnan(value) and math.isnan(wanted)):
            e, f = byte >> 3 & 15, byte & 7
            raise Missed(
                f"decode(0b{byte:08b}) returned {value!r}; expected {wanted:g}. The sign is {byte >> 7}, "
                f"e is {e} and f is {f}."
            )
    return [("bytes tried", "256"), ("largest", "448"), ("smallest above zero", "2^-9")]


Sum = tuple[float, list[float], list[float], int]  # c, a, b and bits of an `add`


def _sums() -> Iterator[Sum]:
    yield from ((0.0, [1.0], [1.0], 13), (2.0**14, [1.0], [1.0], 13), (2.0**14, [2.0], [1.0], 13))
    yield from ((0.0, [64.0, 1.0], [256.0, 1.0], 13), (-(2.0**14), [-1.0], [1.0], 13), (0.0, [1.0] * 3, [1.0] * 3, 0))
    yield from ((0.0, [1.5, 1.25], [1.5, -1.25], 2), (1.0, [-1.0], [1.0], 13))
    yield from ((2.0**-12, [0.0], [448.0], 13), (0.0, [0.0, 2.0**-9], [448.0, 2.0**-9], 13))
    random = np.random.default_rng(13)
    for bits in (13, 13, 13, 20, 5):
        drawn = (random.standard_normal((2, BLOCK)) * 2.0 ** random.integers(-3, 4, (2, BLOCK))).astype(E4M3)
        a, b = drawn.astype(np.float64).tolist()
        yield 0.0, a, b, bits
        yield float(random.integers(-(2**13), 2**13)) / 4, a, b, bits


@register_law(
    "13_add",
    title="The sum of a tensor core",
    task="Write add(c, a, b, bits): what is in the accumulator after one step, if c was in it and the products "
    "a[0] · b[0], a[1] · b[1] … are added. The exponent of a product is exponent(a[i]) + exponent(b[i]), that of c is "
    "exponent(c, -126). Take the largest of all these, `top`; a product that is 0 does not count. Cut c and every "
    "product to a multiple of 2^(top - bits), towards zero, and add what is left. Cut the sum in the same way, with "
    "its own exponent.",
    hint="With step = 2.0 ** (top - bits), int(x / step) * step cuts x towards zero. Everything that is cut is then a "
    "multiple of step, and Python adds it exactly.",
    cases=list(_sums()),
    tried="sums tried",
    facts=[("their products", f"up to {BLOCK}")],
)
def add(c: float, a: list[float], b: list[float], bits: int) -> Right:
    exponents = [_exponent(x, -6) + _exponent(y, -6) for x, y in zip(a, b, strict=True) if x and y]
    top = max([*exponents, _exponent(c, -126)])
    why = f"The largest exponent is {top}, so multiples of 2^{top - bits} are kept of c and of each product."
    return _added(c, a, b, bits), why


def _added(c: float, a: list[float], b: list[float], bits: int) -> float:
    row, column = np.array([a], np.float32), np.array(b, np.float32)[:, None]
    return float(add_block(np.full((1, 1), c, np.float32), row, column, bits)[0, 0])


def _exponent(x: float, least: int) -> int:
    return max(math.frexp(x)[1] - 1, least) if x else least


@register_law(
    "13_fails",
    title="The K at which it fails",
    task="Every element of a row of A is x, every element of a column of B is y, both above 0. Write "
    "fails(x, y, bits, most): the smallest K, a multiple of 32, at which the accumulator of so many bits is too small "
    "by more than the share `most` of the exact sum K · x · y. It begins at 0 and takes 32 products in each step.",
    hint="Call your add in a loop, always with 32 times x and 32 times y, and compare with the exact sum after each "
    "step. Some inputs take thousands of steps.",
    cases=[
        (1.0, 1.0, 13, 0.01),
        (1.5, 1.0, 13, 0.01),
        (1.5, 1.25, 13, 0.01),
        (0.0625, 0.0625, 13, 0.1),
        (1.0, 1.0, 10, 0.01),
        (1.875, 1.875, 13, 0.001),
        (1.0, 1.0, 7, 0.2),
    ],
    tried="cases tried",
    facts=[("equal products with 13 bits", "fail at K = 16,576")],
)
def fails(x: float, y: float, bits: int, most: float) -> Right:
    there, k = 0.0, 0
    while k * x * y - there <= most * k * x * y:
        before, there, k = there, _added(there, [x] * BLOCK, [y] * BLOCK, bits), k + BLOCK
    return k, (
        f"At K = {k - BLOCK:,} the sum is {before:g} of {(k - BLOCK) * x * y:g}, "
        f"at {k:,} it is {there:g} of {k * x * y:g}."
    )
