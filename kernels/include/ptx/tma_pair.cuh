// TMA for two blocks that multiply as a pair: each loads into its own shared memory and reports to an mbarrier of either.
// PTX ISA, "cp.async.bulk.tensor", .cta_group::2. sm_100a, sm_103a.
#pragma once
#include "ptx/tma.cuh"

// As tma_load_2d; `barrier` is mapa's address, in this block or in the other of its pair.
__device__ __forceinline__ void tma_load_2d_pair(uint32_t shared, const CUtensorMap& map, int x, int y,
                                                 uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 "
               "[%0], [%1, {%2, %3}], [%4];"
               :: "r"(shared), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
