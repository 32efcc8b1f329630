"""Wrong answers to 11_own_kernel. The docstring of each holds words of its refusal."""

import gemm_lab as lab
from gemm_lab_lessons.ch11.stones import stone


def _changed(number, *changes):
    text = stone(number).text
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return stone(number).launch.rewrite(text)


def zeros_everywhere():
    """At 192 × 768 × 512: D["""
    text = """#include <cuda_bf16.h>
extern "C" __global__ void __launch_bounds__(64)
gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* d, int M, int N, int K) {
  for (int i = 0; i < 64; i++) d[(blockIdx.y * 64 + threadIdx.x) * N + blockIdx.x * 64 + i] = 0.0f;
}
"""
    return lab.kernel("hopper/01", BLOCK_M=64, BLOCK_N=64).rewrite(text)


def the_rung_itself():
    """has the text of the ladder"""
    return lab.kernel("hopper/02", BLOCK_M=64, BLOCK_N=64)


def the_rung_itself_with_a_comment():
    """a kernel of your own"""
    rung = lab.kernel("hopper/02", BLOCK_M=64, BLOCK_N=64)
    return rung.rewrite(rung.source + "// mine\n")


def a_text():
    """Return lab.kernel(…).rewrite(kernel)"""
    return stone(3).text


def does_not_compile():
    """is undefined"""
    return _changed(2, ("int warp = threadIdx.x / 32, ", "int "))


def parity_of_the_turn():
    """At 192 × 768 × 512:"""
    return _changed(3, ("i / STAGES % 2)", "i % 2)"))


def no_barrier_before_the_tiles_are_written_again():
    """need not be so on a GPU"""
    return _changed(2, ("    __syncthreads();  // all have read", "    // all"))


def the_next_copy_does_not_wait_for_the_products():
    """wgmma.wait_group"""
    return _changed(
        3, ("    wgmma_wait_group<0>();\n", ""), ("  const int lane", "  wgmma_wait_group<0>();\n  const int lane")
    )


def bytes_of_one_matrix():
    """At 192 × 768 × 512:"""
    return _changed(3, ("expect_tx(full + stage * 8, STAGE)", "expect_tx(full + stage * 8, TILE_A)"))


def sums_of_the_tile_before_are_kept():
    """At 192 × 768 × 512: D["""
    return _changed(3, ("i > 0 || k > 0", "1"))


def only_the_depth_that_is_asked_for():
    """At 192 × 768 × 64:"""
    return _changed(2, ("k_tile < K;", "k_tile < 512;"))
