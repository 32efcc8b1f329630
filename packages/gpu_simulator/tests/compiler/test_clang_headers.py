"""The headers for clang by what kernels compute with them, held to NumPy. Where ziglang is missing these tests skip."""

import math
import re

import ml_dtypes
import numpy as np
import pytest
from by_clang import result, run

from gpu_simulator.compiler import clang
from gpu_simulator.faults import AssertionFailed

pytestmark = pytest.mark.skipif(not clang.installed(), reason="ziglang is not installed: pip install ziglang")
LANES = np.arange(32)


# ---- Mathematics ----

NEAR, WIDE, POSITIVE = (-4.0, 4.0), (-80.0, 80.0), (1e-6, 1e6)
FUNCTIONS = {
    "exp": (np.exp, WIDE), "exp2": (np.exp2, WIDE), "expm1": (np.expm1, NEAR), "log": (np.log, POSITIVE),
    "log2": (np.log2, POSITIVE), "log10": (np.log10, POSITIVE), "log1p": (np.log1p, POSITIVE), "sqrt": (np.sqrt, POSITIVE),
    "cbrt": (np.cbrt, WIDE), "sin": (np.sin, WIDE), "cos": (np.cos, WIDE), "tan": (np.tan, NEAR),
    "asin": (np.arcsin, (-1, 1)), "acos": (np.arccos, (-1, 1)), "atan": (np.arctan, WIDE), "sinh": (np.sinh, NEAR),
    "cosh": (np.cosh, NEAR), "tanh": (np.tanh, NEAR), "asinh": (np.arcsinh, WIDE), "acosh": (np.arccosh, (1, 1e6)),
    "atanh": (np.arctanh, (-0.99, 0.99)), "floor": (np.floor, WIDE), "ceil": (np.ceil, WIDE), "rint": (np.rint, WIDE),
    "erf": (np.vectorize(math.erf), NEAR), "tgamma": (np.vectorize(math.gamma), (0.5, 20)),
}  # fmt: skip
PAIRS = {
    "pow": (np.power, (0.1, 9), (-9, 9)), "fmod": (np.fmod, WIDE, NEAR), "atan2": (np.arctan2, WIDE, WIDE),
    "hypot": (np.hypot, WIDE, WIDE), "fmax": (np.fmax, WIDE, WIDE), "copysign": (np.copysign, WIDE, NEAR),
    "remainder": (np.vectorize(math.remainder), WIDE, NEAR),
}  # fmt: skip
# The largest error, in units of the last digit: measured 2.3 in float, 8 in double but for the gamma function.
MOST = {("double", "tgamma"): 600, ("double", "erf"): 12}


def numbers(ends, dtype, seed):
    return np.random.default_rng(seed).uniform(*ends, 64).astype(dtype)


@pytest.mark.parametrize("of, dtype, suffix", [("float", np.float32, "f"), ("double", np.float64, "")])
def test_functions_of_the_c_library(of, dtype, suffix):
    names = [*FUNCTIONS, *PAIRS]
    x = np.stack([numbers(ends, dtype, 1) for _, ends, *_ in (*FUNCTIONS.values(), *PAIRS.values())])
    y = np.stack([numbers(ends[-1], dtype, 2) for _, *ends in (*FUNCTIONS.values(), *PAIRS.values())])
    calls = [f"{name}{suffix}(x[{n} * 64 + i]{f', y[{n} * 64 + i]' * (name in PAIRS)})" for n, name in enumerate(names)]
    overloads = [call.replace(f"{name}{suffix}(", f"{name}(", 1) for name, call in zip(names, calls, strict=True)]
    body = "".join(f"o[{n} * 64 + i] = {call};" for n, call in enumerate(calls))
    body += "".join(f"p[{n} * 64 + i] = {call};" for n, call in enumerate(overloads))
    o, p = np.zeros_like(x), np.zeros_like(x)
    run(body, o, p, x, y, parameters=f"{of}* o, {of}* p, {of}* x, {of}* y", block=64)
    assert np.array_equal(o, p)
    for name, got, *given in zip(names, o, x, y, strict=True):
        exact = (FUNCTIONS | PAIRS)[name][0](*(values.astype(np.float64) for values in given[: 1 + (name in PAIRS)]))
        error = np.abs(got.astype(np.float64) - exact) / np.spacing(np.abs(exact).astype(dtype))
        assert error.max() <= MOST.get((of, name), 5), (name, error.max())


def test_large_angles_and_what_is_no_number():
    x = np.array([1e5, 1e9, 1e18, 1e22, 1e38, np.inf, -np.inf, np.nan] * 4, np.float32)
    got = result("o[i] = sinf(x[i]);", np.float32, x)
    with np.errstate(invalid="ignore"):
        assert np.allclose(got, np.sin(x.astype(np.float64)), rtol=1e-6, equal_nan=True)
    y = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 2.0] * 4)
    body = "o[i] = pow(x[i], y[i]); o[32 + i] = log(x[i]); o[64 + i] = sqrt(x[i]); o[96 + i] = exp(x[i]);"
    got = result(body, np.float64, y, np.repeat(y[:4], 8), count=128, parameters="double* o, double* x, double* y")
    with np.errstate(all="ignore"):
        expected = np.concatenate([np.power(y, np.repeat(y[:4], 8)), np.log(y), np.sqrt(y), np.exp(y)])
    assert np.allclose(got, expected, rtol=1e-15, equal_nan=True) and np.array_equal(
        np.signbit(got[:32]), np.signbit(expected[:32])
    )


def test_a_call_with_whole_numbers_or_two_types_is_one_of_double():
    body = "o[0] = sqrt(2); o[1] = pow(2, 0.5f); o[2] = max(1.f, 2.5); o[3] = min(3u, -1); o[4] = fmin(1, 2.f); o[5] = abs(-2.5);"
    got = result(body, np.float64, count=6, parameters="double* o", block=1)
    assert np.allclose(got, [2**0.5, 2**0.5, 2.5, 3, 1, 2.5], rtol=1e-15)


def test_rounded_and_fast_arithmetic():
    body = "o[0] = __fadd_ru(1.f, 1e-9f); o[1] = __fadd_rd(1.f, 1e-9f); o[2] = __frcp_rn(3.f); o[3] = __fdividef(1.f, 4.f);"
    body += (
        "o[4] = __expf(1.f); o[5] = __saturatef(-2.f); o[6] = __int2float_rz(16777219); o[7] = __float2int_ru(2.1f);"
    )
    expected = [np.nextafter(np.float32(1), np.float32(2)), 1, np.float32(1) / 3, 0.25, np.e, 0, 16777218, 3]
    got = result(body, np.float32, count=8, block=1, parameters="float* o")
    assert np.allclose(got, np.array(expected, np.float32), rtol=2e-7) and got[0] > got[1] == 1


# ---- Integers, warps, memory ----


def test_bits_of_integers():
    x = np.random.default_rng(0).integers(0, 2**32, 32, np.uint32)
    calls = "__brev(x[i]), __popc(x[i]), __clz(x[i]), __ffs(x[i]), __byte_perm(x[i], 7, 0x0123), __umulhi(x[i], x[0])"
    calls += ", __funnelshift_l(x[i], x[0], 5), __usad(x[i], x[0], 1), __vadd4(x[i], x[0]), __dp4a(x[i], x[0], 3u)"
    listed = re.findall(r"__\w+\([^()]*\)", calls.replace("x[i]", "a").replace("x[0]", "b"))
    body = "unsigned a = x[i], b = x[0];" + "".join(f"o[{n} * 32 + i] = {call};" for n, call in enumerate(listed))
    got = result(body, np.uint32, x, count=32 * len(listed), parameters="unsigned* o, unsigned* x").reshape(-1, 32)
    a, b = [int(v) for v in x], int(x[0])
    parts = lambda v: np.array([v], np.uint32).view(np.uint8).astype(int)  # noqa: E731
    expected = [
        [int(f"{v:032b}"[::-1], 2) for v in a],
        [v.bit_count() for v in a],
        [32 - v.bit_length() for v in a],
        [(v & -v).bit_length() for v in a],
        [int.from_bytes(v.to_bytes(4, "big"), "little") for v in a],
        [v * b >> 32 for v in a],
        [((b << 32 | v) << 5 >> 32) & 0xFFFFFFFF for v in a],
        [(abs(v - b) + 1) & 0xFFFFFFFF for v in a],
        [int((parts(v) + parts(b)).astype(np.uint8).view(np.uint32)[0]) for v in a],
        [int(parts(v) @ parts(b)) + 3 for v in a],
    ]
    assert np.array_equal(got, np.array(expected, np.uint32))


@pytest.mark.parametrize(
    "of, dtype", [("int", np.int32), ("double", np.float64), ("long long", np.int64), ("float", np.float32)]
)
def test_shuffles_of_every_type(of, dtype):
    x = np.random.default_rng(0).integers(-(2**20), 2**20, 32).astype(dtype) * dtype(3)
    body = "o[i] = __shfl_sync(~0u, x[i], 5, 8); o[32 + i] = __shfl_xor_sync(~0u, x[i], 3);"
    body += "o[64 + i] = __shfl_up_sync(~0u, x[i], 2); o[96 + i] = __shfl_down_sync(~0u, x[i], 4);"
    got = result(body, dtype, x, count=128, parameters=f"{of}* o, {of}* x").reshape(4, 32)
    reads = [
        LANES // 8 * 8 + 5,
        LANES ^ 3,
        np.maximum(LANES - 2, LANES * (LANES < 2)),
        np.where(LANES < 28, LANES + 4, LANES),
    ]
    assert np.array_equal(got, x[np.stack(reads)])


def test_votes_matches_and_sums_of_a_warp():
    body = "o[i] = __ballot_sync(~0u, i % 3 == 0); o[32 + i] = __match_any_sync(~0u, i / 8); o[64 + i] = __reduce_add_sync(~0u, i);"
    body += "o[96 + i] = __any_sync(~0u, i == 31) + 2 * __all_sync(~0u, i < 31); int all; o[128 + i] = __match_all_sync(~0u, 5, &all) + all;"
    body += (
        "o[160 + i] = __syncthreads_count(i < 7) + 100 * __syncthreads_or(i == 3) + 1000 * __syncthreads_and(i == 3);"
    )
    got = result(body, np.uint32, count=192, parameters="unsigned* o").reshape(6, 32)
    mask = sum(1 << lane for lane in range(0, 32, 3))
    expected = [
        np.full(32, mask),
        0xFF << LANES // 8 * 8,
        np.full(32, 496),
        np.ones(32),
        np.zeros(32),
        np.full(32, 107),
    ]
    assert np.array_equal(got, np.array(expected).astype(np.uint32))


@pytest.mark.parametrize(
    "of, dtype, names",
    [
        ("int", np.int32, "Add Sub Min Max And Or Xor Exch"),
        ("unsigned", np.uint32, "Add Sub Min Max And Or Xor Exch Inc Dec"),
        ("unsigned long long", np.uint64, "Add Min Max And Or Xor Exch"),
        ("float", np.float32, "Add Exch"),
        ("double", np.float64, "Add"),
    ],
)
def test_atomics_of_every_type_here_and_in_shared_memory(of, dtype, names):
    names = names.split()
    body = f"__shared__ {of} s[16]; if (i < 16) s[i] = 12; __syncthreads();"
    body += "".join(
        f"atomic{name}(&o[{n}], ({of})(i == 7 ? 9 : 5)); atomic{name}_block(&s[{n}], ({of})5);"
        for n, name in enumerate(names)
    )
    body += "__syncthreads(); if (i < 16) o[16 + i] = s[i];"
    o = np.full(32, 12, dtype)
    run(body, o, parameters=f"{of}* o")

    def after(name, first, other, count):
        value = 12
        for lane in range(count):
            given = other if lane == 7 else first
            value = {
                "Add": value + given, "Sub": value - given, "Min": min(value, given), "Max": max(value, given),
                "And": value & given, "Or": value | given, "Xor": value ^ given, "Exch": given,
                "Inc": 0 if value >= given else value + 1, "Dec": given if value == 0 or value > given else value - 1,
            }[name]  # fmt: skip
        return value

    for n, name in enumerate(names):
        wrapped = np.array([after(name, 5, 9, 32), after(name, 5, 5, 32)]).astype(dtype)
        assert np.array_equal([o[n], o[16 + n]], wrapped), name


def test_compare_and_swap_and_hints_of_the_cache():
    o = np.zeros(8, np.uint16)
    run("for (unsigned short was = o[0], old; (old = atomicCAS(o, was, (unsigned short)(was + 1))) != was; was = old) {}", o,
        parameters="unsigned short* o")  # fmt: skip
    assert o[0] == 32
    x, y = np.random.default_rng(0).random((2, 32, 4)).astype(np.float32)
    body = "float4 v = __ldg(x + i), w = __ldcs(y + i); __stcs(o + i, make_float4(v.x, w.y, v.z, w.w));"
    got = result(body, np.float32, x, y, count=128, parameters="float4* o, const float4* x, float4* y").reshape(32, 4)
    assert np.array_equal(got, np.where([True, False, True, False], x, y))


def test_vectors_in_unions_and_short_lists():
    body = "union { float4 v; float f[4]; } u; u.v = ((float4*)x)[i]; u.f[2] = 7; float4 z = {1}; ((float4*)o)[i] = i ? u.v : z;"
    x = np.arange(128, dtype=np.float32)
    expected = x.reshape(32, 4).copy()
    expected[:, 2], expected[0] = 7, [1, 0, 0, 0]
    assert np.array_equal(result(body, np.float32, x, count=128).reshape(32, 4), expected)


def test_an_assertion_that_fails_names_its_text_and_line():
    with pytest.raises(AssertionFailed, match=r"source\.cu:\d+: .*`i < 30` failed"):
        run("assert(i < 30); o[i] = i;", np.zeros(32, np.float32), parameters="float* o", heads="#include <cassert>")


# ---- Numbers of 16 and 8 bits ----

SIXTEEN = [("half", np.float16, "cuda_fp16.h"), ("nv_bfloat16", ml_dtypes.bfloat16, "cuda_bf16.h")]


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
@pytest.mark.parametrize("of, dtype, header", SIXTEEN)
def test_operators_of_sixteen_bits(of, dtype, header, arch):
    x, y = (np.random.default_rng(seed).uniform(-4, 4, 64).astype(dtype) for seed in (1, 2))
    pair = f"{of}2"
    calls = ["a + b", "a - b", "a * b", "a / b", "-a", "__hmax(a, b)", "__hmin(a, b)", "__habs(a)"]
    body = f"{of} a = x[i], b = y[i];" + "".join(f"o[{n} * 64 + i] = {call};" for n, call in enumerate(calls))
    body += f"if (i < 32) {{ {pair} p = (({pair}*)x)[i], q = (({pair}*)y)[i];"
    body += "".join(
        f"(({pair}*)o)[{n + len(calls)} * 32 + i] = {call};"
        for n, call in enumerate(["p + q", "__hmul2(p, q)", "__hsub2(p, q)", "__hmax2(p, q)"])
    )
    body += f"}} o[12 * 64 + i] = a > b ? {of}(1.f) : {of}(__hlt(a, b) ? 2 : 3); o[13 * 64 + i] = __shfl_xor_sync(~0u, a, 1);"
    o = np.zeros(14 * 64, np.uint16)
    bits = [values.view(np.uint16) for values in (x, y)]
    run(body, o, *bits, parameters=f"{of}* o, {of}* x, {of}* y", block=64, arch=arch, heads=f"#include <{header}>")
    a, b = x.astype(np.float32), y.astype(np.float32)
    expected = [a + b, a - b, a * b, a / b, -a, np.maximum(a, b), np.minimum(a, b), np.abs(a)]
    expected += [a + b, a * b, a - b, np.maximum(a, b), np.where(a > b, 1, 2), a.reshape(32, 2)[:, ::-1].ravel()]
    assert np.array_equal(o.view(dtype).reshape(14, 64), np.stack(expected).astype(dtype))


@pytest.mark.parametrize("of, dtype, header", SIXTEEN)
def test_functions_and_conversions_of_sixteen_bits(of, dtype, header):
    one = "half" if of == "half" else "bfloat16"
    x = np.random.default_rng(3).uniform(0.1, 4, 32).astype(dtype)
    calls = ["hexp(a)", "hlog(a)", "hsqrt(a)", "hsin(a)", "hrcp(a)", "htanh(a)", f"__int2{one}_rn(__{one}2int_rz(a))"]
    calls += ["hfloor(a)", f"__low2{one}(__{one}2{one}2(a))", f"__float2{one}(float(a) * 2)", "__ldg(x + i)", "a += a"]
    body = f"{of} a = x[i];" + "".join(f"o[{n} * 32 + i] = {call};" for n, call in enumerate(calls))
    o = np.zeros(32 * len(calls), np.uint16)
    run(body, o, x.view(np.uint16), parameters=f"{of}* o, {of}* x", heads=f"#include <{header}>")
    a = x.astype(np.float32)
    expected = [
        np.exp(a),
        np.log(a),
        np.sqrt(a),
        np.sin(a),
        1 / a,
        np.tanh(a),
        np.trunc(a),
        np.floor(a),
        a,
        2 * a,
        a,
        2 * a,
    ]
    got, near = o.view(dtype).reshape(-1, 32).astype(np.float32), np.stack(expected).astype(dtype).astype(np.float32)
    assert np.abs(got - near).max() <= np.abs(near).max() * float(ml_dtypes.finfo(dtype).eps)
    assert np.array_equal(got[6:], near[6:])


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_eight_bits_are_rounded_as_their_formats_say(arch):
    x = np.concatenate(
        [np.random.default_rng(0).standard_normal(1000) * 10.0 ** np.linspace(-7, 6, 1000), [0, -0.0] * 12]
    )
    x, codes = x.astype(np.float32), np.arange(256, dtype=np.uint8)
    a, b, c, d = (
        np.zeros(1024, np.uint8),
        np.zeros(1024, np.uint8),
        np.zeros(256, np.float32),
        np.zeros(256, np.float32),
    )
    body = "a[i] = __nv_fp8_e4m3(x[i]); b[i] = __nv_fp8_e5m2(x[i]);"
    body += "if (i < 256) { c[i] = float(((__nv_fp8_e4m3*)codes)[i]); d[i] = float(((__nv_fp8_e5m2*)codes)[i]); }"
    parameters = "__nv_fp8_e4m3* a, __nv_fp8_e5m2* b, float* x, float* c, float* d, unsigned char* codes"
    run(body, a, b, x, c, d, codes, parameters=parameters, block=1024, arch=arch, heads="#include <cuda_fp8.h>")
    for got, back, dtype in ((a, c, ml_dtypes.float8_e4m3fn), (b, d, ml_dtypes.float8_e5m2)):
        most = float(ml_dtypes.finfo(dtype).max)
        assert np.array_equal(got, np.clip(x, -most, most).astype(dtype).view(np.uint8))
        assert np.array_equal(back, codes.view(dtype).astype(np.float32), equal_nan=True)
