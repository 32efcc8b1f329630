"""LLVM IR to PTX: arithmetic, comparisons and conversions, with the results that NumPy gives."""

import ir_text
import numpy as np
import pytest
from ir_text import apply, wholes

SIGNED = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
UNSIGNED = {"i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64}
FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64}


def decimals(dtype, seed=0, count=64):
    rng = np.random.default_rng(seed)
    ends = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan]
    return rng.permutation(np.concatenate([np.array(ends), rng.normal(0, 4, count - len(ends))])).astype(dtype)


@pytest.mark.parametrize("of", SIGNED)
@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
    ],
)
def test_sums_and_logic_wrap_around(of, op, expected):
    x, y = wholes(SIGNED[of], seed=1), wholes(SIGNED[of], seed=2)
    found = apply(f"  %r = {op} {of} %x, %y", x, y, x, of, of)
    with np.errstate(over="ignore"):
        assert np.array_equal(found, expected(x, y))


@pytest.mark.parametrize("of", SIGNED)
def test_divisions_round_towards_zero(of):
    x, y = wholes(SIGNED[of], seed=1), wholes(SIGNED[of], seed=2)
    y[(y == 0) | (y == -1)] = 3
    u, v = x.view(UNSIGNED[of]), y.view(UNSIGNED[of])
    assert np.array_equal(apply(f"  %r = udiv {of} %x, %y", u, v, u, of, of), u // v)
    assert np.array_equal(apply(f"  %r = urem {of} %x, %y", u, v, u, of, of), u % v)
    exact = [(abs(int(p)) // abs(int(q))) * (-1 if (p < 0) != (q < 0) else 1) for p, q in zip(x, y, strict=True)]
    rest = [int(p) - q * int(r) for p, q, r in zip(x, exact, y, strict=True)]
    assert apply(f"  %r = sdiv {of} %x, %y", x, y, x, of, of).tolist() == exact
    assert apply(f"  %r = srem {of} %x, %y", x, y, x, of, of).tolist() == rest


@pytest.mark.parametrize("of", SIGNED)
def test_shifts(of):
    x, bits = wholes(SIGNED[of], seed=1), np.iinfo(SIGNED[of]).bits
    y = (np.arange(64) % bits).astype(SIGNED[of])
    u = x.view(UNSIGNED[of])
    assert np.array_equal(apply(f"  %r = shl {of} %x, %y", x, y, x, of, of), np.left_shift(x, y))
    assert np.array_equal(apply(f"  %r = ashr {of} %x, %y", x, y, x, of, of), np.right_shift(x, y))
    found = apply(f"  %r = lshr {of} %x, %y", u, y.view(u.dtype), u, of, of)
    assert np.array_equal(found, np.right_shift(u, y.view(u.dtype)))


@pytest.mark.parametrize("of", SIGNED)
@pytest.mark.parametrize("test", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
def test_comparisons_of_integers(of, test):
    x, y = wholes(SIGNED[of], seed=1), wholes(SIGNED[of], seed=2)
    y[::4] = x[::4]
    left, right = (x.view(UNSIGNED[of]), y.view(UNSIGNED[of])) if test[0] == "u" else (x, y)
    expected = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}
    expected |= {"gt": np.greater, "ge": np.greater_equal}
    found = apply(f"  %c = icmp {test} {of} %x, %y\n  %r = zext i1 %c to i32", x, y, np.zeros(64, np.int32), of, "i32")
    assert np.array_equal(found, expected[test[-2:]](left, right))


def test_predicates_combine():
    x, y = wholes(np.int32, seed=1), wholes(np.int32, seed=2)
    code = """  %p = icmp slt i32 %x, 0
  %q = icmp slt i32 %y, 0
  %n = xor i1 %p, true
  %both = and i1 %n, %q
  %either = or i1 %both, %p
  %s = select i1 %p, i1 %both, i1 %either
  %same = icmp eq i1 %s, %q
  %r = sext i1 %same to i32"""
    p, q = x < 0, y < 0
    both = ~p & q
    expected = np.where(np.where(p, both, both | p) == q, -1, 0)
    assert np.array_equal(apply(code, x, y, x, "i32", "i32"), expected)


@pytest.mark.parametrize("of", SIGNED)
@pytest.mark.parametrize("to", SIGNED)
def test_integers_of_another_width(of, to):
    x = wholes(SIGNED[of])
    old, new = np.iinfo(SIGNED[of]).bits, np.iinfo(SIGNED[to]).bits
    if old < new:
        found = apply(f"  %r = sext {of} %x to {to}", x, x, np.zeros(64, SIGNED[to]), of, to)
        assert np.array_equal(found, x.astype(SIGNED[to]))
        found = apply(f"  %r = zext {of} %x to {to}", x, x, np.zeros(64, UNSIGNED[to]), of, to)
        assert np.array_equal(found, x.view(UNSIGNED[of]).astype(UNSIGNED[to]))
    elif old > new:
        found = apply(f"  %r = trunc {of} %x to {to}", x, x, np.zeros(64, SIGNED[to]), of, to)
        assert np.array_equal(found, x.astype(SIGNED[to]))


def test_integers_of_odd_width_keep_to_it():
    x = wholes(np.int32)
    code = "  %n = trunc i32 %x to i5\n  %m = add i5 %n, 7\n  %c = ashr i5 %m, 1\n  %r = sext i5 %c to i32"
    five = (x + 7 & 31 ^ 16) - 16
    assert np.array_equal(apply(code, x, x, x, "i32", "i32"), five >> 1)


@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize(
    ("op", "expected"), [("fadd", np.add), ("fsub", np.subtract), ("fmul", np.multiply), ("fdiv", np.divide)]
)
def test_arithmetic_of_floats_rounds_once(of, op, expected):
    x, y = decimals(FLOATS[of], 1), decimals(FLOATS[of], 2)
    found = apply(f"  %r = {op} {of} %x, %y", x, y, x, of, of)
    with np.errstate(all="ignore"):
        assert np.array_equal(found, expected(x, y), equal_nan=True)


def test_bfloats_are_computed_with_as_floats_and_rounded():
    x = np.array([0x3F80, 0x4049, 0xC000, 0x3DCC] * 16, np.uint16)
    code = "  %s = fadd bfloat %x, %y\n  %n = fneg bfloat %s\n  %r = fpext bfloat %n to float"
    wide = (x.astype(np.uint32) << 16).view(np.float32)
    found = apply(code, x, x, np.zeros(64, np.float32), "bfloat", "float")
    assert np.array_equal(found, -2 * wide)


def test_a_product_and_a_sum_are_rounded_together_where_both_allow_it():
    x, y = decimals(np.float32, 1), decimals(np.float32, 2)
    both = "  %p = fmul contract float %x, %y\n  %r = fsub contract float %y, %p"
    apart = "  %p = fmul float %x, %y\n  %r = fsub contract float %y, %p"
    with np.errstate(all="ignore"):
        once = (y.astype(np.float64) - x.astype(np.float64) * y.astype(np.float64)).astype(np.float32)
        twice = y - x * y
    assert np.array_equal(apply(both, x, y, x, "float", "float"), once, equal_nan=True)
    assert np.array_equal(apply(apart, x, y, x, "float", "float"), twice, equal_nan=True)
    assert not np.array_equal(once, twice, equal_nan=True)


@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize("test", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_of_floats_know_nan(of, test):
    x, y = decimals(FLOATS[of], 1), decimals(FLOATS[of], 2)
    y[::4] = x[::4]
    expected = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}
    expected |= {"gt": np.greater, "ge": np.greater_equal}
    unordered = np.isnan(x) | np.isnan(y)
    for prefix in "ou":
        code = f"  %c = fcmp {prefix}{test} {of} %x, %y\n  %r = zext i1 %c to i32"
        found = apply(code, x, y, np.zeros(64, np.int32), of, "i32")
        assert np.array_equal(found, np.where(unordered, prefix == "u", expected[test](x, y)))


def test_floats_of_another_format():
    x = decimals(np.float32)
    with np.errstate(over="ignore"):
        assert np.array_equal(
            apply("  %r = fptrunc float %x to half", x, x, x.astype(np.float16), "float", "half"),
            x.astype(np.float16),
            equal_nan=True,
        )
    wide = apply("  %r = fpext float %x to double", x, x, x.astype(np.float64), "float", "double")
    assert np.array_equal(wide, x.astype(np.float64), equal_nan=True)


def test_floats_and_integers():
    x = np.arange(-32, 32, dtype=np.int32) * 1_000_003
    assert np.array_equal(
        apply("  %r = sitofp i32 %x to float", x, x, np.zeros(64, np.float32), "i32", "float"), x.astype(np.float32)
    )
    u = x.view(np.uint32)
    assert np.array_equal(
        apply("  %r = uitofp i32 %x to double", u, u, np.zeros(64), "i32", "double"), u.astype(np.float64)
    )
    small = np.arange(-32, 32, dtype=np.int8)
    assert np.array_equal(
        apply("  %r = sitofp i8 %x to float", small, small, np.zeros(64, np.float32), "i8", "float"), small
    )
    f = (np.arange(64, dtype=np.float32) - 31.5) * 3.3
    assert np.array_equal(apply("  %r = fptosi float %x to i32", f, f, x, "float", "i32"), np.trunc(f))


@pytest.mark.parametrize(
    ("function", "of", "expected"),
    [
        ("smin", "i32", np.minimum),
        ("smax", "i8", np.maximum),
        ("umin", "u16", np.minimum),
        ("umax", "u64", np.maximum),
    ],
)
def test_extremes_of_integers(function, of, expected):
    kinds, name = (UNSIGNED if of[0] == "u" else SIGNED), "i" + of[1:]
    x, y = wholes(kinds[name], seed=1), wholes(kinds[name], seed=2)
    code = f"  %r = call {name} @llvm.{function}.{name}({name} %x, {name} %y)"
    assert np.array_equal(apply(code, x, y, x, name, name), expected(x, y))


def test_functions_of_bits():
    x = wholes(np.uint32)
    bits = [f"{value:032b}" for value in x.tolist()]
    for function, expected in {
        "ctpop": [text.count("1") for text in bits],
        "ctlz": [len(text) - len(text.lstrip("0")) for text in bits],
        "cttz": [len(text) - len(text.rstrip("0")) for text in bits],
        "bitreverse": [int(text[::-1], 2) for text in bits],
        "bswap": x.byteswap().tolist(),
    }.items():
        more = ", i1 false" if function in ("ctlz", "cttz") else ""
        found = apply(f"  %r = call i32 @llvm.{function}.i32(i32 %x{more})", x, x, x, "i32", "i32")
        assert found.tolist() == expected, function


def test_funnel_shifts():
    x, y = wholes(np.uint32, seed=1), wholes(np.uint32, seed=2)
    code = "  %n = and i32 %y, 63\n  %r = call i32 @llvm.fshl.i32(i32 %x, i32 %y, i32 %n)"
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    expected = [(((p << 32 | q) << (q & 31)) >> 32) & 0xFFFFFFFF for p, q in pairs]
    assert apply(code, x, y, x, "i32", "i32").tolist() == expected


def test_functions_of_floats():
    x = decimals(np.float32)
    with np.errstate(invalid="ignore"):
        cases = {"fabs": np.abs(x), "sqrt": np.sqrt(x), "floor": np.floor(x), "ceil": np.ceil(x), "rint": np.rint(x)}
    for function, expected in cases.items():
        found = apply(f"  %r = call float @llvm.{function}.f32(float %x)", x, x, x, "float", "float")
        assert np.array_equal(found, expected, equal_nan=True), function
    y = decimals(np.float32, 5)
    found = apply("  %r = call float @llvm.maxnum.f32(float %x, float %y)", x, y, x, "float", "float")
    assert np.array_equal(found, np.fmax(x, y), equal_nan=True)


def test_vectors_are_computed_with_element_by_element():
    x, y = decimals(np.float32, 1, 128), decimals(np.float32, 2, 128)
    code = """  %p = fmul contract <4 x float> %x, %y
  %r = fadd contract <4 x float> %p, <float 1.0, float 2.0, float 3.0, float 4.0>"""
    with np.errstate(all="ignore"):
        product = x.astype(np.float64) * y.astype(np.float64)
        expected = (product + np.tile([1.0, 2, 3, 4], 32)).astype(np.float32)
    d = np.zeros_like(x)
    of = "<4 x float>"
    body = ir_text.at("pa", of, "a") + ir_text.at("pb", of, "b") + ir_text.at("pd", of, "d")
    body += f"  %x = load {of}, ptr %pa, align 16\n  %y = load {of}, ptr %pb, align 16\n{code}\n"
    ir_text.run(body + f"  store {of} %r, ptr %pd, align 16\n  ret void", x, y, d)
    assert np.array_equal(d, expected, equal_nan=True)


def test_overflow_is_told():
    x, y = wholes(np.int32, seed=1), wholes(np.int32, seed=2)
    code = """  %s = call {i32, i1} @llvm.sadd.with.overflow.i32(i32 %x, i32 %y)
  %c = extractvalue {i32, i1} %s, 1
  %r = zext i1 %c to i32"""
    whole = x.astype(np.int64) + y
    assert np.array_equal(apply(code, x, y, x, "i32", "i32"), whole != whole.astype(np.int32))


@pytest.mark.parametrize("of", FLOATS)
def test_the_kind_of_a_float(of):
    info = np.finfo(FLOATS[of])
    bits = UNSIGNED[f"i{info.bits}"]
    infinite = np.array([np.inf], FLOATS[of]).view(bits)
    quiet, signalling = infinite | 1 << (info.nmant - 1), infinite | 1
    plain = np.array([np.inf, 1, info.smallest_subnormal, 0], FLOATS[of])
    values = (
        np.concatenate([signalling, quiet, (-plain).view(bits), plain[::-1].view(bits)]).astype(bits).view(FLOATS[of])
    )
    x = np.resize(values, 40)
    # signalling, quiet, then -inf, negative normal, negative subnormal, -0, and the same of the other sign.
    kinds = np.resize(1 << np.arange(10), 40)
    for mask in (0b11, 0b1, 0b10, 0b1000000100, 0b0111111000, 0b1001101, 0b0110000000, 1023, 0b100):
        code = f"  %c = call i1 @llvm.is.fpclass({of} %x, i32 {mask})\n  %r = zext i1 %c to i32"
        found = apply(code, x, x, np.zeros(40, np.int32), of, "i32")
        assert np.array_equal(found, (kinds & mask) != 0), bin(mask)
