// wmma with shared addresses: what mma.h offers, but the instruction names the shared window and becomes ldmatrix.
// NVRTC names it for FP16 only: it keeps BF16 loads generic, and ptxas makes four 4-byte loads of one, and MOVM where
// it lies crosswise. The layout of a fragment over the lanes is not documented; only wmma may take it apart.
// PTX ISA, "wmma". BF16: sm_80 and later.
#pragma once
#include "config.cuh"

// A (16x16, row-major) and B (16x16, row-major) in BF16; rows `pitch` elements apart, a multiple of 8.
__device__ __forceinline__ void wmma_load_a_bf16(uint32_t (&a)[4], uint32_t shared, int pitch) {
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(shared), "r"(pitch) : "memory");
}

__device__ __forceinline__ void wmma_load_b_bf16(uint32_t (&b)[4], uint32_t shared, int pitch) {
  asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(shared), "r"(pitch) : "memory");
}

// D(16x16) = A(16x16) · B(16x16) + D: two mma.m16n8k16 in the machine.
__device__ __forceinline__ void wmma_mma_bf16(float (&d)[8], const uint32_t (&a)[4], const uint32_t (&b)[4]) {
  asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
               "{%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
}

// Rows of FP32 in global memory, `pitch` elements apart.
__device__ __forceinline__ void wmma_store_d_f32(float* global, const float (&d)[8], int pitch) {
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;"
               :: "l"(__cvta_generic_to_global(global)), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "f"(d[4]),
                  "f"(d[5]), "f"(d[6]), "f"(d[7]), "r"(pitch) : "memory");
}
