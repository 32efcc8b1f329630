// Products of tensor cores, one block or a pair: tiles come as bytes, tensor memory is filled, multiplied, read back.
#include "config.cuh"  // GROUP, WS, INSIDE, DISABLE, SCALE, KIND, STEPS, ROOM
#include "ptx/tcgen05.cuh"

constexpr int SMEM_BYTES = ROOM;
#define STRING_(x) #x
#define STRING(x) STRING_(x)

__device__ __forceinline__ void store_32(const uint32_t* r, uint32_t tmem) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
               :: "r"(tmem), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7])
               : "memory");
}

// images: (blocks, ROOM) bytes for shared memory.   before, after: (blocks, 128, 512) cells of tensor memory.
extern "C" __global__ void __launch_bounds__(128)
kernel(const uint4* images, const uint32_t* before, uint32_t* after, uint64_t a, uint64_t b, uint64_t step_a,
       uint64_t step_b, uint32_t word, uint32_t column, uint32_t disabled, int accumulate) {
  extern __shared__ __align__(1024) uint4 smem[];             // ROOM bytes
  __shared__ __align__(8) uint64_t barrier_[1];
  __shared__ uint32_t slot[1];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint64_t base = (__cvta_generic_to_shared(smem) & 0x3ffff) >> 4;   // descriptors count from there
  const uint32_t barrier = __cvta_generic_to_shared(barrier_);
#if GROUP == 2
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");   // both have begun
#endif
  if (warp == 0) tcgen05_alloc<GROUP>(__cvta_generic_to_shared(slot), 512);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  for (int i = threadIdx.x; i < ROOM / 16; i += 128) smem[i] = images[blockIdx.x * (ROOM / 16) + i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const uint32_t quarter = slot[0] + (warp * 32 << 16);
  const size_t row = (size_t(blockIdx.x) * 128 + threadIdx.x) * 512;
  for (int c = 0; c < 512; c += 8) store_32(before + row + c, quarter + c);
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  tcgen05_fence_before_thread_sync();
#if GROUP == 2
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
  tcgen05_fence_after_thread_sync();
  if (threadIdx.x == 64 && blockIdx.x % 2 == 0) {
    for (int s = 0; s < STEPS; s++) {
      asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
                   "tcgen05.mma"
#if WS
                   ".ws"
#endif
                   ".cta_group::" STRING(GROUP) ".kind::" KIND " [%0], "
#if INSIDE
                   "[%1], "
#else
                   "%1, "
#endif
                   "%2, %3, "
#if DISABLE && GROUP == 2
                   "{%5, 0, 0, 0, 0, 0, %5, 0}, "
#elif DISABLE
                   "{%5, 0, 0, %5}, "
#endif
                   "p"
#if SCALE
                   ", " STRING(SCALE)
#endif
                   ";\n\t}" :: "r"(slot[0] + column),
#if INSIDE
                   "r"(slot[0] + uint32_t(a) + s * uint32_t(step_a)),
#else
                   "l"(base + a + s * step_a),
#endif
                   "l"(base + b + s * step_b), "r"(word), "r"(s + accumulate), "r"(disabled) : "memory");
    }
#if GROUP == 2
    tcgen05_commit_multicast<2>(barrier, 3);
#else
    tcgen05_commit<1>(barrier);
#endif
  }
  asm volatile("{\n\t.reg .pred p;\n\tWAIT:\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n\t"
               "@!p bra WAIT;\n\t}" :: "r"(barrier) : "memory");
  tcgen05_fence_after_thread_sync();
  for (int c = 0; c < 512; c += 32) {
    float r[32];
    tcgen05_ld_32x32b_x32(r, quarter + c);
    tcgen05_wait_ld();
    for (int i = 0; i < 32; i++) after[row + c + i] = __float_as_uint(r[i]);
  }
#if GROUP == 2
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
  if (warp == 0) tcgen05_dealloc<GROUP>(slot[0], 512);
}
