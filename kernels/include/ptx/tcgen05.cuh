// tcgen05: the tensor cores of the B200 multiply tiles of shared memory and accumulate in tensor memory (TMEM),
// 128 lanes (rows) by 512 columns of 32 bits on each multiprocessor. An address is lane << 16 | column. CTA_GROUP is
// 1, or 2 for two neighbouring blocks of a cluster that multiply as a pair. PTX ISA, "TensorCore 5th generation".
// sm_100a, sm_103a, sm_110a.
#pragma once
#include "config.cuh"

// ---- Allocation: one whole warp each; "tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish_alloc_permit" ----

// Waits until so many columns are free (32, 64, 128, 256 or 512) and writes their address: in a pair to the same place.
template <int CTA_GROUP>
__device__ __forceinline__ void tcgen05_alloc(uint32_t shared, int columns) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
                 :: "r"(shared), "r"(columns) : "memory");
  else
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;"
                 :: "r"(shared), "r"(columns) : "memory");
}

// Whatever was allocated must be given back, with the same number of columns, before the block ends.
template <int CTA_GROUP>
__device__ __forceinline__ void tcgen05_dealloc(uint32_t tmem, int columns) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" :: "r"(tmem), "r"(columns) : "memory");
  else
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" :: "r"(tmem), "r"(columns) : "memory");
}

// This block allocates no more: another one on the same multiprocessor need not wait for it.
template <int CTA_GROUP>
__device__ __forceinline__ void tcgen05_relinquish_alloc_permit() {
  if constexpr (CTA_GROUP == 1)
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
  else
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
}

// ---- Descriptors ----

// Where a tile lies: rows of 64 elements of 2 bytes along k, stored by TMA with the 128-byte swizzle; 8 rows are 1024
// bytes, and the next 8 rows follow. A step of 16 along k is 32 bytes: the hardware swizzles the sum of the addresses.
// "Shared memory descriptor".
__device__ __forceinline__ uint64_t tcgen05_descriptor_k_major_128b(uint32_t shared) {
  return uint64_t(shared >> 4 & 0x3fff)    // bits 0-13: address / 16
       | uint64_t(1) << 16                 // bits 16-29: from one swizzled row of chunks to the next; unused here
       | uint64_t(1024 >> 4) << 32         // bits 32-45: from 8 rows to the next 8, / 16
       | uint64_t(1) << 46                 // bits 46-48: the version of the B200's descriptors
       | uint64_t(2) << 61;                // bits 61-63: 128-byte swizzle
}

// What is multiplied: D (M, N) in FP32; A (M, 16) and B (N, 16) in BF16, both with k along the rows. "Instruction
// descriptor".
constexpr __device__ uint32_t tcgen05_instruction_descriptor_bf16(int m, int n) {
  return 1u << 4                           // D: FP32
       | 1u << 7 | 1u << 10                // A and B: BF16
       | uint32_t(n / 8) << 17 | uint32_t(m / 16) << 24;
}

// ---- Multiplication: one thread issues it; "tcgen05.mma", "tcgen05.commit" ----

// D = A · B, or D += A · B; returns at once.
template <int CTA_GROUP>
__device__ __forceinline__ void tcgen05_mma_f16(uint32_t tmem_d, uint64_t a, uint64_t b, uint32_t instruction,
                                                bool accumulate) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
                 "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t}"
                 :: "r"(tmem_d), "l"(a), "l"(b), "r"(instruction), "r"(int(accumulate)) : "memory");
  else
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
                 "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n\t}"
                 :: "r"(tmem_d), "l"(a), "l"(b), "r"(instruction), "r"(int(accumulate)) : "memory");
}

// One arrival at the mbarrier once everything this thread has issued so far is done.
template <int CTA_GROUP>
__device__ __forceinline__ void tcgen05_commit(uint32_t barrier) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                 :: "r"(barrier) : "memory");
  else
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                 :: "r"(barrier) : "memory");
}

// The same at the mbarrier of that place in each block of the cluster whose bit is set.
template <int CTA_GROUP>
__device__ __forceinline__ void tcgen05_commit_multicast(uint32_t barrier, uint16_t blocks) {
  if constexpr (CTA_GROUP == 1)
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                 :: "r"(barrier), "h"(blocks) : "memory");
  else
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                 :: "r"(barrier), "h"(blocks) : "memory");
}

// ---- Order: "tcgen05.fence" ----

// Before this thread lets others go on (an arrival, a barrier): what it did with TMEM comes before.
__device__ __forceinline__ void tcgen05_fence_before_thread_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// After this thread has waited for others: what it does with TMEM comes after.
__device__ __forceinline__ void tcgen05_fence_after_thread_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// ---- Registers from TMEM: one whole warp, which reaches only lanes 32 · (warp % 4) …; "tcgen05.ld" ----

// Thread i gets 8, 16 or 32 columns of lane i of its quarter. The registers hold them after tcgen05_wait_ld.
__device__ __forceinline__ void tcgen05_ld_32x32b_x8(float (&r)[8], uint32_t tmem) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3]), "=f"(r[4]), "=f"(r[5]), "=f"(r[6]), "=f"(r[7])
               : "r"(tmem) : "memory");
}

__device__ __forceinline__ void tcgen05_ld_32x32b_x16(float (&r)[16], uint32_t tmem) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
               : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3]), "=f"(r[4]), "=f"(r[5]), "=f"(r[6]), "=f"(r[7]),
                 "=f"(r[8]), "=f"(r[9]), "=f"(r[10]), "=f"(r[11]), "=f"(r[12]), "=f"(r[13]), "=f"(r[14]), "=f"(r[15])
               : "r"(tmem) : "memory");
}

__device__ __forceinline__ void tcgen05_ld_32x32b_x32(float (&r)[32], uint32_t tmem) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
               : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3]), "=f"(r[4]), "=f"(r[5]), "=f"(r[6]), "=f"(r[7]),
                 "=f"(r[8]), "=f"(r[9]), "=f"(r[10]), "=f"(r[11]), "=f"(r[12]), "=f"(r[13]), "=f"(r[14]), "=f"(r[15]),
                 "=f"(r[16]), "=f"(r[17]), "=f"(r[18]), "=f"(r[19]), "=f"(r[20]), "=f"(r[21]), "=f"(r[22]),
                 "=f"(r[23]), "=f"(r[24]), "=f"(r[25]), "=f"(r[26]), "=f"(r[27]), "=f"(r[28]), "=f"(r[29]),
                 "=f"(r[30]), "=f"(r[31])
               : "r"(tmem) : "memory");
}

// Until what this thread loads from TMEM is in its registers. Nothing here ties those registers to the wait: a compiler
// may move arithmetic on them above it. Where that happens, pass them through this asm, as operands "+f".
__device__ __forceinline__ void tcgen05_wait_ld() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
