// mma.sync: one warp multiplies small matrices held in its registers on the tensor cores.
// The names keep the PTX spelling: shape, then the types of D, A, B and C where they differ.
// PTX ISA, "mma". m16n8k8 with FP16: sm_75 and later; m16n8k16 with BF16: sm_80 and later.
#pragma once
#include "config.cuh"

// D(16x8) = A(16x8) · B(8x8) + C(16x8), all FP16, accumulated in FP16. Two FP16 values in each register.
__device__ __forceinline__ void mma_m16n8k8_f16(uint32_t (&d)[2], const uint32_t (&a)[2], const uint32_t& b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
               : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b));
}

// D(16x8) = A(16x16) · B(16x8) + C(16x8): BF16 in, FP32 accumulated, one FP32 value in each register. sm_80 and later.
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
