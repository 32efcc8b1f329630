"""A register that nothing has written holds anything on a GPU; here floats hold NaN, so that their use is seen."""

import numpy as np

import gemm_lab as lab
from gemm_lab.notebook.fault_injection import inject_fault


def test_an_unwritten_float_is_nan_and_a_written_one_is_not(cuda):
    out = np.zeros(64, np.float32)
    cuda(
        """extern "C" __global__ void kernel(float* o) {
      float unset, set = 0.0f;
      asm volatile("{ .reg .f32 u; add.f32 %0, u, 1.0; }" : "=f"(unset));
      asm volatile("add.f32 %0, %1, 1.0;" : "=f"(set) : "f"(set));
      o[threadIdx.x] = unset, o[threadIdx.x + 32] = set;
    }""",
        out,
    )
    assert np.isnan(out[:32]).all() and (out[32:] == 1).all()


def test_a_branch_that_writes_only_some_lanes_leaves_the_others_alone(cuda):
    out = np.zeros(32, np.float32)
    cuda(
        """extern "C" __global__ void kernel(float* o) {
      float x;
      if (threadIdx.x % 3 == 0) x = threadIdx.x;
      else x = -1.0f;
      if (threadIdx.x % 5) o[threadIdx.x] = x;
    }""",
        out,
    )
    lanes = np.arange(32)
    assert np.array_equal(out, np.where(lanes % 5 == 0, 0, np.where(lanes % 3 == 0, lanes, -1)))


def test_sums_that_begin_with_what_the_registers_held_are_wrong():
    """The first wgmma of a tile adds to registers that nobody has set to 0."""
    found = inject_fault(lab.kernel("hopper/01"), {"k_tile > 0 || k > 0": "true"})
    assert found.kind == "a wrong result" and "nan" in found.says
    assert inject_fault(lab.kernel("hopper/01"), {}).kind == "nothing"
