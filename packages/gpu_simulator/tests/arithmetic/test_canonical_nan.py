"""Which NaN a result is: one of its own for arithmetic in float32 and FP16, the same bits after a move.

What an H200 answers instruction by instruction is held by tests/tools/test_opcodes.py; here are programs.
"""

import numpy as np
import ptx_text
import pytest

from gpu_simulator.arithmetic.rounding import canonical

HEAD = 'extern "C" __global__ void kernel'
PAYLOADS = np.array([0x7FC12345, 0xFFC00001, 0x7F800001, 0xFFFFFFFF], np.uint32)  # quiet and signalling, both signs
MANY = np.resize(PAYLOADS, 32)


def test_arithmetic_gives_one_nan_in_all_lanes_and_in_one(cuda):
    source = (
        HEAD
        + """(const float* in, unsigned* out, float zero) {
      float x = in[threadIdx.x], big = __int_as_float(0x7f800000);
      out[threadIdx.x] = __float_as_uint(x * 2.0f);
      if (threadIdx.x == 5) out[32] = __float_as_uint(zero * big - x);
      out[33] = __float_as_uint(zero / zero);
      out[64 + threadIdx.x] = __float_as_uint(fminf(x, zero / zero));
    }"""
    )
    out = np.zeros(96, np.uint32)
    cuda(source, MANY.view(np.float32), out, np.float32(0))
    assert (out[:34] == 0x7FFFFFFF).all() and (out[64:] == 0x7FFFFFFF).all()


def test_a_move_keeps_the_bits(cuda):
    source = (
        HEAD
        + """(const float* in, float* out, int* other) {
      __shared__ float s[32];
      s[threadIdx.x] = in[threadIdx.x];
      __syncwarp();
      float x = __shfl_xor_sync(~0u, s[threadIdx.x], 4);
      out[threadIdx.x] = other[threadIdx.x] > 0 ? x : in[31 - threadIdx.x];
    }"""
    )
    other, out = np.arange(-16, 16, dtype=np.int32), np.zeros(32, np.float32)
    cuda(source, MANY.view(np.float32), out, other)
    expected = np.where(other > 0, MANY[np.arange(32) ^ 4], MANY[::-1])
    assert np.array_equal(out.view(np.uint32), expected)


@pytest.mark.parametrize(
    ("body", "due"),
    [
        ("mov.b32 %r1, 0x7c00fc01; fma.rn.f16x2 %r2, %r1, %r1, %r1;", 0x7C007FFF),
        ("mov.b32 %r1, 0x7c00fe01; neg.f16x2 %r2, %r1;", 0xFC007FFF),
        ("mov.b32 %r1, 0x7f80ff81; abs.bf16x2 %r2, %r1;", 0x7F807FFF),
        ("mov.b32 %f1, 0fFFC00001; cvt.rn.f16x2.f32 %r2, %f1, %f1;", 0x7FFF7FFF),
        ("mov.b32 %f1, 0fFFC00001; max.f32 %f2, %f1, 0f3F800000; mov.b32 %r2, %f2;", 0x3F800000),
        ("mov.b32 %f1, 0f7F812345; min.f32 %f2, %f1, 0f40000000; mov.b32 %r2, %f2;", 0x40000000),
        ("mov.b32 %f1, 0fFF812345; max.f32 %f2, 0f40000000, %f1; mov.b32 %r2, %f2;", 0x40000000),
        ("mov.b32 %f1, 0f7F812345; min.f32 %f2, %f1, %f1; mov.b32 %r2, %f2;", 0x7FFFFFFF),
        ("mov.b32 %f1, 0fFFC00001; add.sat.f32 %f2, %f1, %f1; mov.b32 %r2, %f2;", 0),
        ("mov.b64 %g1, 0dFFF8000000000001; neg.f64 %g1, %g1; mov.b64 {%r1, %r2}, %g1;", 0xFFF80000),
        ("mov.b64 %g1, 0dFFF8000000000001; cvt.rn.f32.f64 %f2, %g1; mov.b32 %r2, %f2;", 0xFFC00000),
        ("mov.b64 %g1, 0dFFF8000000000001; rcp.approx.ftz.f64 %g1, %g1; mov.b64 {%r1, %r2}, %g1;", 0x7FFFFFFF),
    ],
)
def test_packed_forms_conversions_and_float64(body, due):
    out = np.zeros(32, np.uint32)
    ptx_text.run(f"{body} {ptx_text.at('%d', '%t', 4, '%q1')} st.global.b32 [%q1], %r2;", None, None, out)
    assert [hex(int(word)) for word in set(out)] == [hex(due)]


@pytest.mark.parametrize("kind", ["f32", "f16"])
def test_products_of_tiles(kind, cuda):
    count, constraint = (4, "f") if kind == "f32" else (2, "r")
    held = "float" if kind == "f32" else "unsigned"
    c = ", ".join(f"%{n}" for n in range(count))
    source = (
        HEAD
        + f"""(const unsigned* a, {held}* out) {{
      {held} d[{count}] = {{}};
      unsigned x = a[threadIdx.x];
      asm("mma.sync.aligned.m16n8k8.row.col.{kind}.f16.f16.{kind} {{{c}}}, {{%{count}, %{count}}}, {{%{count + 1}}}, {{{c}}};"
          : {", ".join(f'"+{constraint}"(d[{n}])' for n in range(count))} : "r"(x), "r"(0x3c003c00));
      for (int n = 0; n < {count}; n++) out[threadIdx.x * {count} + n] = d[n];
    }}"""
    )
    a = np.zeros(32, np.uint32)
    a[:4] = 0xFE01  # row 0 (and row 8) of A has a NaN in every second column
    out = np.zeros(32 * count, np.uint32)
    cuda(source, a, out.view(np.float32) if kind == "f32" else out)
    rows = out.reshape(32, -1)
    assert (rows[:4] == (0x7FFFFFFF if kind == "f32" else 0x7FFF7FFF)).all() and not rows[4:].any()


def test_a_sum_that_is_used_further_is_not_looked_at_and_one_that_is_stored_is():
    """What only arithmetic reads shows no bits; each way out of it gives the NaN all the same."""
    at = ptx_text.at("%d", "%t", 4, "%q1")
    head = "mov.b32 %f1, 0fFFC00001; fma.rn.f32 %f2, %f1, %f1, %f1;"
    for use, due in (
        ("mul.f32 %f3, %f2, %f2; mov.b32 %r2, %f3;", 0x7FFFFFFF),
        ("setp.eq.u32 %p1, %t, %t; selp.f32 %f3, %f2, %f1, %p1; mov.b32 %r2, %f3;", 0x7FFFFFFF),
        ("mul.f32 %f3, %f2, %f2; cvt.f64.f32 %g1, %f2; mov.b64 {%r1, %r2}, %g1;", 0x7FFFFFFF),
        ("cvt.rn.bf16x2.f32 %r2, %f2, %f2;", 0x7FFF7FFF),
        ("max.f32 %f3, %f2, 0f3F800000; mov.b32 %r2, %f3;", 0x3F800000),
    ):
        out = np.zeros(32, np.uint32)
        ptx_text.run(f"{head} {use} {at} st.global.b32 [%q1], %r2;", None, None, out)
        assert [hex(int(word)) for word in set(out)] == [hex(due)], use


def test_numbers_pass_unchanged():
    numbers = np.array([0, -0.0, np.inf, -np.inf, 1e-45, 3.4e38, -3.4e38], np.float32)
    with np.errstate(all="ignore"):
        for x in (numbers, numbers.astype(np.float16), numbers.astype(np.float64), PAYLOADS.view(np.float64)):
            assert canonical(x) is x


def test_a_fast_division_by_a_huge_number(cuda):
    source = (
        HEAD
        + """(const float* a, const float* b, float* out) {
      out[threadIdx.x] = __fdividef(a[threadIdx.x], b[threadIdx.x]);
    }"""
    )
    edge = np.float32(2.0**126)
    beyond = np.nextafter(edge, np.float32(np.inf))
    b = np.array([edge, beyond, -beyond, 3e38, beyond, np.inf, np.inf, beyond], np.float32)
    a = np.array([1, 1, 1, -1, np.inf, 1, np.inf, 3e38], np.float32)
    out = np.ones(8, np.float32)
    cuda(source, a, b, out, block=8)
    due = np.array([2.0**-126, 0, -0.0, -0.0, np.nan, 0, np.nan, 0], np.float32)
    assert np.array_equal(out, due, equal_nan=True) and (np.signbit(out) == np.signbit(due)).all()
    assert set(out[np.isnan(out)].view(np.uint32).tolist()) == {0x7FFFFFFF}
