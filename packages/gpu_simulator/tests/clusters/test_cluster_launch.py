"""clusterlaunchcontrol: every tile is computed once, whoever computes it; and 128-bit registers, which its answers need."""

import compiling
import numpy as np
import pytest
from cluster_samples import HEAD

import gpu_simulator
from gpu_simulator import launching

QUERY = """
__device__ __forceinline__ bool ask(uint32_t answer, uint32_t& x, uint32_t& y) {
  uint32_t canceled, z;
  asm volatile("{ .reg .pred p; .reg .b128 h; ld.shared.b128 h, [%4]; "
               "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, h; selp.u32 %3, 1, 0, p; "
               "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%0, %1, %2, _}, h; }"
               : "+r"(x), "+r"(y), "=r"(z), "=r"(canceled) : "r"(answer) : "memory");
  uint32_t first;
  asm volatile("{ .reg .b128 h; .reg .b64 a, b; ld.shared.b128 h, [%1]; mov.b128 {a, b}, h; mov.b128 h, {a, b}; "
               "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, h; }"
               : "=r"(first) : "r"(answer) : "memory");
  if (canceled && first != x) asm volatile("trap;");
  return canceled;
}
"""
KERNEL = (
    HEAD
    + QUERY
    + """
// Each block counts its tile, then those of blocks that have not started; `done` counts tiles, `by` blocks that worked.
extern "C" __global__ void __launch_bounds__(32) kernel(uint32_t* done, uint32_t* by) {
  __shared__ alignas(16) uint4 answer[1];
  __shared__ alignas(8) uint64_t barrier[1];
  const uint32_t full = shared_address(barrier), at = shared_address(answer), rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);
    fence_mbarrier_init();
    by[blockIdx.y * gridDim.x + blockIdx.x] = 1;
  }
  READY
  uint32_t x = blockIdx.x, y = blockIdx.y;
  for (int phase = 0;; phase ^= 1) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(full, 16);
      REQUEST
    }
    if (threadIdx.x == 0) atomicAdd(done + y * gridDim.x + x, 1);
    mbarrier_wait_parity(full, phase);
    const bool more = ask(at, x, y);
    x += rank;
    fence_proxy_async();
    READY
    if (!more) break;
  }
}
"""
)
ONE = 'asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ' \
      ':: "r"(at), "r"(full) : "memory");'  # fmt: skip
ALL = "if (rank == 0) " + ONE.replace("bytes.b128", "bytes.multicast::cluster::all.b128")


def run(cluster, resident, monkeypatch, grid=(12, 3), **options):
    """(how often each tile was counted, which blocks ran, report)."""
    monkeypatch.setattr(launching, "LANES_AT_ONCE", 32 * resident)
    source = KERNEL.replace("READY", "__syncthreads();" if cluster == 1 else "cluster_sync();")
    source = source.replace("REQUEST", ONE if cluster == 1 else ALL)
    compiled = compiling.compile(source, arch="sm_100a", name="kernel.cu", entry="kernel")
    done, by = (np.zeros(grid[::-1], np.uint32) for _ in range(2))
    report = gpu_simulator.launch(compiled, "kernel", grid, 32, [done, by], cluster=cluster, **options)
    return done, by, report


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize(
    ("cluster", "resident", "started"), [(1, 4, 4), (1, 36, 36), (2, 4, 4), (4, 8, 8), (2, 36, 36)]
)
def test_every_tile_is_computed_once(cluster, resident, started, timing, monkeypatch):
    done, by, report = run(cluster, resident, monkeypatch, timing=timing, observers=("hazards",))
    assert (done == 1).all() and by.sum() == started and report.hazards == []


def test_an_answer_that_nobody_waits_for_is_in_flight(monkeypatch):
    wait = "    mbarrier_wait_parity(full, phase);\n"
    assert wait in KERNEL
    monkeypatch.setitem(globals(), "KERNEL", KERNEL.replace(wait, "").replace("if (!more) break;", "break;"))
    *_, report = run(1, 36, monkeypatch, observers=("hazards",))
    assert any("may still be writing it" in str(hazard) for hazard in report.hazards)


def test_an_answer_takes_sixteen_bytes(monkeypatch):
    monkeypatch.setitem(globals(), "ONE", ONE.replace('"r"(at)', '"r"(at + 8)'))
    with pytest.raises(gpu_simulator.MemoryFault, match="needs 16 bytes of shared memory at a multiple of 16"):
        run(1, 4, monkeypatch)
