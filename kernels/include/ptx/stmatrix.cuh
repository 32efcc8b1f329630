// stmatrix: a warp stores 8x8 matrices of 16-bit values whose rows lie anywhere in shared memory: ldmatrix the other way.
// Lane 8 i + r names the address of row r of matrix i, 16 bytes; each lane holds two neighbouring values of each matrix.
// PTX ISA, "stmatrix". sm_90 and later.
#pragma once
#include "config.cuh"

__device__ __forceinline__ void stmatrix_x4(uint32_t row, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :: "r"(row), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
}
