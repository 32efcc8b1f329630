// wgmma in FP8: 64 rows of A by N columns of B, 32 values of K at a time, both e4m3 and both along K in shared memory.
// A row of 128 values is 128 bytes, so wgmma_descriptor, the fence and the waits are those of wgmma.cuh.
// The sums of H100 and H200 keep 13 bits after the point of the largest product, whatever the registers could hold.
// PTX ISA, "wgmma.mma_async". sm_90a only.
#pragma once
#include "ptx/wgmma.cuh"

#define ACC_4(i) "+f"(acc[i][0]), "+f"(acc[i][1]), "+f"(acc[i][2]), "+f"(acc[i][3])
#define ACC_16(i) ACC_4(i), ACC_4(i + 1), ACC_4(i + 2), ACC_4(i + 3)
#define ACC_32(i) ACC_16(i), ACC_16(i + 4)

// acc (64, 128): acc[n / 8] as mma_m16n8k16 holds it, 16 rows a warp. Without `accumulate` what it held is dropped.
__device__ __forceinline__ void wgmma_m64k32_e4m3(float (&acc)[16][4], uint64_t a, uint64_t b, int accumulate) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %66, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
               "}, %64, %65, p, 1, 1;\n\t}"
               : ACC_32(0), ACC_32(8)
               : "l"(a), "l"(b), "r"(accumulate) : "memory");
}

// acc (64, 192): acc[n / 8] as mma_m16n8k16 holds it, 16 rows a warp. Without `accumulate` what it held is dropped.
__device__ __forceinline__ void wgmma_m64k32_e4m3(float (&acc)[24][4], uint64_t a, uint64_t b, int accumulate) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %98, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
               "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
               "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
               "}, %96, %97, p, 1, 1;\n\t}"
               : ACC_32(0), ACC_32(8), ACC_32(16)
               : "l"(a), "l"(b), "r"(accumulate) : "memory");
}

// acc (64, 208): acc[n / 8] as mma_m16n8k16 holds it, 16 rows a warp. Without `accumulate` what it held is dropped.
__device__ __forceinline__ void wgmma_m64k32_e4m3(float (&acc)[26][4], uint64_t a, uint64_t b, int accumulate) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %106, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n208k32.f32.e4m3.e4m3 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
               "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
               "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
               "%96, %97, %98, %99, %100, %101, %102, %103"
               "}, %104, %105, p, 1, 1;\n\t}"
               : ACC_32(0), ACC_32(8), ACC_32(16), ACC_4(24), ACC_4(25)
               : "l"(a), "l"(b), "r"(accumulate) : "memory");
}

// acc (64, 256): acc[n / 8] as mma_m16n8k16 holds it, 16 rows a warp. Without `accumulate` what it held is dropped.
__device__ __forceinline__ void wgmma_m64k32_e4m3(float (&acc)[32][4], uint64_t a, uint64_t b, int accumulate) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %130, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
               "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
               "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
               "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
               "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
               "}, %128, %129, p, 1, 1;\n\t}"
               : ACC_32(0), ACC_32(8), ACC_32(16), ACC_32(24)
               : "l"(a), "l"(b), "r"(accumulate) : "memory");
}

#undef ACC_4
#undef ACC_16
#undef ACC_32
