// One box into shared memory, which is poisoned before and copied to `out` after; or (STORE 1) out of it.
#include "config.cuh"  // RANK 2, ROOM 16384: bytes of shared memory, STORE 0, POLLS 5000: tries of the wait
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"

constexpr int SMEM_BYTES = ROOM;

#define LOAD(N, COORDINATES) "cp.async.bulk.tensor." #N "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes " \
  "[%0], [%1, " COORDINATES "], [%2];"
#define SAVE(N, COORDINATES) "cp.async.bulk.tensor." #N "d.global.shared::cta.tile.bulk_group [%1, " COORDINATES "], [%0];"
#define OPERANDS "r"(to), "l"(&map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)

// `at`: where the box lies in shared memory.   bytes: what the barrier expects.   done: 1 if its phase ended.
extern "C" __global__ void __launch_bounds__(128)
kernel(const __grid_constant__ CUtensorMap map, uint32_t* out, uint32_t* done, int at,
       int bytes, int c0, int c1, int c2, int c3, int c4) {
  extern __shared__ __align__(1024) uint32_t smem[];
  __shared__ alignas(8) uint64_t full;
  const uint32_t barrier = shared_address(&full), to = shared_address(smem) + at;
  for (int i = threadIdx.x; i < ROOM / 4; i += blockDim.x) smem[i] = STORE ? out[i] : 0xCDCDCDCD;
  if (threadIdx.x == 0) mbarrier_init(barrier, 1);
  fence_proxy_async();
  __syncthreads();
  bool over = false;
  if (STORE) {
    if (threadIdx.x == 0) {
      if (RANK == 1) asm volatile(SAVE(1, "{%3}") :: OPERANDS : "memory");
      if (RANK == 2) asm volatile(SAVE(2, "{%3, %4}") :: OPERANDS : "memory");
      if (RANK == 3) asm volatile(SAVE(3, "{%3, %4, %5}") :: OPERANDS : "memory");
      if (RANK == 4) asm volatile(SAVE(4, "{%3, %4, %5, %6}") :: OPERANDS : "memory");
      if (RANK == 5) asm volatile(SAVE(5, "{%3, %4, %5, %6, %7}") :: OPERANDS : "memory");
      tma_store_commit();
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    over = true;
  } else {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(barrier, bytes);
      if (RANK == 1) asm volatile(LOAD(1, "{%3}") :: OPERANDS : "memory");
      if (RANK == 2) asm volatile(LOAD(2, "{%3, %4}") :: OPERANDS : "memory");
      if (RANK == 3) asm volatile(LOAD(3, "{%3, %4, %5}") :: OPERANDS : "memory");
      if (RANK == 4) asm volatile(LOAD(4, "{%3, %4, %5, %6}") :: OPERANDS : "memory");
      if (RANK == 5) asm volatile(LOAD(5, "{%3, %4, %5, %6, %7}") :: OPERANDS : "memory");
    }
    for (int i = 0; i < POLLS && !over; i++) over = mbarrier_try_wait_parity(barrier, 0);
    for (int i = threadIdx.x; i < ROOM / 4; i += blockDim.x) out[i] = smem[i];
  }
  if (threadIdx.x == 0) *done = over;
}
