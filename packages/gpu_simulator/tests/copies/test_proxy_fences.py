"""fence.proxy.async on the simulator: which lanes' writes a fence covers, and for which lanes' copies."""

import compiling
import numpy as np
import pytest

import gpu_simulator

KERNEL = """
#include "ptx/mbarrier.cuh"
extern "C" __global__ void kernel(uint32_t* to) {
  __shared__ alignas(128) uint32_t tile[64];
  __shared__ alignas(8) uint64_t memory;
  const uint32_t at = __cvta_generic_to_shared(tile), barrier = __cvta_generic_to_shared(&memory);
  const int t = threadIdx.x;
  const auto fence = [] { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); };
  const auto store = [&] {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(to), "r"(at) : "memory");
    asm volatile("cp.async.bulk.commit_group;\\n\\tcp.async.bulk.wait_group 0;" ::: "memory");
  };
  const auto load = [&] {
    mbarrier_arrive_expect_tx(barrier, 256);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                 :: "r"(at), "l"(to), "r"(barrier) : "memory");
    mbarrier_wait_parity(barrier, 0);
  };
  BODY
}
"""
MINE = "tile[t] = t; "
RIGHT = {
    "everybody": MINE + "fence(); __syncthreads(); if (t == 0) store();",
    "in two branches": MINE + "if (t % 2) { __nanosleep(1); fence(); } else fence(); __syncthreads(); if (t == 0) store();",
    "the thread that stores": MINE + "__syncthreads(); if (t == 0) { fence(); store(); }",
    "a lane for its warp": MINE + "__syncwarp(); if (t % 32 == 0) fence(); __syncthreads(); if (t == 0) store();",
    "another lane": MINE + "__syncthreads(); if (t == 1) fence(); __syncwarp(); if (t == 0) store();",
    "one thread does everything": "if (t == 5) { for (int i = 0; i < 64; i++) tile[i] = i; fence(); store(); }",
    "the init of an mbarrier": "if (t == 5) { mbarrier_init(barrier, 1); fence(); load(); }",
    "by a predicate": MINE + "__syncwarp(); asm volatile(\"{ .reg .pred p; setp.eq.u32 p, %0, 0; @p fence.proxy.async; }\" "
    ":: \"r\"(t % 32) : \"memory\"); __syncthreads(); if (t == 0) store();",
}  # fmt: skip
WRONG = {
    "a lane before its warp has met": MINE + "if (t % 32 == 0) fence(); __syncthreads(); if (t == 0) store();",
    "half of each warp": MINE + "if (t & 16) fence(); __syncthreads(); if (t == 0) store();",
    "a lane that tells nobody": MINE + "__syncthreads(); if (t == 1) fence(); if (t == 0) store();",
    "written after the others met": MINE + "__syncwarp(); if (t == 9) tile[t] = 7; if (t % 32 == 0) fence(); "
    "__syncthreads(); if (t == 0) store();",
    "the init by another lane": "if (t == 5) mbarrier_init(barrier, 1); if (t == 6) fence(); __syncthreads(); "
    "if (t == 5) load();",
}  # fmt: skip


def found(body: str):
    compiled = compiling.compile(KERNEL.replace("BODY", body), arch="sm_90a", name="kernel.cu", entry="kernel")
    return gpu_simulator.launch(compiled, "kernel", 1, 64, [np.zeros(64, np.uint32)], observers=("hazards",)).hazards


@pytest.mark.parametrize("name", RIGHT)
def test_a_fence_covers_what_its_lane_wrote_and_was_told_of(name):
    assert found(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_fence_of_some_lanes_does_not_cover_the_others(name):
    hazards = found(WRONG[name])
    assert [hazard.kind for hazard in hazards] == ["missing fence"], [str(hazard) for hazard in hazards]
    others = "a barrier before it" in str(hazards[0])  # a fence follows that does not cover the store
    assert others == (name not in ("a lane that tells nobody", "the init by another lane"))
    assert hazards[0].severity == ("suspicious" if others else "error")
