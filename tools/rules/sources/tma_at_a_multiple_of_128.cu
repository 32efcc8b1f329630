// TMA with the 128-byte swizzle to an address that is a multiple of 128 but not of 1024.
// launch: 1 block of 32 threads, 10240 bytes of dynamic shared memory, a map of 64 × 64 bf16 with boxes of 64 × 16
#include "config.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"
extern __shared__ __align__(1024) uint32_t dynamic[];

extern "C" __global__ void kernel(const __grid_constant__ CUtensorMap map, uint32_t* out) {
  __shared__ alignas(8) uint64_t place;
  const uint32_t barrier = shared_address(&place), box = shared_address(dynamic) + 384;
  if (threadIdx.x == 0) {
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(barrier, 2048);
    tma_load_2d(box, map, 0, 16, barrier);
  }
  __syncthreads();
  mbarrier_wait_parity(barrier, 0);
  for (int i = threadIdx.x; i < 512; i += 32) out[i] = dynamic[96 + i];
}
