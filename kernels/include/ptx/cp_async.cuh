// cp.async: a thread copies 16 bytes from global to shared memory without waiting and without a register in between.
// Copies are committed in groups; a thread waits until at most so many of its newest groups are still on their way.
// PTX ISA, "cp.async". sm_80 and later.
#pragma once
#include "config.cuh"

// .cg caches in L2 only. L2::128B asks L2 for the whole 128-byte line at once.
__device__ __forceinline__ void cp_async_16b(uint32_t shared, const void* global) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(shared), "l"(global) : "memory");
}

// `bytes`, 0 to 16, are read; the rest of the 16 in shared memory becomes zeros.
__device__ __forceinline__ void cp_async_16b_zfill(uint32_t shared, const void* global, int bytes) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
               :: "r"(shared), "l"(global), "r"(bytes) : "memory");
}

__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int NEWEST>
__device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(NEWEST) : "memory"); }
