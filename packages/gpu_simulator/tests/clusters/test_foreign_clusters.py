"""Clusters as kernels from elsewhere spell them: predicated arrivals, bit 24 of an address, cooperative groups."""

import compiling
import numpy as np
import pytest
from cluster_samples import run

import gpu_simulator

PREDICATED = """
  asm volatile("{ .reg .pred p; .reg .b32 there; setp.eq.u32 p, %2, 1; @p mapa.shared::cluster.u32 there, %0, %1; "
               "@p mbarrier.arrive.shared::cluster.b64 _, [there]; }" :: "r"(full), "r"(t < 2 ? t : 77), "r"((int)(t < 2))
               : "memory");
"""
LEADER = """
  if (t == 0)
    asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 0;" :: "r"(full & 0xFEFFFFFF)
                 : "memory");
  if (rank == 0) mbarrier_wait_parity(full, 0);
"""


@pytest.mark.parametrize(
    "arrival", [PREDICATED + "mbarrier_wait_parity(full, 0);", LEADER], ids=["predicated", "leader"]
)
def test_arrivals_as_other_kernels_spell_them(arrival):
    out, report = run(
        f"""
      if (t == 0) mbarrier_init(full, 2);
      fence_mbarrier_init();
      cluster_sync();
      {arrival}
      mine[t] = 5;
      cluster_sync();""",
        observers=("hazards",),
    )
    assert (out[:, :64] == 5).all() and report.hazards == []


COOPERATIVE = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(int* bins, int bins_per_block, const int* input, int n) {
  extern __shared__ int smem[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) smem[i] = 0;
  cluster.sync();
  for (int i = cg::this_grid().thread_rank(); i < n; i += blockDim.x * gridDim.x)
    atomicAdd(cluster.map_shared_rank(smem, input[i] / bins_per_block) + input[i] % bins_per_block, 1);
  cluster.sync();
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
    atomicAdd(&bins[cluster.block_rank() * bins_per_block + i], smem[i]);
  if (cluster.query_shared_rank(cluster.map_shared_rank(smem, 1)) != 1) bins[0] = -1;
}
"""


def test_cooperative_groups_of_a_cluster(rng):
    compiled = compiling.compile(COOPERATIVE, arch="sm_90a", name="kernel.cu", entry="kernel")
    numbers, bins = rng.integers(0, 128, 3000).astype(np.int32), np.zeros(128, np.int32)
    report = gpu_simulator.launch(
        compiled, "kernel", 8, 96, [bins, 32, numbers, 3000], dynamic_smem_bytes=128, cluster=4, observers=("hazards",)
    )
    assert np.array_equal(bins, np.bincount(numbers, minlength=128)) and report.hazards == []
