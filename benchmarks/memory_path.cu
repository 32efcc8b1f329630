// Measures the way from L2 and DRAM to an SM: how long bursts and streams of loads take when all SMs ask at once.
// One block an SM. KIND 0: LDG.128 into registers; 1: cp.async; 2: TMA, one dimension; 3: STG.128.
// A turn moves BYTES = LOADS x THREADS x 16. STAGES turns are in flight; with 1, every turn waits for its own bytes.
// SHARE neighbouring blocks read the same bytes. A turn reads further by `step` bytes, around a region of `region` bytes.
#include "config.cuh"
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

extern "C" __global__ void __launch_bounds__(THREADS) gemm(const char* from, char* to, uint32_t* cycles, long long region,
                                                           long long step, int turns) {
  constexpr int BYTES = LOADS * THREADS * 16;
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t full[8];
  const int tid = threadIdx.x;
  const long long block = static_cast<long long>(blockIdx.x / SHARE) * BYTES;
  if (KIND == 2 && tid == 0) {
    for (int s = 0; s < STAGES; ++s) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(full + s)));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  auto place = [&](int turn) { return (block + static_cast<long long>(turn) * step) % region; };
  auto ask = [&](int turn) {
    const char* source = from + place(turn);
    char* const stage = smem + turn % STAGES * BYTES;
    if (KIND == 1) {
#pragma unroll
      for (int i = 0; i < LOADS; ++i)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(stage + (i * THREADS + tid) * 16)),
                     "l"(source + (i * THREADS + tid) * 16));
      asm volatile("cp.async.commit_group;");
    } else if (KIND == 2 && tid == 0) {
      const uint32_t barrier = shared_address(full + turn % STAGES);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(BYTES));
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared_address(stage)),
                   "l"(source), "r"(BYTES), "r"(barrier)
                   : "memory");
    }
  };
  auto wait = [&](int turn) {
    if (KIND == 1) {
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1));
    } else if (KIND == 2) {
      uint32_t done = 0;
      while (!done)
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(shared_address(full + turn % STAGES)), "r"(turn / STAGES & 1)
            : "memory");
    }
  };
  for (int s = 0; s < STAGES - 1; ++s) ask(s);
  uint32_t sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    __syncthreads();
    const uint32_t before = clock();
    if (KIND == 0) {
      uint4 part[LOADS];
      const char* source = from + place(turn);
#pragma unroll
      for (int i = 0; i < LOADS; ++i)
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(part[i].x), "=r"(part[i].y), "=r"(part[i].z), "=r"(part[i].w)
                     : "l"(source + (i * THREADS + tid) * 16));
#pragma unroll
      for (int i = 0; i < LOADS; ++i) sum += part[i].x ^ part[i].y ^ part[i].z ^ part[i].w;
    } else if (KIND == 3) {
      char* target = to + place(turn);
#pragma unroll
      for (int i = 0; i < LOADS; ++i)
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(target + (i * THREADS + tid) * 16), "r"(tid));
    } else {
      ask(turn + STAGES - 1);
      wait(turn);
    }
    if (KIND == 0 && sum == 0xdeadbeef) to[tid] = 1;  // the sum is needed before the clock is read
    __syncthreads();
    const uint32_t after = clock();
    if (tid == 0) cycles[blockIdx.x * turns + turn] = after - before;
  }
}
