// bar.sync with a number of its own: some warps of a block wait for each other while the others go on.
// PTX ISA, "bar". Numbers 0 to 15; 0 is that of __syncthreads.
#pragma once

template <int NUMBER, int THREADS>
__device__ __forceinline__ void named_barrier_sync() {
  asm volatile("bar.sync %0, %1;" :: "n"(NUMBER), "n"(THREADS) : "memory");
}

// The same with a number that the compiler does not know.
template <int THREADS>
__device__ __forceinline__ void named_barrier_sync(int number) {
  asm volatile("bar.sync %0, %1;" :: "r"(number), "n"(THREADS) : "memory");
}

// Counts as having come, and goes on.
template <int THREADS>
__device__ __forceinline__ void named_barrier_arrive(int number) {
  asm volatile("bar.arrive %0, %1;" :: "r"(number), "n"(THREADS) : "memory");
}
