"""A kernel of one block that allocates tensor memory, multiplies, waits and loads. Tests of tcgen05 change its parts."""

import compiling
import numpy as np

import gpu_simulator

# `slot` and `barrier` are shared addresses; after START, `base` is the allocated address in tensor memory.
FRAME = """
#include "config.cuh"
#include "ptx/elect.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tcgen05.cuh"
extern "C" __global__ void __launch_bounds__(256) kernel(uint32_t* out, uint64_t a, uint64_t b, int n) {
  __shared__ __align__(1024) uint4 tiles[2048];
  __shared__ uint32_t slots[2];
  __shared__ __align__(8) uint64_t barriers[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t slot = __cvta_generic_to_shared(slots), barrier = __cvta_generic_to_shared(barriers);
  const uint32_t tile = __cvta_generic_to_shared(tiles);
  constexpr uint32_t WORD = tcgen05_instruction_descriptor_bf16(128, 64);
  const auto multiply = [&](uint32_t d, bool more) {
    tcgen05_mma_f16<1>(d, tcgen05_descriptor_k_major_128b(tile), tcgen05_descriptor_k_major_128b(tile + 16384), WORD, more);
  };
  BODY
}
"""
START = """
  if (warp == 0) tcgen05_alloc<1>(slot, 64);
  if (threadIdx.x == 0) { mbarrier_init(barrier, 1); mbarrier_init(barrier + 8, 1); fence_mbarrier_init(); }
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) tiles[i] = make_uint4(0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const uint32_t base = slots[0], mine = base + (warp * 32 << 16);
"""
MULTIPLY = "  if (threadIdx.x == 64) { multiply(base, false); tcgen05_commit<1>(barrier); }\n"
WAIT = "  mbarrier_wait_parity(barrier, 0);\n"
AFTER = "  tcgen05_fence_after_thread_sync();\n"
LOAD = """
  if (warp < 4) {
    float r[8];
    tcgen05_ld_32x32b_x8(r, mine + 8);
    tcgen05_wait_ld();
    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = r[i];
  }
"""
WAIT_ST = 'asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");\n'
END = "  __syncthreads();\n  if (warp == 0) tcgen05_dealloc<1>(base, 64);\n"
WHOLE = START + MULTIPLY + WAIT + AFTER + LOAD + END


def launch(body: str, threads=128, observers=("hazards",), **options):
    compiled = compiling.compile(FRAME.replace("BODY", body), arch="sm_100a", name="kernel.cu", entry="kernel")
    out = np.zeros(4096, np.uint32)
    options = {"max_instructions": 200_000, **options}
    report = gpu_simulator.launch(compiled, "kernel", 1, threads, [out, 0, 0, 1], observers=observers, **options)
    return out, report
