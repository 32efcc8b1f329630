// ldmatrix: one warp reads 8x8 matrices of 16-bit elements from shared memory, in the layout that mma.sync wants.
// Each 8x8 matrix is 8 rows of 16 contiguous bytes; lanes 8i .. 8i+7 hold the row addresses of matrix i.
// PTX ISA, "ldmatrix". sm_75 and later.
#pragma once
#include "config.cuh"

// Shared-memory instructions take a 32-bit address inside the shared window, not a generic pointer.
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void ldmatrix_x2(uint32_t& d0, uint32_t& d1, uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(d0), "=r"(d1) : "r"(address) : "memory");
}

__device__ __forceinline__ void ldmatrix_x4(uint32_t& d0, uint32_t& d1, uint32_t& d2, uint32_t& d3, uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3) : "r"(address) : "memory");
}

// .trans hands each lane a column pair instead of a row pair: for B stored row-major.
__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t& d0, uint32_t& d1, uint32_t& d2, uint32_t& d3,
                                                  uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3) : "r"(address) : "memory");
}
