"""PTX that a kernel writes itself, and reductions over a warp at the edges of their types."""

import numpy as np

HEAD = 'extern "C" __global__ void kernel'


def test_a_table_of_jumps_in_a_scope_of_its_own(cuda):
    source = (
        HEAD
        + """(int* out) {
      int i = threadIdx.x, r;
      asm volatile("{ .reg .u32 k; and.b32 k, %1, 1; table: .branchtargets EVEN, ODD; brx.idx k, table;"
                   "EVEN: mov.u32 %0, 5; bra.uni END; ODD: mov.u32 %0, 6; END: }" : "=r"(r) : "r"(i));
      out[i] = r;
    }"""
    )
    out = np.zeros(32, np.int32)
    cuda(source, out)
    assert np.array_equal(out, 5 + np.arange(32) % 2)


def test_a_vector_register_has_elements(cuda):
    source = (
        HEAD
        + """(int* out) {
      int i = threadIdx.x, r;
      asm volatile("{ .reg .v2 .u32 t; .shared .align 8 .b32 s[64]; .reg .u32 at; mov.u32 at, s; mad.lo.u32 at, %1, 8, at;"
                   "mov.u32 t.x, %1; mov.u32 t.y, 40; st.shared.v2.u32 [at], t; ld.shared.v2.u32 t, [at];"
                   "add.u32 %0, t.x, t.y; }" : "=r"(r) : "r"(i));
      out[i] = r;
    }"""
    )
    out = np.zeros(32, np.int32)
    cuda(source, out)
    assert np.array_equal(out, 40 + np.arange(32))


def test_shfl_says_where_a_lane_is_out_of_range_though_all_values_agree(cuda):
    source = (
        HEAD
        + """(int* out) {
      asm volatile("{ .reg .pred p; shfl.sync.idx.b32 %0|p, 77, 20, 7, -1; @!p add.u32 %0, %0, 1; }" : "=r"(out[threadIdx.x]));
    }"""
    )
    out = np.zeros(32, np.int32)
    cuda(source, out)
    assert (out == 78).all()


def test_a_sum_over_a_warp_keeps_its_low_bits(cuda):
    source = (
        HEAD
        + """(const int* in, int* out, unsigned* wide) {
      out[threadIdx.x] = __reduce_add_sync(~0u, in[threadIdx.x]);
      wide[threadIdx.x] = __reduce_add_sync(~0u, 0xF0000000u + threadIdx.x);
    }"""
    )
    numbers = np.full(32, -(2**31) + 7, np.int32)
    out, wide = np.zeros(32, np.int32), np.zeros(32, np.uint32)
    cuda(source, numbers, out, wide)
    assert (out == 7 * 32).all() and (wide == 496).all()


def test_the_least_float_of_a_warp_passes_over_nan(cuda):
    source = (
        HEAD
        + """(const float* in, float* out) {
      float x = in[threadIdx.x];
      asm("redux.sync.min.f32 %0, %1, 0xffffffff;" : "=f"(out[threadIdx.x]) : "f"(x));
      asm("redux.sync.min.NaN.f32 %0, %1, 0xffffffff;" : "=f"(out[32 + threadIdx.x]) : "f"(x));
      asm("redux.sync.max.abs.f32 %0, %1, 0xffffffff;" : "=f"(out[64 + threadIdx.x]) : "f"(x));
    }"""
    )
    numbers, out = np.linspace(-9, 4, 32, dtype=np.float32), np.zeros((3, 32), np.float32)
    numbers[5] = np.nan
    cuda(source, numbers, out, arch="sm_100a")
    assert (out[0] == -9).all() and np.isnan(out[1]).all() and (out[2] == 9).all()
