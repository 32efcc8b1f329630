// A GEMM on tcgen05 in the manner of kernels from elsewhere: own PTX strings, no header of this project's but config.cuh.
// D (M, N) FP32 or BF16 = A (M, K) · B (N, K) in BF16; maps of three dimensions: boxes of (64, rows, 1) of (64, M, K / 64).
// One warp copies, one multiplies, four store. GROUP 1 or 2 blocks multiply together.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_N, GROUP, STAGES, LOADS: 0 32x32b.x16 and stores of 32 bytes, 1 16x256b.x4, 2 16x64b.x8

struct alignas(64) CUtensorMap { uint64_t opaque[16]; };
constexpr int BLOCK_M = 128, BLOCK_K = 64, THREADS = 192;
constexpr int A_BYTES = BLOCK_M * BLOCK_K * 2, B_BYTES = BLOCK_N / GROUP * BLOCK_K * 2;
constexpr int SMEM_BYTES = STAGES * (A_BYTES + B_BYTES) + STAGES * 16 + 64;
#define STR_(x) #x
#define STR(x) STR_(x)
#define CG "cta_group::" STR(GROUPS)
#ifndef GROUPS
#define GROUPS 1
#endif

template <typename T> __device__ T same(T x) { return __shfl_sync(0xffffffffu, x, 0); }

__device__ bool elected() {
  uint32_t yes = 0;
  asm volatile("{\n\t.reg .pred %%px;\n\telect.sync _|%%px, %1;\n\t@%%px mov.s32 %0, 1;\n\t}" : "+r"(yes) : "r"(~0u));
  return yes;
}

__device__ void wait(int barrier, int phase) {
  asm volatile("{\n\t.reg .pred P1;\n\tLAB_WAIT:\n\t"
               "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 P1, [%0], %1, %2;\n\t"
               "@P1 bra.uni DONE;\n\tbra.uni LAB_WAIT;\n\tDONE:\n\t}" :: "r"(barrier), "r"(phase), "r"(0x989680));
}

__device__ void load(int to, const void* map, int y, int z, int barrier, uint64_t policy) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes." CG ".L2::cache_hint "
               "[%0], [%1, {%2, %3, %4}], [%5], %6;"
               :: "r"(to), "l"(map), "r"(0), "r"(y), "r"(z), "r"(barrier), "l"(policy) : "memory");
}

__device__ void multiply(int d, uint64_t a, uint64_t b, uint32_t word, int more, bool last) {
#if GROUPS == 1
  if (last)
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\ttcgen05.mma." CG ".kind::f16.collector::a::discard "
                 "[%0], %1, %2, %3, {%5, %5, %5, %5}, p;\n\t}" :: "r"(d), "l"(a), "l"(b), "r"(word), "r"(more), "r"(0));
  else
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\ttcgen05.mma." CG ".kind::f16.collector::a::fill "
                 "[%0], %1, %2, %3, {%5, %5, %5, %5}, p;\n\t}" :: "r"(d), "l"(a), "l"(b), "r"(word), "r"(more), "r"(0));
#else
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\ttcgen05.mma." CG ".kind::f16 [%0], %1, %2, %3, p;\n\t}"
               :: "r"(d), "l"(a), "l"(b), "r"(word), "r"(more));
#endif
}

__device__ void commit(int barrier) {
#if GROUPS == 1
  asm volatile("tcgen05.commit." CG ".mbarrier::arrive::one.b64 [%0];" :: "l"(uint64_t(uint32_t(barrier))) : "memory");
#else
  asm volatile("tcgen05.commit." CG ".mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
               :: "r"(barrier), "h"((short)3) : "memory");
#endif
}

extern "C" __global__ void
#if GROUPS == 2
__cluster_dims__(2, 1, 1)
#endif
__launch_bounds__(THREADS)
kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* out,
       int M, int N, int K) {
  const int warp = same(int(threadIdx.x) / 32), block = same(int(blockIdx.x)), blocks = same(int(gridDim.x));
  int rank = 0;
  asm volatile("mov.b32 %0, %%cluster_ctarank;" : "=r"(rank));
  extern __shared__ __align__(1024) char smem_[];
  const int smem = (int)__cvta_generic_to_shared(smem_);
  const int full = smem + STAGES * (A_BYTES + B_BYTES), empty = full + STAGES * 8, done = empty + STAGES * 8;
  const int taken = done + 16, slot = taken + 16;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (warp == 0 && elected()) {
    asm volatile("prefetch.tensormap [%0];" :: "l"(&map_a) : "memory");
    for (int i = 0; i < STAGES; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(full + i * 8), "r"(GROUPS));
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(empty + i * 8));
    }
    for (int i = 0; i < 2; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(done + i * 8));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(taken + i * 8), "r"(128 * GROUPS));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
#if GROUPS == 2
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.acquire.aligned;");
#else
  __syncthreads();
#endif
  const int tiles_n = N / BLOCK_N, tiles = M / BLOCK_M * tiles_n, steps = K / BLOCK_K;
  const auto tile_of = [&](int i, int& m, int& n) { m = i / (tiles_n * 2) * 2 + i % 2, n = i / 2 % tiles_n; };
  if (warp == 4) {
    if (elected()) {
      uint64_t policy;
      asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
      int stage = 0, phase = 1;
      const int first = full & 0xFEFFFFFF;                    // the even block's barrier
      for (int i = block; i < tiles; i += blocks) {
        int m, n;
        tile_of(i, m, n);
        for (int k = 0; k < steps; k++) {
          const int a = smem + stage * (A_BYTES + B_BYTES), barrier = first + stage * 8;
          wait(empty + stage * 8, phase);
          load(a, &map_a, m * BLOCK_M, k, barrier, policy);
          load(a + A_BYTES, &map_b, n * BLOCK_N + rank * (BLOCK_N / GROUPS), k, barrier, policy);
          asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cluster.b64 _, [%0], %1;"
                       :: "r"(barrier), "r"(A_BYTES + B_BYTES) : "memory");
          if ((stage = (stage + 1) % STAGES) == 0) phase ^= 1;
        }
      }
#if GROUPS == 2
      for (int i = 0; i < STAGES; i++) {
        wait(empty + stage * 8, phase);
        if ((stage = (stage + 1) % STAGES) == 0) phase ^= 1;
      }
#endif
    }
  } else if (warp == 5) {
    asm volatile("tcgen05.alloc." CG ".sync.aligned.shared::cta.b32 [%0], %1;" :: "r"(slot), "r"(2 * BLOCK_N));
    constexpr uint32_t word = 1u << 4 | 1u << 7 | 1u << 10 | BLOCK_N >> 3 << 17 | BLOCK_M * GROUPS >> 4 << 24;
    constexpr uint64_t base = 1024ull >> 4 << 32 | 1ull << 46 | 2ull << 61;
    if (rank == 0 && elected()) {
      int stage = 0, phase = 0, buffer = 0, free_phase = 1;
      for (int i = block; i < tiles; i += blocks) {
        wait(taken + buffer * 8, free_phase);
        for (int k = 0; k < steps; k++) {
          const int at = smem + stage * (A_BYTES + B_BYTES);
          uint64_t a = base | at >> 4, b = base | (at + A_BYTES) >> 4;
          wait(full + stage * 8, phase);
          asm volatile("tcgen05.fence::after_thread_sync;");
          for (int j = 0; j < 4; j++, a += 2, b += 2) multiply(buffer * BLOCK_N, a, b, word, k | j, j == 3);
          commit(empty + stage * 8);
          if ((stage = (stage + 1) % STAGES) == 0) phase ^= 1;
        }
        commit(done + buffer * 8);
        if ((buffer ^= 1) == 0) free_phase ^= 1;
      }
    }
  } else {
    int buffer = 0, phase = 0;
    const int lane = threadIdx.x % 32;
    for (int i = block; i < tiles; i += blocks) {
      int m, n;
      tile_of(i, m, n);
      if (warp == 0) wait(done + buffer * 8, phase);
      asm volatile("bar.sync %0, %1;" :: "r"(1), "r"(128) : "memory");
      asm volatile("tcgen05.fence::after_thread_sync;");
      for (int c = 0; c < BLOCK_N; c += 16) {
        const int from = (rank * 128 + warp * 32 << 16) + buffer * BLOCK_N + c;
        __nv_bfloat16* const row = out + size_t(m * BLOCK_M + warp * 32) * N + n * BLOCK_N + c;
#if LOADS == 0
        asm volatile("{\n\t.reg .f32 f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15;\n\t"
                     ".reg .b32 b0, b1, b2, b3, b4, b5, b6, b7;\n\t"
                     "tcgen05.ld.sync.aligned.32x32b.x16.b32\n\t"
                     "  {f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15}, [%1];\n\t"
                     "tcgen05.wait::ld.sync.aligned;\n\t"
                     "cvt.rn.bf16x2.f32 b0, f1, f0;\n\tcvt.rn.bf16x2.f32 b1, f3, f2;\n\t"
                     "cvt.rn.bf16x2.f32 b2, f5, f4;\n\tcvt.rn.bf16x2.f32 b3, f7, f6;\n\t"
                     "cvt.rn.bf16x2.f32 b4, f9, f8;\n\tcvt.rn.bf16x2.f32 b5, f11, f10;\n\t"
                     "cvt.rn.bf16x2.f32 b6, f13, f12;\n\tcvt.rn.bf16x2.f32 b7, f15, f14;\n\t"
                     "st.relaxed.cta.global.L1::no_allocate.v8.b32 [%0], {b0, b1, b2, b3, b4, b5, b6, b7};\n\t}"
                     :: "l"(row + size_t(lane) * N), "r"(from));
#else
        for (int half = 0; half < 2; half++) {
          float v[8];
#if LOADS == 1
          asm volatile("tcgen05.ld.sync.aligned.16x256b.x2.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];"
#else
          asm volatile("tcgen05.ld.sync.aligned.16x64b.x8.b32{%0,%1,%2,%3,%4,%5,%6,%7}, [%8];"
#endif
                       : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7])
                       : "r"(from + (half * 16 << 16)));
          asm volatile("tcgen05.wait::ld.sync.aligned;");
          for (int e = 0; e < 8; e++) {
#if LOADS == 1
            const int r = lane / 4 + e / 2 % 2 * 8, at = e % 2 + lane % 4 * 2 + e / 4 * 8;
#else
            const int r = lane / 4 + lane % 2 * 8, at = lane / 2 % 2 + 2 * e;
#endif
            row[size_t(half * 16 + r) * N + at] = __float2bfloat16(v[e]);
          }
        }
#endif
      }
      asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0];"
                   :: "r"((taken + buffer * 8) & 0xFEFFFFFF) : "memory");
      if ((buffer ^= 1) == 0) phase ^= 1;
    }
#if GROUPS == 2
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;");
#else
    asm volatile("bar.sync 1, 128;" ::: "memory");
#endif
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    if (warp == 0)
      asm volatile("tcgen05.dealloc." CG ".sync.aligned.b32 %0, %1;" :: "r"(0), "r"(2 * BLOCK_N));
  }
}
