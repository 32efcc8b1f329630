// Three warps at a barrier that counts two: the third waits for another one, which never comes.
// launch: 1 block of 96 threads
// simulator: Deadlock, threads 64-95 wait at barrier 1
#include "config.cuh"

extern "C" __global__ void kernel(uint32_t* out) {
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}
