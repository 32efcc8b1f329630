"""Arithmetic of every width, in whole kernels against NumPy."""

import numpy as np

from gpu_simulator.arithmetic.rounding import round_to_f16

HEAD = 'extern "C" __global__ void kernel'


def to_bf16(x):
    return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def from_bf16(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


def test_fp64_arithmetic(cuda, rng):
    source = (
        HEAD
        + """(const double* a, const double* b, double* out) {
      int i = threadIdx.x;
      out[i] = fma(a[i], b[i], -a[i] * b[i]); out[32 + i] = a[i] / b[i]; out[64 + i] = sqrt(fabs(a[i]));
      out[96 + i] = fmin(a[i], b[i]) + floor(a[i]) + (double)(long long)b[i];
      out[128 + i] = exp(a[i]);
    }"""
    )
    a, b = rng.standard_normal((2, 32))
    out = np.zeros((5, 32))
    cuda(source, a, b, out)
    from fractions import Fraction

    exact = [float(Fraction(x) * Fraction(y) - Fraction(float(x * y))) for x, y in zip(a, b, strict=True)]
    assert np.array_equal(out[0], exact)
    assert np.array_equal(out[1], a / b) and np.array_equal(out[2], np.sqrt(abs(a)))
    assert np.array_equal(out[3], np.minimum(a, b) + np.floor(a) + np.trunc(b))
    assert np.allclose(out[4], np.exp(a), rtol=1e-15)


def test_bf16_math(cuda, rng):
    source = (
        "#include <cuda_bf16.h>\n"
        + HEAD
        + """(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out) {
      int i = threadIdx.x;
      out[i] = __hadd(a[i], b[i]); out[32 + i] = __hmul(a[i], b[i]); out[64 + i] = __hfma(a[i], b[i], a[i]);
      out[96 + i] = __hmax(a[i], b[i]); out[128 + i] = __float2bfloat16(__bfloat162float(a[i]) / 3.0f);
      __nv_bfloat162 p = __halves2bfloat162(a[i], b[i]); p = __hfma2(p, p, p); out[160 + i] = p.x; out[192 + i] = p.y;
    }"""
    )
    x, y = (from_bf16(to_bf16(rng.standard_normal(32).astype(np.float32))) for _ in range(2))
    out = np.zeros((7, 32), np.uint16)
    cuda(source, to_bf16(x), to_bf16(y), out)

    def rounded(v):  # exact in float64, to nearest even in 8 bits of fraction
        m, e = np.frexp(v)
        return np.ldexp(np.rint(m * 256), e - 8)

    x, y = x.astype(np.float64), y.astype(np.float64)
    for row, expected in zip(
        out,
        (
            x + y,
            x * y,
            x * y + x,
            np.maximum(x, y),
            (x / 3).astype(np.float32).astype(np.float64),
            x * x + x,
            y * y + y,
        ),
        strict=True,
    ):
        assert np.array_equal(from_bf16(row), rounded(expected))


def test_fp16_math(cuda, rng):
    source = (
        "#include <cuda_fp16.h>\n"
        + HEAD
        + """(const half* a, const half* b, half* out, int* n) {
      int i = threadIdx.x; half2 p = __halves2half2(a[i], b[i]);
      half2 s = __hadd2(p, __lowhigh2highlow(p)), m = __hmul2(p, p), f = __hfma2(p, p, s);
      out[i] = s.x; out[32 + i] = m.y; out[64 + i] = f.x; out[96 + i] = hrint(a[i]); out[128 + i] = __hneg(__habs(a[i]));
      out[160 + i] = __hlt(a[i], b[i]) ? a[i] : b[i]; out[192 + i] = __int2half_rn(i * 1000 + 1); out[224 + i] = __float2half_rz(1.0f / 3);
      n[i] = __half2int_rn(a[i]) + __hisnan(a[i]) * 100 + (__hbgt2(p, p) ? 1000 : 0);
    }"""
    )
    a, b = rng.standard_normal((2, 32)).astype(np.float16) * 3
    out, n = np.zeros((8, 32), np.float16), np.zeros(32, np.int32)
    cuda(source, a, b, out, n)
    wide = a.astype(np.float64)
    i = np.arange(32)
    expected = [
        a + b,
        b * b,
        (wide * wide + (a + b).astype(np.float64)).astype(np.float16),
        np.rint(a),
        -abs(a),
        np.minimum(a, b),
        (i * 1000.0 + 1).astype(np.float16),
        np.full(32, 0.333, np.float16),
    ]
    expected[7] = np.full(32, np.array([0x3555], np.uint16).view(np.float16)[0])
    for row, want in zip(out, expected, strict=True):
        assert np.array_equal(row, want)
    assert np.array_equal(n, np.rint(a).astype(np.int32))


def test_integers_of_every_width(cuda, rng):
    source = (
        HEAD
        + """(const long long* a, const long long* b, long long* out) {
      int i = threadIdx.x; long long x = a[i], y = b[i]; unsigned long long u = x, v = y;
      out[i] = x / y; out[32 + i] = x % y; out[64 + i] = __umul64hi(u, v); out[96 + i] = __mul64hi(x, y);
      out[128 + i] = (short)x * (short)y + (unsigned char)x; out[160 + i] = (int)x / ((int)y | 1); out[192 + i] = (long long)(float)x;
      out[224 + i] = __funnelshift_l((unsigned)x, (unsigned)y, i) ^ __byte_perm((unsigned)x, (unsigned)y, 0x3715);
      out[256 + i] = u / (v >> 40); out[288 + i] = min(x, y) + (x >> (i & 63)); out[320 + i] = __mulhi((int)x, (int)y) + __sad((int)x, (int)y, 3u);
    }"""
    )
    a, b = rng.integers(-(2**62), 2**62, (2, 32))
    b[b == 0] = 1
    out = np.zeros((11, 32), np.int64)
    cuda(source, a, b, out)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        u, v = x % 2**64, y % 2**64
        q = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        wrap = lambda n: (n + 2**63) % 2**64 - 2**63  # noqa: E731
        s = lambda n, w: (n + 2 ** (w - 1)) % 2**w - 2 ** (w - 1)  # noqa: E731
        assert out[:5, i].tolist() == [q, x - q * y, wrap(u * v >> 64), x * y >> 64, s(x, 16) * s(y, 16) + x % 256]
        d = s(y, 32) | 1
        assert out[5, i] == int(s(x, 32) / d)
        assert out[6, i] == int(np.float32(x))
        low, high = x % 2**32, y % 2**32
        funnel = ((high << 32 | low) << i >> 32) % 2**32
        data = low.to_bytes(4, "little") + high.to_bytes(4, "little")
        perm = int.from_bytes(bytes(data[n] for n in (5, 1, 7, 3)), "little")
        assert out[7, i] == funnel ^ perm
        assert out[8, i] == wrap(u // (v >> 40)) and out[9, i] == wrap(min(x, y) + (x >> i))
        p, r = s(x, 32), s(y, 32)
        assert out[10, i] % 2**32 == ((p * r >> 32) + abs(p - r) + 3) % 2**32


def test_the_carry_after_a_subtraction_is_one_where_nothing_is_borrowed(cuda, rng):
    """Division of 128-bit integers, as compilers write it, reads the flag of subc with addc."""
    source = (
        HEAD
        + """(const unsigned* a, const unsigned* b, unsigned* o) {
      int t = threadIdx.x; unsigned low, carry, high;
      asm volatile("sub.cc.u32 %0, %3, %4; addc.u32 %1, 0, 0; sub.cc.u32 %0, %3, %4; subc.u32 %2, 0, 0;"
                   : "=&r"(low), "=&r"(carry), "=&r"(high) : "r"(a[t]), "r"(b[t]));
      o[t] = low; o[32 + t] = carry; o[64 + t] = high;
    }"""
    )
    a, b = rng.integers(0, 2**32, (2, 32)).astype(np.uint32)
    b[:4] = a[:4]
    out = np.zeros((3, 32), np.uint32)
    cuda(source, a, b, out)
    assert np.array_equal(out[0], a - b) and np.array_equal(out[1], a >= b)
    assert np.array_equal(out[2], np.where(a >= b, 0, 2**32 - 1))


def test_rounding_to_fp16_in_place_is_the_conversion(rng):
    patterns = rng.integers(0, 2**32, 300_000, dtype=np.uint64).astype(np.uint32)
    edges = [
        0.0,
        -0.0,
        65504,
        65519.99,
        65520,
        65536,
        np.inf,
        -np.inf,
        2**-14,
        2**-15,
        2**-24,
        2**-25,
        1.0004883,
        2049,
        2051,
        1e-30,
    ]
    for values in (
        patterns.view(np.float32),
        np.array(edges, np.float32),
        rng.standard_normal(70_000).astype(np.float32),
        rng.integers(-2000, 2000, 70_000).astype(np.float32),
        np.zeros(5, np.float32),
    ):
        with np.errstate(all="ignore"):
            expected = values.astype(np.float16).astype(np.float32)
            got = round_to_f16(values.copy())
        same = (got.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(got) & np.isnan(expected))
        assert same.all()


def test_a_bit_field_wider_than_its_register_is_the_register(cuda):
    source = (
        HEAD
        + """(const unsigned* in, int* out) {
      int i = threadIdx.x; unsigned n = in[i];
      asm("szext.clamp.s32 %0, %1, %2;" : "=r"(out[i]) : "r"(0x1234589A), "r"(n));
      asm("szext.wrap.s32 %0, %1, %2;" : "=r"(out[4 + i]) : "r"(0x1234589A), "r"(n));
    }"""
    )
    widths, out = np.array([8, 32, 264, 2**31 + 8], np.uint32), np.zeros((2, 4), np.int32)
    cuda(source, widths, out, block=4)
    low, whole = np.int32(0x9A - 256), 0x1234589A
    assert out.tolist() == [[low, whole, whole, whole], [low, 0, low, low]]


def test_float64_to_bf16_is_rounded_as_asked(cuda):
    modes = ("rn", "rz", "rm", "rp")
    lines = "".join(
        f'asm("cvt.{mode}.bf16.f64 %0, %1;" : "=h"(out[{4 * n} + i]) : "d"(in[i]));' for n, mode in enumerate(modes)
    )
    numbers, out = np.array([32 + 1 / 3, -1e-70, 1e300, -1e300]), np.zeros((4, 4), np.uint16)
    cuda(HEAD + "(const double* in, unsigned short* out) { int i = threadIdx.x; " + lines + "}", numbers, out, block=4,
         arch="sm_90")  # fmt: skip
    largest, infinite, minus = 0x7F7F, 0x7F80, 0x8000
    assert out.tolist() == [
        [0x4201, minus, infinite, infinite | minus],
        [0x4201, minus, largest, largest | minus],
        [0x4201, minus + 1, largest, infinite | minus],
        [0x4202, minus, infinite, largest | minus],
    ]
