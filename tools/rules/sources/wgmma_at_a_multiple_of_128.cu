// wgmma on tiles that TMA wrote at multiples of 128 but not of 1024; the base offset of the descriptors is 0.
// launch: 1 block of 128 threads, 17920 bytes of dynamic shared memory, a map of 64 × 64 bf16 with boxes of 64 × 64
#include "config.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma.cuh"
extern __shared__ __align__(1024) uint8_t dynamic[];

extern "C" __global__ void __launch_bounds__(128) kernel(const __grid_constant__ CUtensorMap map, uint32_t* out) {
  __shared__ alignas(8) uint64_t place;
  const uint32_t barrier = shared_address(&place), a = shared_address(dynamic) + 128, b = a + 8192 + 256;
  if (threadIdx.x == 0) {
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(barrier, 16384);
    tma_load_2d(a, map, 0, 0, barrier);
    tma_load_2d(b, map, 0, 0, barrier);
  }
  __syncthreads();
  mbarrier_wait_parity(barrier, 0);
  float acc[8][4] = {};
  wgmma_fence();
  for (int k = 0; k < 4; ++k) wgmma_m64k16_bf16(acc, wgmma_descriptor(a) + 2 * k, wgmma_descriptor(b) + 2 * k, 1);
  wgmma_commit_group();
  wgmma_wait_group<0>();
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j) out[(4 * i + j) * 128 + threadIdx.x] = __float_as_uint(acc[i][j]);
}
