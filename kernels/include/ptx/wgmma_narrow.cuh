// wgmma with few columns: m64n16k16, m64n24k16 and m64n32k16, for products with few rows. Descriptors come from wgmma.cuh.
// PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions": N is a multiple of 8 from 8 to 256. sm_90a only.
#pragma once
#include "ptx/wgmma.cuh"

#define ACC_4(i) "+f"(acc[i][0]), "+f"(acc[i][1]), "+f"(acc[i][2]), "+f"(acc[i][3])
#define ACC_16(i) ACC_4(i), ACC_4(i + 1), ACC_4(i + 2), ACC_4(i + 3)

// acc (64, 16): acc[n / 8] as mma_m16n8k16 holds it, 16 rows a warp. Without `accumulate` what it held is dropped.
__device__ __forceinline__ void wgmma_m64k16_bf16(float (&acc)[2][4], uint64_t a, uint64_t b, int accumulate) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %10, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {"
               "%0, %1, %2, %3, %4, %5, %6, %7"
               "}, %8, %9, p, 1, 1, 0, 0;\n\t}"
               : ACC_4(0), ACC_4(1)
               : "l"(a), "l"(b), "r"(accumulate) : "memory");
}

// acc (64, 24): acc[n / 8] as mma_m16n8k16 holds it, 16 rows a warp. Without `accumulate` what it held is dropped.
__device__ __forceinline__ void wgmma_m64k16_bf16(float (&acc)[3][4], uint64_t a, uint64_t b, int accumulate) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %14, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11"
               "}, %12, %13, p, 1, 1, 0, 0;\n\t}"
               : ACC_4(0), ACC_4(1), ACC_4(2)
               : "l"(a), "l"(b), "r"(accumulate) : "memory");
}

// acc (64, 32): acc[n / 8] as mma_m16n8k16 holds it, 16 rows a warp. Without `accumulate` what it held is dropped.
__device__ __forceinline__ void wgmma_m64k16_bf16(float (&acc)[4][4], uint64_t a, uint64_t b, int accumulate) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %18, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
               "}, %16, %17, p, 1, 1, 0, 0;\n\t}"
               : ACC_16(0)
               : "l"(a), "l"(b), "r"(accumulate) : "memory");
}

#undef ACC_4
#undef ACC_16
