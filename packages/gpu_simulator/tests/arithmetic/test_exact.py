"""FP64 rounded once in every mode, from the smallest subnormal number to the largest: against rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

from gpu_simulator.arithmetic.exact import rounded
from gpu_simulator.arithmetic.rounding import fma_f64
from gpu_simulator.codegen.ops.memory.atomic import touches_subnormals
from gpu_simulator.codegen.ops.scalar.arithmetic import add_mode, directed_rcp, directed_sqrt, div_mode, mul_mode

COUNT = 3000


def numbers(seed: int) -> np.ndarray:
    """Every exponent is as likely; every third number has few bits."""
    random = np.random.default_rng(seed)
    fraction = random.uniform(1, 2, COUNT) * random.choice([-1, 1], COUNT)
    fraction[::3] = np.round(fraction[::3] * 8) / 8
    with np.errstate(all="ignore"):
        return np.ldexp(fraction, random.integers(-1074, 1023, COUNT))


def expected(formula, mode, got, *inputs):
    """The fraction rounded; lanes with an infinite input or an exact zero are taken from `got`."""
    out = []
    for was, *lane in zip(got.tolist(), *(x.tolist() for x in inputs), strict=True):
        exact = formula(*map(Fraction, lane)) if all(map(math.isfinite, lane)) else 0
        out.append(rounded(exact, mode) if exact else was)
    return np.array(out)


def same(a, b) -> bool:
    return np.array_equal(a.view(np.uint64), b.view(np.uint64))


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
def test_directed_roundings(mode):
    a, b = numbers(1), numbers(2)
    with np.errstate(all="ignore"):
        near = np.ldexp(b, np.frexp(a)[1] - np.frexp(b)[1] + np.arange(COUNT) % 120 - 60)
        product, quotient, total = mul_mode(a, b, mode), div_mode(a, b, mode), add_mode(a, near, mode)
        inverse = directed_rcp(a, mode)
        nearest = a * b
    assert same(product, expected(lambda x, y: x * y, mode, product, a, b))
    assert same(quotient, expected(lambda x, y: x / y, mode, quotient, a, b))
    assert same(total, expected(lambda x, y: x + y, mode, total, a, near))
    assert same(inverse, expected(lambda x: 1 / x, mode, inverse, a))
    assert not same(nearest, expected(lambda x, y: x * y, mode, nearest, a, b)), "rounding to nearest is noticed"


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
def test_directed_square_roots(mode):
    x = np.abs(numbers(3))
    root = directed_sqrt(x, mode)
    other = np.nextafter(root, 0 if mode == "rp" else np.inf)
    for number, kept, beyond in zip(x.tolist(), root.tolist(), other.tolist(), strict=True):
        low, high = (beyond, kept) if mode == "rp" else (kept, beyond)
        low, high, number = Fraction(low) ** 2, Fraction(high) ** 2, Fraction(number)
        assert low < number <= high if mode == "rp" else low <= number < high


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_fma_is_rounded_once(mode):
    a, b, random = numbers(4), numbers(5), np.random.default_rng(6)
    with np.errstate(all="ignore"):
        exponent = np.frexp(a)[1] + np.frexp(b)[1] + random.integers(-120, 120, COUNT)
        c = np.ldexp(random.uniform(-2, 2, COUNT), np.clip(exponent, -1074, 1022))
        c[:200] = -(a * b)[:200]  # only the error of the product is left
        c[200:300] = np.nextafter(-(a * b)[200:300], np.inf)
        got, twice, nearest = fma_f64(a, b, c, mode), a * b + c, fma_f64(a, b, c)
    assert same(got, expected(lambda x, y, z: x * y + z, mode, got, a, b, c))
    assert not same(twice, got) and same(nearest, got) == (mode == "rn")


def test_a_fused_sum_of_opposite_numbers_is_a_zero_with_the_sign_of_its_mode():
    a, b = np.array([3.0, -3.0, 0.0, 0.0, -0.0]), np.array([2.0, 2.0, 1.0, -1.0, 1.0])
    c = np.array([-6.0, 6.0, 0.0, 0.0, -0.0])
    for mode, signs in (("rn", "++++-"), ("rz", "++++-"), ("rp", "++++-"), ("rm", "--+--")):
        got = fma_f64(a, b, c, mode)
        assert (got == 0).all()
        assert "".join("-" if minus else "+" for minus in np.signbit(got)) == signs


def test_an_infinite_addend_outlasts_an_overflow():
    huge = np.array([1e300, 1e300])
    with np.errstate(all="ignore"):
        assert fma_f64(huge, -huge, np.array([np.inf, -np.inf])).tolist() == [np.inf, -np.inf]
        assert np.isnan(fma_f64(huge * huge, -huge, np.array([np.inf, np.inf]))).all()


def test_a_fraction_is_rounded_as_asked():
    huge, tiny = Fraction(10) ** 400, Fraction(1, 10**400)
    assert [rounded(huge, mode) for mode in ("rn", "rz", "rm", "rp")] == [np.inf, *[np.finfo(float).max] * 2, np.inf]
    assert [rounded(-huge, mode) for mode in ("rz", "rm")] == [-np.finfo(float).max, -np.inf]
    assert [rounded(tiny, mode) for mode in ("rn", "rz", "rm", "rp")] == [0.0, 0.0, 0.0, 5e-324]
    assert math.copysign(1, rounded(-tiny, "rp")) == -1


def test_small_sums_are_seen():
    assert not touches_subnormals(np.array([0, -0.0, 1, 2.0**-100], np.float32))
    assert touches_subnormals(np.array([1], np.float32), np.array([2.0**-101], np.float32))
