// TMA (PTX ISA, "cp.async.bulk.tensor"; sm_90): a thread copies a box between global and shared memory by a tensor map.
// Coordinates are elements, innermost first. Shared addresses are multiples of 128 bytes (of 1024 with the 128-byte
// swizzle, so that its pattern begins with the box). Out of bounds a load fills with zeros and a store writes nothing.
// The box begins at a multiple of 16 bytes along its row, and a store's at no negative coordinate: else the GPU stops.
#pragma once
#include "config.cuh"
#include "ptx/fence_proxy.cuh"

// As cuda.h declares it, which NVRTC cannot read. Parameters: const __grid_constant__ CUtensorMap.
#ifdef __CUDACC_RTC__
struct alignas(64) CUtensorMap { uint64_t opaque[16]; };
#else
#include <cuda.h>
#endif

__device__ __forceinline__ void tma_prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
}

// The mbarrier gets the box's bytes. (With .shared::cluster ptxas makes a call for sm_120a, and ignores setmaxnreg.)
__device__ __forceinline__ void tma_load_2d(uint32_t shared, const CUtensorMap& map, int x, int y, uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];"
               :: "r"(shared), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}

// The box goes to every block of the cluster whose rank is set in `blocks`, to the same place in each, and each block's
// own mbarrier (at the same place, too) gets the bytes: one request instead of several. Slow but on sm_90a, sm_100a.
__device__ __forceinline__ void tma_load_2d_multicast(uint32_t shared, const CUtensorMap& map, int x, int y,
                                                      uint32_t barrier, uint16_t blocks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%2, %3}], [%4], %5;"
               :: "r"(shared), "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(blocks) : "memory");
}

__device__ __forceinline__ void tma_store_2d(const CUtensorMap& map, int x, int y, uint32_t shared) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
               :: "l"(&map), "r"(x), "r"(y), "r"(shared) : "memory");
}

__device__ __forceinline__ void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until the stores of all but the newest groups have read shared memory, which may then be written again.
template <int NEWEST>
__device__ __forceinline__ void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(NEWEST) : "memory");
}
