"""Arithmetic of PTX equals NumPy's, bit for bit, on random operands and on the ends of each type."""

import numpy as np
import pytest
from ptx_text import at, run

COUNT = 512
DTYPES = {"u32": "u4", "s32": "i4", "u64": "u8", "s64": "i8", "u16": "u2", "s16": "i2", "f32": "f4", "f64": "f8"}
REGISTERS = {"u32": "%r", "s32": "%r", "u64": "%q", "s64": "%q", "u16": "%h", "s16": "%h", "f32": "%f", "f64": "%g"}
WHOLE = ("u16", "s16", "u32", "s32", "u64", "s64")


def operands(kind: str, rng) -> np.ndarray:
    """Random bits, small numbers, and the ends of the type."""
    dtype = np.dtype(DTYPES[kind])
    if dtype.kind == "f":
        special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).tiny]
        ordinary = rng.standard_normal(COUNT - len(special)) * 10.0 ** rng.integers(-9, 9, COUNT - len(special))
        return rng.permutation(np.concatenate([special, ordinary]).astype(dtype))
    limits = np.iinfo(dtype)
    special = np.array([0, 1, limits.max, limits.min, limits.max - 1], dtype)
    wide = rng.integers(limits.min, limits.max, COUNT - 105, dtype=dtype, endpoint=True)
    return rng.permutation(np.concatenate([special, wide, rng.integers(0, 100, 100).astype(dtype)]))


def computed(opcode: str, kind: str, a, b) -> np.ndarray:
    """d = opcode(a, b), element by element."""
    size, d = a.itemsize, np.empty_like(a)
    x, y, z = (f"{REGISTERS[kind]}{number}" for number in (1, 2, 3))
    body = f"mad.lo.u32 %r0, %b, %n, %t;\n{at('%a', '%r0', size, '%q10')}{at('%bb', '%r0', size, '%q11')}"
    body += f"{at('%d', '%r0', size, '%q12')}ld.global.{kind} {x}, [%q10];\nld.global.{kind} {y}, [%q11];\n"
    run(f"{body}{opcode} {z}, {x}, {y};\nst.global.{kind} [%q12], {z};", a, b, d, COUNT // 128, 128)
    return d


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Equal, or both NaN, whose bits differ between machines."""
    nan = np.isnan(one) & np.isnan(other) if one.dtype.kind == "f" else False
    return bool(np.all((one.view(f"u{one.itemsize}") == other.view(f"u{one.itemsize}")) | nan))


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize(
    ("opcode", "law"),
    [("add", np.add), ("sub", np.subtract), ("mul.lo", np.multiply), ("min", np.minimum), ("max", np.maximum)],
)
def test_whole_numbers_wrap_as_numpys(opcode, law, kind, rng):
    a, b = operands(kind, rng), operands(kind, rng)
    assert same_bits(computed(f"{opcode}.{kind}", kind, a, b), law(a, b))


@pytest.mark.parametrize(("kind", "wide"), [("u32", "u8"), ("s32", "i8")])
def test_the_high_half_of_a_product(kind, wide, rng):
    a, b = operands(kind, rng), operands(kind, rng)
    assert same_bits(computed(f"mul.hi.{kind}", kind, a, b), (a.astype(wide) * b.astype(wide) >> 32).astype(a.dtype))


@pytest.mark.parametrize("kind", WHOLE)
def test_division_goes_towards_zero_and_leaves_its_remainder(kind, rng):
    a, b = operands(kind, rng), operands(kind, rng)
    b[b == 0] = 7
    if kind.startswith("s"):
        b[b == -1] = 3  # the quotient of the least number would not fit
    quotient, remainder = computed(f"div.{kind}", kind, a, b), computed(f"rem.{kind}", kind, a, b)
    assert same_bits(quotient * b + remainder, a)
    exact = [abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b, strict=True)]
    assert [int(value) for value in quotient] == exact


@pytest.mark.parametrize(("opcode", "law"), [("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)])
@pytest.mark.parametrize(("bits", "kind"), [("b16", "u16"), ("b32", "u32"), ("b64", "u64")])
def test_logic(opcode, law, bits, kind, rng):
    a, b = operands(kind, rng), operands(kind, rng)
    assert same_bits(computed(f"{opcode}.{bits}", kind, a, b), law(a, b))


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize(
    ("opcode", "law"),
    [("add.rn", np.add), ("sub.rn", np.subtract), ("mul.rn", np.multiply), ("div.rn", np.divide)],
)
def test_floats_are_rounded_to_nearest_even(opcode, law, kind, rng):
    a, b = operands(kind, rng), operands(kind, rng)
    with np.errstate(all="ignore"):
        assert same_bits(computed(f"{opcode}.{kind}", kind, a, b), law(a, b))


def test_fma_rounds_once(rng):
    """a · b + a of numbers of 20 bits: float64 holds it exactly, and the product alone would not fit into float32."""
    a, b = (rng.integers(-(1 << 20), 1 << 20, COUNT).astype("f4") for _ in range(2))
    d = np.empty_like(a)
    body = "".join((at("%a", "%t", 4, "%q10"), at("%bb", "%t", 4, "%q11"), at("%d", "%t", 4, "%q12")))
    body += "ld.global.f32 %f1, [%q10]; ld.global.f32 %f2, [%q11]; fma.rn.f32 %f3, %f1, %f2, %f1; st.global.f32 [%q12], %f3;"
    run(body, a, b, d, 1, COUNT)
    assert same_bits(d, (a.astype("f8") * b + a).astype("f4"))
    assert not same_bits(d, a * b + a), "a product that is rounded first gives other sums"


@pytest.mark.parametrize("shift", ["shl.b32", "shr.u32", "shr.s32"])
def test_shifts_beyond_the_width_are_clamped(shift, rng):
    kind = shift[-3:].replace("b", "u")
    a, amount = operands(kind, rng), rng.integers(0, 40, COUNT).astype(DTYPES[kind])
    wide = np.minimum(amount, 63).astype("i8")
    expected = a.astype("i8") << wide if shift == "shl.b32" else a.astype("i8") >> wide
    assert same_bits(computed(shift, kind, a, amount), expected.astype(a.dtype))


@pytest.mark.parametrize(("to", "dtype"), [("s32", "i4"), ("u32", "u4")])
def test_a_conversion_to_whole_numbers_goes_towards_zero(to, dtype, rng):
    a = (rng.standard_normal(COUNT) * 1e4).astype("f4")
    if to == "u32":
        a = abs(a)
    d = np.empty(COUNT, dtype)
    body = at("%a", "%t", 4, "%q10") + at("%d", "%t", 4, "%q12")
    run(
        f"{body}ld.global.f32 %f1, [%q10]; cvt.rzi.{to}.f32 %r1, %f1; st.global.{to} [%q12], %r1;", a, None, d, 1, COUNT
    )
    assert np.array_equal(d, np.trunc(a).astype(dtype))
