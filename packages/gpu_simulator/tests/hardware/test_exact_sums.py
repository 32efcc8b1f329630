"""The sums of tensor cores against the same rule in whole numbers, and against words that GPUs computed."""

import math
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gpu_simulator.arithmetic.fp8 import decoded
from gpu_simulator.arithmetic.fragment_products import float_elements
from gpu_simulator.hardware.exact_sums import LEAST_NORMAL, chosen_rule, exact_sum, sum_rule

SIZES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "e2m3": 1, "e3m2": 1, "e2m1": 1}
LARGEST = {"f16": 65504.0, "e4m3": 448.0, "e5m2": 57344.0}
RULES = [
    *[(capability, "mma", "f16", out) for capability in (70, 75, 80, 89, 90, 100, 120) for out in ("f32", "f16")],
    *[(capability, "mma", kind, "f32") for capability in (80, 89, 90, 100, 120) for kind in ("bf16", "tf32")],
    *[(capability, "mma", "e4m3", out) for capability in (89, 90, 100, 120) for out in ("f32", "f16")],
    *[(90, "wgmma", kind, "f32") for kind in ("f16", "bf16", "tf32", "e4m3", "e5m2")],
    *[(90, "wgmma", kind, "f16") for kind in ("f16", "e5m2")],
    *[(100, "tcgen05", kind, "f32") for kind in ("f16", "bf16", "tf32", "e4m3")],
    *[(100, "tcgen05", kind, "f16") for kind in ("f16", "e5m2")],
]
RECORDED = Path(__file__).parents[1] / "arithmetic" / "recorded" / "tensor_sums.npz"


def rounded(total: Fraction, rule) -> float:
    """A sum in the type of the result, one bit after the other."""
    if rule.out == "f16":
        return float(np.float64(float(total)).astype(np.float16))
    if total == 0:
        return 0.0
    exponent = max(math.frexp(float(total))[1] - 1, -126)
    unit = Fraction(2) ** (exponent - rule.result)
    cut = float(math.trunc(total / unit) * unit)
    return math.copysign(math.inf, cut) if abs(cut) >= 2.0**128 else cut


def one_step(factors, c: float, rule, types) -> float:
    """C plus the products in one window, in whole numbers of its unit."""

    def exponent(x, kind):
        return max(math.frexp(x)[1] - 1, LEAST_NORMAL[kind])

    terms = [(Fraction(x) * Fraction(y), exponent(x, types[0]) + exponent(y, types[1])) for x, y in factors if x and y]
    if c:
        terms.append((Fraction(c), exponent(c, rule.out)))
    if not terms:
        return 0.0
    top = max(power for _, power in terms)
    unit = Fraction(2) ** ((top if rule.floor is None else max(top, rule.floor)) - rule.fraction)
    return rounded(sum(math.trunc(value / unit) for value, _ in terms) * unit, rule) + 0.0


def by_hand(row, column, c: float, rule) -> float:
    """One element of C + A · B. Without infinities and NaN."""
    pairs = [*zip(map(float, row), map(float, column), strict=True)]
    if rule.late:
        pairs = [pair for half in ((0, 1), (2, 3)) for k, pair in enumerate(pairs) if k % 4 in half]
    types = ("f16", "f16") if rule.late else (rule.a, rule.b)
    total = 0.0 if rule.late else c
    for first in range(0, len(pairs), rule.products):
        total = one_step(pairs[first : first + rule.products], total, rule, types)
        if math.isinf(total):
            return total
    if rule.late:
        total = float((np.float32(total) + np.float32(c)).astype(np.float16 if rule.out == "f16" else np.float32))
    return total


def in_type(x, kind: str) -> np.ndarray:
    """float32 numbers cut off to the precision and range of a type."""
    bits = {"f16": 10, "bf16": 7, "tf32": 10, "e4m3": 3, "e5m2": 2}[kind]
    power = np.maximum(np.frexp(x)[1] - 1, LEAST_NORMAL[kind])
    unit = np.ldexp(1.0, power - bits)
    return np.clip(np.trunc(x / unit) * unit, -LARGEST.get(kind, np.inf), LARGEST.get(kind, np.inf)).astype(np.float32)


def spread(rng, kind, low, high, *shape):
    """Numbers of a type whose exponents are anywhere between two."""
    x = np.ldexp(rng.uniform(1, 2, shape), rng.integers(low, high, shape)) * rng.choice([-1, 1, 1, 0], shape)
    return in_type(x, kind)


@pytest.mark.parametrize(("capability", "instruction", "kind", "out"), RULES)
def test_sums_are_those_of_whole_numbers(capability, instruction, kind, out):
    rule = sum_rule(capability, instruction, kind, kind, out)
    rng, depth = np.random.default_rng(capability), max(rule.products, 32 // SIZES[kind])
    wide = kind in ("bf16", "tf32")
    cases = [(-3, 3), (-12, 4), (-126, 40) if wide else (-9, 6)] + [(-80, -68)] * wide + [(-24, -12)] * (kind == "f16")
    for low, high in cases:
        a, b = spread(rng, kind, low, high, 1, 5, depth), spread(rng, kind, low, high, 1, depth, 6)
        c = spread(rng, "f16", 2 * low, 2 * high, 1, 5, 6) if out == "f16" else None
        if c is None:
            c = (a[:, :, :1] * b[:, :1] * rng.uniform(-2, 2, (1, 5, 6)) * rng.choice([0, 1, 40], (1, 5, 6))).astype(
                "f4"
            )
        got = exact_sum(a, b, c, rule)
        expected = [[by_hand(a[0, i], b[0, :, j], float(c[0, i, j]), rule) for j in range(6)] for i in range(5)]
        assert np.array_equal(got[0].view("u4"), np.float32(expected).view("u4")), (low, high)
        without = exact_sum(a, b, None, rule)
        assert np.array_equal(without.view("u4"), exact_sum(a, b, np.zeros_like(c), rule).view("u4"))


@pytest.mark.parametrize(("capability", "instruction", "kind", "out"), RULES)
def test_integers(capability, instruction, kind, out):
    """Those that fit are exact, by whichever way they are computed; larger ones lose what the rule says."""
    rule, rng = sum_rule(capability, instruction, kind, kind, out), np.random.default_rng(1)
    for largest in (2, 7, 15):
        a, b = (in_type(rng.integers(-largest, largest + 1, shape), kind) for shape in ((4, 32), (32, 5)))
        c = (
            in_type(rng.integers(-2000, 2000, (4, 5)), out)
            if out == "f16"
            else np.float32(rng.integers(-9e6, 9e6, (4, 5)))
        )
        expected = [[by_hand(a[i], b[:, j], float(c[i, j]), rule) for j in range(5)] for i in range(4)]
        assert np.array_equal(exact_sum(a, b, c, rule), np.float32(expected))


def test_a_small_addend_vanishes_beside_a_large_one():
    """The four products are 2^24, 1, 1 and -2^24: each architecture keeps another part of their sum."""
    a, b = np.float32([[4096, 1, 1, -4096]]), np.float32([[4096], [1], [1], [4096]])
    found = {cap: float(exact_sum(a, b, None, sum_rule(cap, "mma", "f16", "f16", "f32"))[0, 0]) for cap in (70, 80, 90)}
    assert found == {70: 0.0, 80: 2.0, 90: 2.0}
    fp8 = [np.float32([[256, 1, 1, -256]]), np.float32([[64], [1], [1], [64]])]
    assert exact_sum(*fp8, None, sum_rule(90, "wgmma", "e4m3", "e4m3", "f32")) == 0.0
    assert exact_sum(*fp8, None, sum_rule(90, "mma", "e4m3", "e4m3", "f32")) == 2.0
    assert exact_sum(*fp8, None, sum_rule(100, "tcgen05", "e4m3", "e4m3", "f32")) == 2.0


@pytest.mark.parametrize(("capability", "instruction", "kind", "out"), [r for r in RULES if r[2] != "e4m3"])
def test_infinities_and_nan(capability, instruction, kind, out):
    rule, inf, nan = sum_rule(capability, instruction, kind, kind, out), np.inf, np.nan
    a = np.float32([[inf, 1, 0, 0], [-inf, 1, 0, 0], [nan, 1, 0, 0], [1, 2, 0, 0], [0, 0, 0, 0]])
    b = np.float32([[1, 0, inf], [1, 1, 1], [1, 1, 1], [1, 1, 1]])
    c = np.float32([[0, 0, 0], [inf, 0, 0], [0, 0, 0], [-inf, nan, 0], [-0.0, -0.0, -0.0]])
    got = exact_sum(a, b, c, rule)
    expected = np.float32([[inf, nan, inf], [nan, nan, -inf], [nan] * 3, [-inf, nan, inf], [0, 0, nan]])
    assert np.array_equal(got, expected, equal_nan=True)
    assert (got.view("u4")[np.isnan(got)] == 0x7FFFFFFF).all()
    assert (got[4, :2].view("u4") == 0).all()  # a sum of zeros is +0


def test_rules_of_other_architectures_and_types():
    assert sum_rule(86, "mma", "f16", "f16", "f32") == sum_rule(80, "mma", "f16", "f16", "f32")
    assert sum_rule(103, "tcgen05", "e4m3", "e5m2", "f32").fraction == 25
    assert sum_rule(75, "mma", "bf16", "bf16", "f32") is None  # there is no such instruction
    assert sum_rule(90, "mma", "s8", "s8", "s32") is None
    assert not sum_rule(80, "mma", "f16", "f16", "f32").measured and sum_rule(90, "mma", "f16", "f16", "f32").measured
    assert chosen_rule(None, 90, "wgmma", "f16", "f16", "f32") is chosen_rule(False, 90, "wgmma", "e4m3", "e4m3", "f32")
    assert chosen_rule(None, 90, "wgmma", "e4m3", "e4m3", "f32") == sum_rule(90, "wgmma", "e4m3", "e4m3", "f32")


# ---- Words that an H200 computed ----


def recorded():
    """(name, A, B, C, D) of each form; one sum of products in each row, as words. The name has types and products."""
    data = np.load(RECORDED)
    names = sorted({key.rsplit(" ", 1)[0] for key in data.files})
    return [pytest.param(name, *(data[f"{name} {part}"] for part in "abcd"), id=name) for name in names]


def words(name, a, b, c, change=lambda rule: rule):
    """The result words by the rule of a form such as "wgmma f32 e4m3 e4m3 32", changed by `change`."""
    instruction, out, *types, _ = name.split()
    rule = change(sum_rule(90, instruction.removesuffix("_sp"), *types, out))
    left, right = (
        np.ascontiguousarray(float_elements(np.ascontiguousarray(x).view(np.uint32), kind))
        .reshape(x.shape)
        .astype("f4")
        for x, kind in ((a, types[0]), (b, types[1]))
    )
    before = c.view(np.float16 if out == "f16" else np.float32).astype(np.float32)
    got = exact_sum(left[:, None], right[:, :, None], before[:, None, None], rule)[:, 0, 0]
    if out == "f32":
        return got.view(np.uint32)
    return np.where(np.isnan(got), np.uint16(0x7FFF), got.astype(np.float16).view(np.uint16))


@pytest.mark.parametrize(("name", "a", "b", "c", "d"), recorded())
def test_words_of_an_h200(name, a, b, c, d):
    """Every word is the rule's; with one number of the rule changed some are not."""
    assert np.array_equal(words(name, a, b, c), d)
    instruction, out, kind, _, depth = name.split()
    wrong = {"late": lambda rule: replace(rule, late=not rule.late)}
    if not (out == "f16" and kind[0] == "e" and instruction == "mma"):  # FP8 products rarely need the bits of FP16's
        wrong["one bit fewer"] = lambda rule: replace(rule, fraction=rule.fraction - 1)
        wrong["one bit more"] = lambda rule: replace(rule, fraction=rule.fraction + 1)
    if out == "f32":
        wrong["a shorter result"] = lambda rule: replace(rule, result=rule.result - 1)
    if int(depth) >= sum_rule(90, instruction.removesuffix("_sp"), kind, kind, out).products:
        wrong["two steps"] = lambda rule: replace(rule, products=rule.products // 2)
    if kind in ("bf16", "tf32") or name.split()[1:3] == ["f16", "f16"]:
        wrong["a lower floor"] = lambda rule: replace(rule, floor=rule.floor - 1)
        wrong["a higher floor"] = lambda rule: replace(rule, floor=rule.floor + 1)
    for what, change in wrong.items():
        assert not np.array_equal(words(name, a, b, c, change), d), what


# ---- Words that a B200 computed ----

# type: (products, seed of random.Random, words of its first two sums in float32). Published with tcgen05-model (MIT),
# https://github.com/sf-tensor/tcgen05, tcgen05_model/validation.py. TF32 and BF16 are the upper bits of a float32.
B200 = {
    "tf32": (8, 104, (0xFF800000, 0xFC347E7C)), "bf16": (16, 104, (0x7F800000, 0x7F800000)),
    "f16": (16, 103, (0x7FFFFFFF, 0x49776BBA)), "e4m3": (32, 104, (0xEC63D12A, 0x452AF963)),
    "e5m2": (32, 300, (0x4D92B09A, 0x4C9C1102)), "e2m3": (32, 301, (0xC29DD800, 0x449D14C1)),
    "e3m2": (32, 302, (0x52C9EC63, 0xC33B7700)), "e2m1": (32, 303, (0xC1FE0000, 0xDC3B62A3)),
}  # fmt: skip
CODES = {"e4m3": 0x7F, "e5m2": 0x7C, "e2m3": 0x40, "e3m2": 0x40, "e2m1": 0x10}


@pytest.mark.parametrize("kind", B200)
def test_words_of_a_b200(kind):
    products, seed, expected = B200[kind]
    rng = random.Random(seed)

    def finite() -> int:
        bits = rng.getrandbits(32)
        return bits & 0x807FFFFF if bits & 0x7F800000 == 0x7F800000 else bits

    def factors() -> np.ndarray:
        if kind in CODES:
            return decoded(kind)[[rng.randrange(CODES[kind]) for _ in range(products)]].astype(np.float32)
        if kind == "f16":
            return np.array([rng.getrandbits(16) for _ in range(products)], "u2").view("f2").astype(np.float32)
        kept = {"tf32": 0xFFFFE000, "bf16": 0xFFFF0000}[kind]
        return np.array([finite() & kept for _ in range(products)], "u4").view("f4")

    for word in expected:
        a, b, c = factors()[None], factors()[:, None], np.array([[finite()]], "u4").view("f4")
        assert exact_sum(a, b, c, sum_rule(100, "tcgen05", kind, kind, "f32")).view("u4") == word
