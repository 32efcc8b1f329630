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
constexpr int NUM_THREADS = 64;
extern "C" __global__ void __launch_bounds__(NUM_THREADS)
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


def maps_where_the_launch_has_pointers():
    """do not match the arguments"""
    return stone(1).launch.rewrite(stone(3).text)


def a_tile_that_does_not_divide_d():
    """BLOCK_N = 40 does not divide 768"""
    return lab.kernel("hopper/02", BLOCK_M=64, BLOCK_N=40).rewrite(stone(3).text)


def does_not_compile():
    """Your kernel does not compile."""
    return _changed(2, ("int warp = threadIdx.x / 32, ", "int "))


def number_of_threads_under_another_name():
    """defines no such constant"""
    text = stone(2).text.replace("NUM_THREADS", "THREADS")
    return stone(2).launch.rewrite(text)


def number_of_threads_only_in_a_comment():
    """defines no such constant"""
    text = stone(2).text.replace("NUM_THREADS", "THREADS") + "// constexpr int NUM_THREADS = 128;\n"
    return stone(2).launch.rewrite(text)


def number_of_threads_written_out():
    """__launch_bounds__(NUM_THREADS) there"""
    return _changed(2, ("__launch_bounds__(NUM_THREADS)", "__launch_bounds__(128)"))


def size_of_shared_memory_under_another_name():
    """constexpr int SMEM_BYTES = …;"""
    return _changed(3, ("SMEM_BYTES", "BYTES"))


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


def _ring_of_eight(*changes):
    """Rung 03 with a stage for each k tile of K = 512, and these changes."""
    rung = lab.kernel("hopper/03", BLOCK_M=64, BLOCK_N=64, NUM_STAGES=8)
    text = rung.source
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return rung.rewrite(text)


_WAIT = "mbarrier_wait_parity(empty + stage * 8, parity);"


def stages_that_are_never_used_again():
    """At 64 × 64 × 1088:"""
    return _ring_of_eight(
        (_WAIT, ""),
        ("if (k_tile > 0 && threadIdx.x % 32 == 0) mbarrier_arrive(empty + before * 8);", ""),
        ("mbarrier_wait_parity(full + stage * 8, parity);", "mbarrier_wait_parity(full + stage * 8, 0);"),
    )


def the_producer_does_not_wait():
    """At 64 × 64 × 1088:"""
    return _ring_of_eight((_WAIT, ""))


def a_parity_that_is_right_for_two_rounds():
    """overwrites shared address 0"""
    return _ring_of_eight((_WAIT, "mbarrier_wait_parity(empty + stage * 8, k_tile < NUM_STAGES * BLOCK_K);"))


def only_the_depth_that_is_asked_for():
    """At 192 × 768 × 64:"""
    return _changed(2, ("k_tile < K;", "k_tile < 512;"))
