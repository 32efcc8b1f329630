// mbarrier: a barrier in shared memory whose phases end when all arrivals and all announced bytes have come.
// Its phase has a parity, 0 for the first: wait for 0, then 1, then 0 … A wait for parity 1 of a fresh barrier returns.
// PTX ISA, "mbarrier". sm_90 and later (without bytes: sm_80).
#pragma once
#include "config.cuh"

__device__ __forceinline__ void mbarrier_init(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(arrivals) : "memory");
}

// The inits reach the other threads (after a barrier) and the async proxy, through which TMA reports.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

// One arrival; the phase also waits for so many more bytes.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}

// Whether the phase of this parity is over; the hardware may hold the thread for a while before it says no.
__device__ __forceinline__ bool mbarrier_try_wait_parity(uint32_t barrier, int parity) {
  uint32_t done;
  asm volatile("{\n\t.reg .pred p;\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  return done;
}

__device__ __forceinline__ void mbarrier_wait_parity(uint32_t barrier, int parity) {
  while (!mbarrier_try_wait_parity(barrier, parity)) {}
}
