"""Carries, bit fields and roundings in kernels, against NumPy. `test_recorded_values` has the single operations."""

import numpy as np

from gpu_simulator.arithmetic.rounding import round_to_f16

HEAD = 'extern "C" __global__ void kernel'


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
    edges = [0.0, -0.0, 65504, 65519.99, 65520, 65536, np.inf, -np.inf, 2**-14, 2**-15, 2**-24, 2**-25]
    edges += [1.0004883, 2049, 2051, 1e-30]
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
