"""clang's headers where numbers and groups end: infinities, one rounding, limits, parents of tiles, parts of a word.

What is expected follows from ISO C, annex F, from the CUDA Math API or from exact arithmetic in Python. Where ziglang is
missing these tests skip.
"""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from by_clang import result

from gpu_simulator.compiler import clang

pytestmark = pytest.mark.skipif(not clang.installed(), reason="ziglang is not installed: pip install ziglang")
INF, NAN = math.inf, math.nan
HALVES = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"

# ---- Mathematics ----

EDGES = [
    ("exp", -INF, 0), ("exp", INF, INF), ("exp", NAN, NAN), ("exp", -1e10, 0), ("exp", 1e10, INF), ("exp", -3.4e38, 0),
    ("exp", -5.24e9, 0), ("tanh", INF, 1), ("tanh", -INF, -1), ("tanh", 2.6e9, 1), ("tanh", -0.0, -0.0), ("sin", -0.0, -0.0),
    ("tan", -0.0, -0.0), ("expm1", -0.0, -0.0), ("expm1", -INF, -1), ("acosh", 0.5, NAN), ("acosh", -1e38, NAN),
    ("acosh", INF, INF), ("erfcx", -INF, INF), ("erfcx", INF, 0), ("lgamma", INF, INF), ("tgamma", INF, INF),
    ("tgamma", -INF, NAN), ("sinpi", -0.0, -0.0), ("sinpi", 1, 0.0), ("sinpi", -2, -0.0), ("sinpi", 2.256e24, 0.0),
    ("cospi", 0.5, 0.0), ("cospi", -1.5, 0.0), ("cospi", 5.3e25, 1), ("cospi", INF, NAN), ("erfinv", 1, INF), ("erfinv", -1, -INF),
    ("erfinv", 2, NAN), ("erfcinv", 2, -INF), ("normcdfinv", 0, -INF), ("normcdfinv", 1, INF), ("normcdf", -INF, 0),
]  # fmt: skip
PAIRS = [("remainder", INF, INF, NAN), ("remainder", 1, -INF, 1), ("fmod", INF, 1, NAN), ("pow", -INF, 3, -INF)]


@pytest.mark.parametrize("of, dtype, suffix", [("float", np.float32, "f"), ("double", np.float64, "")])
def test_functions_at_infinities_zeros_and_large_numbers(of, dtype, suffix):
    calls = [f"{name}{suffix}(x[{n}])" for n, (name, *_) in enumerate(EDGES)]
    calls += [f"{name}{suffix}(x[{n}], y[{n}])" for n, (name, *_) in enumerate(PAIRS, len(EDGES))]
    x, y = np.array([row[1] for row in EDGES + PAIRS], dtype), np.array([row[-2] for row in EDGES + PAIRS], dtype)
    expected = np.array([row[-1] for row in EDGES + PAIRS], dtype)
    body = "".join(f"o[{n}] = {call};" for n, call in enumerate(calls))
    got = result(body, dtype, x, y, count=len(x), parameters=f"{of}* o, {of}* x, {of}* y", block=1)
    wrong = ~((got == expected) & (np.signbit(got) == np.signbit(expected)) | (np.isnan(got) & np.isnan(expected)))
    assert not wrong.any(), [(calls[n], x[n], got[n]) for n in np.flatnonzero(wrong)]


def test_a_softmax_with_a_mask_of_minus_infinity():
    x = np.where(np.arange(32) < 20, np.arange(32) / 8, -INF).astype(np.float32)
    body = "float most = x[i]; for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));"
    body += (
        "float e = expf(x[i] - most), s = e; for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d); o[i] = e / s;"
    )
    e = np.exp(x.astype(np.float64) - x.max())
    np.testing.assert_allclose(result(body, np.float32, x), e / e.sum(), rtol=1e-6)


def erfcx(x):
    """exp(x²) erfc(x), with the square as a sum of two."""
    high = x * x
    return math.exp(high) * (1 + float(Fraction(x) ** 2 - Fraction(high))) * math.erfc(x)


# Relative to the result, at most this many times 2^-52; CUDA's own bounds are 10, 5, 5 and 1.
NEAR = {
    "tgamma": (math.gamma, np.r_[np.linspace(0.6, 171, 60), -2.5, -10.25, -10.75], 24),
    "erfc": (math.erfc, np.linspace(-3, 26, 64), 24),
    "erfcx": (erfcx, np.linspace(-25, 5, 61), 24),
    "cbrt": (np.cbrt, np.array([5e-324, -1e-310, 8.0, 1e300]), 4),
    "normcdf": (lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), np.linspace(-8, 8, 33), 80),
    "normcdfinv": (lambda p: p, np.array([1e-300, 1e-20, 0.001, 0.3, 0.5, 0.7, 0.999]), 1000),
}


@pytest.mark.parametrize("name", NEAR)
def test_doubles_are_near(name):
    exact, x, most = NEAR[name]
    call = f"normcdf({name}(x[i]))" if name == "normcdfinv" else f"{name}(x[i])"
    got = result(
        f"if (i < {len(x)}) o[i] = {call};", np.float64, x, count=len(x), parameters="double* o, double* x", block=64
    )
    expected = np.array([exact(float(value)) for value in x])
    assert np.all(np.abs(got - expected) <= most * 2.0**-52 * np.abs(expected) + 5e-324), np.abs(
        got / expected - 1
    ).max()


def test_functions_of_libcudacxx_that_are_builtins_of_the_compiler():
    heads, z = "#include <cuda/std/complex>\n#include <cuda/std/cmath>\n", np.exp(1 + 0.5j)
    body = "cuda::std::complex<double> z(1., .5), e = cuda::std::exp(z), q = e / z; o[0] = e.real(); o[1] = q.imag();"
    body += "o[2] = cuda::std::abs(z); o[3] = cuda::std::exp(1.f); o[4] = cuda::std::logb(9.); o[5] = cuda::std::tgamma(5.);"
    got = result(body, np.float64, count=6, parameters="double* o", heads=heads, block=1)
    np.testing.assert_allclose(got, [z.real, (z / (1 + 0.5j)).imag, abs(1 + 0.5j), math.e, 3, 24], rtol=1e-6)


# ---- Sixteen and eight bits ----

TYPES = pytest.mark.parametrize(
    "of, name, dtype", [("__half", "half", np.float16), ("__nv_bfloat16", "bfloat16", ml_dtypes.bfloat16)]
)


def rounded(value, dtype, how):
    """The number of a type next to an exact value that is no larger than the type's numbers: rn, rz, ru or rd."""
    with np.errstate(over="ignore"):
        near = np.array(value, np.float64).astype(np.float32).astype(dtype)
    codes = np.array([near.view(np.int16) + step for step in (-1, 0, 1)], np.int16).view(dtype)
    codes = [one for one in codes if float(one) == float(one)]
    exact = {Fraction(min(float(one), 2.0**16)) if np.isinf(float(one)) else Fraction(float(one)): one for one in codes}
    down, up = max(one for one in exact if one <= value), min(one for one in exact if one >= value)
    even = down if exact[down].view(np.int16) % 2 == 0 else up
    nearest = min((down, up), key=lambda one: (abs(one - Fraction(value)), one != even))
    return exact[{"rn": nearest, "ru": up, "rd": down, "rz": down if value > 0 else up}[how]]


@TYPES
def test_numbers_are_rounded_once(of, name, dtype):
    whole = [16842753, -16842753, 65519, 33554433, -(2**40) - 1 if name != "half" else -40001, 3, 0]
    real = [65519.999, 2.980232238772512e-08, 1.0039062500009095, 1 + 2**-11 + 2**-40, 0.1]
    if name == "half":
        whole[:2], whole[3] = [2049, -2051], 4099
    n, d = np.array(whole), np.array(real)
    ways = ("rn", "rz", "ru", "rd")
    body = f"if (i < {len(n)}) {{ o[i] = {of}(n[i]);" + "".join(
        f"o[{64 * (k + 1)} + i] = __ll2{name}_{how}(n[i]);" for k, how in enumerate(ways)
    )
    body += f"}} if (i < {len(d)}) {{ o[320 + i] = {of}(d[i]); {of} q; q = d[i]; o[384 + i] = q; o[448 + i] = __double2{name}(d[i]); }}"
    got = result(
        body, np.uint16, n, d, count=512, parameters=f"{of}* o, long long* n, double* d", heads=HALVES, block=32
    )
    got = got.view(dtype).reshape(8, 64)
    for row, how in enumerate(("rn", *ways)):
        assert [float(one) for one in got[row, : len(n)]] == [float(rounded(value, dtype, how)) for value in whole], how
    for row in (5, 6, 7):
        assert [float(one) for one in got[row, : len(d)]] == [float(rounded(value, dtype, "rn")) for value in real]


@TYPES
def test_whole_numbers_of_a_number_keep_the_limits_of_their_type(of, name, dtype):
    x = np.array([40000, -40000, 200, -200, 2.5, -2.5, NAN, INF, -INF], np.float32).astype(dtype)
    kinds = {"short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32}
    casts = {"signed char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16}
    calls = [(f"__{name}2{kind}_rz(x[i])", to) for kind, to in kinds.items()]
    calls += [(f"static_cast<{kind}>(x[i])", to) for kind, to in casts.items()]
    calls += [(f"__{name}2char_rz(x[i])", np.int8), (f"__{name}2uchar_rz(x[i])", np.uint8)]
    body = f"if (i < {len(x)}) {{" + "".join(f"o[{n} * 9 + i] = {call};" for n, (call, _) in enumerate(calls)) + "}"
    got = result(
        body, np.int64, x.view(np.uint16), count=9 * len(calls), parameters=f"long long* o, {of}* x", heads=HALVES
    )
    for (call, to), row in zip(calls, got.reshape(-1, 9), strict=True):
        limits, value = np.iinfo(to), np.nan_to_num(x.astype(np.float64), nan=0, posinf=2**40, neginf=-(2**40))
        assert np.array_equal(row, np.clip(np.trunc(value), limits.min, limits.max)), call


@TYPES
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_what_is_not_a_number_stays_so_and_steps_step(of, name, dtype, arch):
    x = np.array([-INF, 0, 0.5, -3, 2, 1], np.float32).astype(dtype).view(np.uint16)
    pair = "__half2" if name == "half" else "__nv_bfloat162"
    body = f"""o[0] = __hfma_relu(x[0], x[1], x[2]); o[1] = __hfma_relu(x[3], x[4], x[5]); o[2] = __hfma_sat(x[4], x[5], x[5]);
  {of} q = x[4]; o[3] = q++; o[4] = q; o[5] = q--; o[6] = --q; {pair} p(x[4], x[5]), r = p++; o[7] = r.y; o[8] = p.y; o[9] = (++p).x;
  o[10] = __hadd_rn(x[4], x[5]); o[11] = __hmul2_rn(p, p).x; o[12] = __hcmadd({pair}(x[4], x[5]), {pair}(x[3], x[4]), r).x;"""
    got = result(body, np.uint16, x, count=13, parameters=f"{of}* o, {of}* x", heads=HALVES, arch=arch, block=1).view(
        dtype
    )
    assert np.isnan(float(got[0]))
    assert [float(one) for one in got[1:]] == [0, 1, 2, 3, 3, 1, 1, 2, 4, 3, 16, -6]


def test_eight_bits_and_bfloat16_at_their_edges():
    body = "o[0] = __nv_fp8_e4m3(d[0]).__x; o[1] = __nv_fp8_e5m2(d[1]).__x;"
    body += "for (int k = 0; k < 3; k++) o[2 + k] = __nv_bfloat16_raw(k == 0 ? __float2bfloat16_rz(f[0]) : k == 1 ? "
    body += "__float2bfloat16_ru(f[1]) : __float2bfloat16_rd(f[1])).x;"
    d, f = np.array([17.0000000001, 9.000000001]), np.array([0x7F800001, 0x3F800001], np.uint32)
    got = result(body, np.int32, d, f, count=5, parameters="int* o, double* d, float* f", heads=HALVES, block=1)
    assert got.tolist() == [0x59, 0x49, 0x7FFF, 0x3F81, 0x3F80]


# ---- Groups ----


def test_tiles_count_within_their_parents_and_scans_keep_their_order():
    heads = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\n"
    heads += "namespace cg = cooperative_groups;\n"
    body = """auto block = cg::this_thread_block(); auto warp = cg::tiled_partition<32>(block), pair = cg::tiled_partition<64>(block);
  auto four = cg::tiled_partition<4>(warp); cg::thread_block_tile<4> any = four; auto of_pair = cg::tiled_partition<16>(pair);
  o[i] = four.meta_group_rank() + 100 * four.meta_group_size(); o[128 + i] = any.meta_group_rank() + 100 * any.meta_group_size();
  o[256 + i] = of_pair.meta_group_rank() + 100 * of_pair.meta_group_size(); o[384 + i] = pair.meta_group_rank() + 100 * pair.meta_group_size();
  auto right = [](int a, int b) { return b; }; o[512 + i] = cg::inclusive_scan(four, i, right); o[640 + i] = cg::inclusive_scan(pair, i);
  o[768 + i] = cg::exclusive_scan(pair, 1); auto all = cg::binary_partition(warp, true); o[896 + i] = all.meta_group_rank() + 100 * all.meta_group_size();"""
    body = body.replace(
        "auto warp = cg::tiled_partition<32>(block), pair =", "auto warp = cg::tiled_partition<32>(block); auto pair ="
    )
    got = result(body, np.int32, count=1024, parameters="int* o", block=128, heads=heads).reshape(8, 128)
    i = np.arange(128)
    first = i // 64 * 64
    sums = [sum(range(f, n + 1)) for f, n in zip(first, i, strict=True)]
    expected = [
        i % 32 // 4 + 800,
        i % 32 // 4 + 800,
        i % 64 // 16 + 400,
        i // 64 + 200,
        i // 4 * 4,
        sums,
        i % 64,
        0 * i + 100,
    ]
    assert np.array_equal(got, np.array(expected))


# ---- Parts of a word ----


def within(value, dtype):
    return np.clip(value, np.iinfo(dtype).min, np.iinfo(dtype).max)


def wrapped(value, dtype):
    return value.astype(dtype).astype(np.int64)


SIGNED = {
    "addss": lambda x, y, t: within(x + y, t), "subss": lambda x, y, t: within(x - y, t), "neg": lambda x, y, t: -x,
    "negss": lambda x, y, t: within(-x, t), "abs": lambda x, y, t: abs(x), "absss": lambda x, y, t: within(abs(x), t),
    "avgs": lambda x, y, t: (x + y + (x + y >= 0)) >> 1, "absdiffs": lambda x, y, t: abs(x - y),
    "cmpges": lambda x, y, t: -(x >= y).astype(int), "cmples": lambda x, y, t: -(x <= y).astype(int),
    "setgts": lambda x, y, t: x > y, "setges": lambda x, y, t: x >= y, "setlts": lambda x, y, t: x < y, "setles": lambda x, y, t: x <= y,
}  # fmt: skip
UNSIGNED = {
    "addus": lambda x, y, t: within(x + y, t), "subus": lambda x, y, t: within(x - y, t), "setne": lambda x, y, t: x != y,
    "cmpgeu": lambda x, y, t: -(x >= y).astype(int), "cmpleu": lambda x, y, t: -(x <= y).astype(int),
    "setgtu": lambda x, y, t: x > y, "setgeu": lambda x, y, t: x >= y, "setltu": lambda x, y, t: x < y, "setleu": lambda x, y, t: x <= y,
}  # fmt: skip
THREE = {
    "viaddmax": lambda x, y, z, t: np.maximum(wrapped(x + y, t), z), "vimax3": lambda x, y, z, t: np.maximum(np.maximum(x, y), z),
    "viaddmin": lambda x, y, z, t: np.minimum(wrapped(x + y, t), z), "vimin3": lambda x, y, z, t: np.minimum(np.minimum(x, y), z),
}  # fmt: skip


def test_bytes_halves_and_words():
    x, y, z = np.random.default_rng(5).integers(0, 2**32, (3, 32), dtype=np.uint32)
    x[:6], y[:6] = (
        [0x80808080, 0x80008000, 0x7F7F7F7F, 0, 0xFFFFFFFF, 0x80000000],
        [0x80FF7F01, 0x80007FFF, 0x01010101, 0, 1, 0x80000000],
    )
    calls, expected = [], []
    for sign, table in (("i", SIGNED), ("u", UNSIGNED)):
        for (name, body), (count, size) in ((a, b) for a in table.items() for b in ((4, 1), (2, 2))):
            to = np.dtype(f"{sign}{size}")
            parts = [wrapped(value.view(to), to) for value in (x, y)]
            one = name.startswith(("neg", "abs")) and not name.startswith("absdiff")
            calls.append(f"__v{name}{count}(x[i]{'' if one else ', y[i]'})")
            expected.append(np.asarray(body(*parts, to)).astype(to).view(np.uint32))
    for name, body in THREE.items():
        for kind, to, relu in (
            ("s32", "i4", 0),
            ("u32", "u4", 0),
            ("s16x2", "i2", 0),
            ("u16x2", "u2", 0),
            ("s32", "i4", 1),
            ("s16x2", "i2", 1),
        ):
            found = body(*(wrapped(value.view(to), to) for value in (x, y, z)), np.dtype(to))
            calls.append(f"__{name}_{kind}{'_relu' * relu}(x[i], y[i], z[i])")
            expected.append((np.maximum(found, 0) if relu else found).astype(to).view(np.uint32))
    calls += ["__vsads4(x[i], y[i])", "__vsadu4(x[i], y[i])", "__fns(x[i], 3, 2)"]
    bytes_of = [[wrapped(value.view(to), to).reshape(-1, 4) for value in (x, y)] for to in (np.int8, np.uint8)]
    expected += [abs(a - b).sum(1).astype(np.uint32) for a, b in bytes_of]
    places = [[at for at in range(3, 32) if int(value) >> at & 1] for value in x]
    expected.append(np.array([found[1] if len(found) > 1 else 2**32 - 1 for found in places], np.uint32))
    body = "".join(f"o[{n} * 32 + i] = {call};" for n, call in enumerate(calls))
    got = result(
        body, np.uint32, x, y, z, count=32 * len(calls), parameters="unsigned* o, unsigned* x, unsigned* y, unsigned* z"
    )
    wrong = [
        call
        for call, one, want in zip(calls, got.reshape(-1, 32), expected, strict=True)
        if not np.array_equal(one, want)
    ]
    assert not wrong
