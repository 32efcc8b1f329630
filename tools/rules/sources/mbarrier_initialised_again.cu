// mbarrier.init on a barrier that is in use, without mbarrier.inval: the new count and phase 0 hold.
// launch: 1 block of 1 thread
// simulator: hazard, initialised already
#include "config.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"

extern "C" __global__ void kernel(uint32_t* out) {
  __shared__ alignas(8) uint64_t place;
  const uint32_t barrier = shared_address(&place);
  mbarrier_init(barrier, 1);
  mbarrier_arrive(barrier);
  out[0] = mbarrier_try_wait_parity(barrier, 0);
  mbarrier_init(barrier, 2);
  out[1] = mbarrier_try_wait_parity(barrier, 1);
  out[2] = mbarrier_try_wait_parity(barrier, 0);
  mbarrier_arrive(barrier);
  out[3] = mbarrier_try_wait_parity(barrier, 0);
  mbarrier_arrive(barrier);
  out[4] = mbarrier_try_wait_parity(barrier, 0);
}
