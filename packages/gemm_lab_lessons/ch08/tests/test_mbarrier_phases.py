"""The four numbers of an mbarrier: laws, the stories that the notebook steps through, and the simulator's own count."""

import numpy as np
import pytest

import gpu_simulator
from gemm_lab import compiling
from gemm_lab_lessons.ch08.mbarrier_phases import STAGE_BYTES, STORIES, Barrier, play
from gemm_results.errors import LabError

# Does what `script` says, (operation, value) at a time, and after each writes whether a wait for either parity returns.
SOURCE = r"""
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
__device__ uint32_t over(uint32_t barrier, int parity) {
  uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  return done;
}
extern "C" __global__ void kernel(const int* script, int steps, int arrivals, int* out) {
  __shared__ alignas(8) uint64_t memory[1];
  const uint32_t barrier = shared_address(memory);
  mbarrier_init(barrier, arrivals);
  for (int i = 0; i < steps; i++) {
    if (script[2 * i] == 0) mbarrier_arrive(barrier);
    if (script[2 * i] == 1) mbarrier_arrive_expect_tx(barrier, script[2 * i + 1]);
    if (script[2 * i] == 2)
      asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                   :: "r"(barrier), "r"(script[2 * i + 1]) : "memory");
    out[i] = over(barrier, 0) + 2 * over(barrier, 1);
  }
}
"""


def test_the_model_and_the_simulator_agree_on_every_wait():
    """Random arrivals and bytes: after each of them a wait for parity 0 and one for parity 1."""
    compiled = compiling.compile(SOURCE, arch="sm_90a", name="kernel.cu", entry="kernel")
    rng = np.random.default_rng(5)
    for arrivals in (1, 2, 5):
        barrier, script, wanted = Barrier(arrivals, arrivals), [], []
        for _ in range(120):
            what = int(rng.integers(3)) if barrier.pending else 2
            size = int(rng.integers(1, 4)) * 16
            if what == 2:
                size = min(size, barrier.bytes)
                what = what if size else 0
            barrier = barrier.changed(int(what < 2), 0 if what == 0 else size if what == 1 else -size)
            script.append((what, size))
            wanted.append(barrier.passes(0) + 2 * barrier.passes(1))
        out = np.zeros(120, np.int32)
        gpu_simulator.launch(compiled, "kernel", 1, 1, [np.array(script, np.int32).reshape(-1), 120, arrivals, out])
        assert out.tolist() == wanted and set(wanted) == {1, 2}


def test_a_phase_needs_all_arrivals_and_all_bytes():
    barrier = Barrier(1, 1).changed(1, 64)
    assert barrier.pending == 0 and barrier.phase == 0 and not barrier.passes(0) and barrier.passes(1)
    half = barrier.changed(more_bytes=-32)
    assert half.phase == 0
    after = half.changed(more_bytes=-32)
    assert after == Barrier(1, 1, 0, 1) and after.passes(0) and not after.passes(1)
    with pytest.raises(LabError, match="One arrival too many: phase 0 misses 0 of 1"):
        barrier.changed(1)


@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_good_exactly_where_it_says_so(name):
    """A consumer or producer touches its stage only when the phase that frees it is over, or the step is marked bad."""
    moments = play(*STORIES[name])
    filled = 0
    for moment in moments:
        if moment.code == "multiply(stage)" and moment.who == "consumer":
            fresh = moment.barrier.phase > filled and not moment.waiting
            assert fresh == moment.good, moment
            filled = moment.barrier.phase
    bad = name.startswith(("wrong", "parity never", "too many"))
    assert all(moment.good for moment in moments) != bad


def test_the_stories_end_as_told():
    full = play(*STORIES["full: the bytes of a stage"])
    assert full[-1].barrier.phase == 2 and full[2].barrier.bytes == STAGE_BYTES == 48 * 1024
    assert [m.released for m in full if m.released] == [("consumer",), ("consumer",)]
    hang = play(*STORIES["too many bytes announced"])[-1]
    assert hang.waiting == (("consumer", 0),) and hang.barrier.bytes == 128 * 64 * 2
    four = play(*STORIES["four warps let go of an accumulator"])
    assert [m.barrier.pending for m in four] == [4, 4, 3, 2, 1, 4, 4]


def test_an_unknown_step_is_named():
    with pytest.raises(LabError, match="no step “jump”"):
        play(1, [("x", "jump", 0, "")])
