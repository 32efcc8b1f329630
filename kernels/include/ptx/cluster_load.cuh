// Loads from the shared memory of another block of the cluster. PTX ISA 9.0, "ld" with .shared::cluster; sm_90 and later.
#pragma once
#include "ptx/cluster.cuh"

// The 16 bytes at an address that mapa gives.
__device__ __forceinline__ float4 load_shared_cluster(uint32_t address) {
  float4 value;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w) : "r"(address) : "memory");
  return value;
}
