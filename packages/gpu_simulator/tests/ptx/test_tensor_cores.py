"""ldmatrix and mma on whole numbers give NumPy's product exactly, with each row where the bank model says."""

import numpy as np
import pytest
from ptx_text import at, run

STAGE = (
    "mov.u32 %r20, smem;\n"
    # A, 512 bytes, 16 by each thread; B, 256 bytes, 8 by each thread, behind it.
    + at("%a", "%t", 16, "%q10")
    + "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%q10]; shl.b32 %r5, %t, 4; add.u32 %r5, %r5, %r20;\n"
    + "st.shared.v4.u32 [%r5], {%r1, %r2, %r3, %r4};\n"
    + at("%bb", "%t", 8, "%q11")
    + "ld.global.v2.u32 {%r1, %r2}, [%q11]; shl.b32 %r5, %t, 3; add.u32 %r5, %r5, %r20; st.shared.v2.u32 [%r5+512], {%r1, %r2};\n"
    + "bar.warp.sync -1;\n"
)
FRAGMENTS = """and.b32 %r6, %t, 15; shl.b32 %r6, %r6, 5; and.b32 %r7, %t, 16; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r20;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r6];
and.b32 %r6, %t, 7; shl.b32 %r6, %r6, 5; and.b32 %r7, %t, 8; shl.b32 %r7, %r7, 1; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r20;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r12, %r13}, [%r6+512];
"""
# Element (t / 4, 2 (t mod 4)) of D, rows of 8 numbers of 4 bytes; the other half is 8 rows below.
ADDRESS = (
    "shr.u32 %r6, %t, 2; shl.b32 %r6, %r6, 3; and.b32 %r7, %t, 3; shl.b32 %r7, %r7, 1; add.u32 %r6, %r6, %r7;\n"
    + at("%d", "%r6", 4, "%q12")
)
INTEGER = (
    "mov.u32 %r14, 0; mov.u32 %r15, 0; mov.u32 %r16, 0; mov.u32 %r17, 0;\n"
    "mma.sync.aligned.m16n8k32.row.col.s32.{a}.{b}.s32 {{%r14, %r15, %r16, %r17}}, {{%r8, %r9, %r10, %r11}}, {{%r12, %r13}}, "
    "{{%r14, %r15, %r16, %r17}};\n"
)
FLOAT = (
    "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r8, %r9, %r10, %r11}, {%r12, %r13}, "
    "{%f1, %f2, %f3, %f4};\n"
)


@pytest.mark.parametrize("kind_a", ["s8", "u8"])
@pytest.mark.parametrize("kind_b", ["s8", "u8"])
def test_bytes(kind_a, kind_b, rng):
    dtypes = {"s8": "i1", "u8": "u1"}
    a, b = (
        rng.integers(0, 256, (rows, 32)).astype("u1").view(dtypes[kind]) for rows, kind in ((16, kind_a), (8, kind_b))
    )
    d = np.zeros((16, 8), "i4")
    store = "st.global.v2.u32 [%q12], {%r14, %r15}; st.global.v2.u32 [%q12+256], {%r16, %r17};"
    report = run(
        STAGE + FRAGMENTS + INTEGER.format(a=kind_a, b=kind_b) + ADDRESS + store, a, b, d, observers=("hazards",)
    )
    assert np.array_equal(d, a.astype("i4") @ b.astype("i4").T) and report.hazards == []


def test_halves_that_hold_whole_numbers(rng):
    a, b = (rng.integers(-64, 64, (rows, 16)).astype("f2") for rows in (16, 8))
    d = np.zeros((16, 8), "f4")
    store = "st.global.v2.f32 [%q12], {%f1, %f2}; st.global.v2.f32 [%q12+256], {%f3, %f4};"
    run(STAGE + FRAGMENTS + FLOAT + ADDRESS + store, a, b, d)
    assert np.array_equal(d, a.astype("f4") @ b.astype("f4").T)


def test_rows_of_32_bytes_share_banks_four_rows_apart(rng):
    """8 rows of 16 bytes, 32 bytes apart, touch 64 words of 256 bytes: each bank twice, so a matrix takes 2 wavefronts."""
    a, b = (rng.integers(-64, 64, (rows, 16)).astype("f2") for rows in (16, 8))
    report = run(STAGE + FRAGMENTS, a, b, np.zeros(1, "f4"))
    counts = {
        site.opcode.split(".")[4]: (site.wavefronts, site.ideal_wavefronts)
        for site in report.sites
        if "ldmatrix" in site.opcode
    }
    assert counts == {"x4": (8, 4), "x2": (4, 2)}


@pytest.mark.parametrize("spelled", ["x2.shared.b16.trans", "x2.b16.trans.shared", "trans.x2.shared.b16"])
def test_the_modifiers_of_ldmatrix_may_stand_in_any_order(cuda, spelled):
    """ptxas takes them in any order."""
    text = """
extern "C" __global__ void kernel(unsigned* out) {
  __shared__ __align__(16) unsigned short s[16][8];
  for (int i = threadIdx.x; i < 128; i += 32) s[i / 8][i % 8] = i;
  __syncwarp();
  unsigned a, b;
  asm volatile("ldmatrix.sync.aligned.m8n8.SPELLED {%0, %1}, [%2];" : "=r"(a), "=r"(b)
               : "r"((unsigned)__cvta_generic_to_shared(s[threadIdx.x % 16])) : "memory");
  out[threadIdx.x] = a; out[32 + threadIdx.x] = b;
}"""
    results = []
    for name in (spelled, "x2.trans.shared.b16"):
        out = np.zeros(64, np.uint32)
        cuda(text.replace("SPELLED", name), out)
        results.append(out)
    assert np.array_equal(*results) and results[0][0] == 8 << 16
