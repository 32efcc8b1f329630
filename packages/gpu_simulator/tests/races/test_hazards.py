"""Races, uninitialised reads and missing waits are found; clean kernels are left in peace."""

import re

import compiling
import numpy as np
import pytest
from mutants import mutants

import gpu_simulator
from gpu_simulator.observers import hazards

HEAD = 'extern "C" __global__ void kernel'


def kinds(report):
    return sorted({h.kind for h in report.hazards})


def test_a_missing_barrier_is_a_race(cuda):
    source = (
        HEAD
        + "(int* p) {\n __shared__ int s[64];\n s[threadIdx.x] = 1;\n BARRIER\n p[threadIdx.x] = s[63 - threadIdx.x];\n}"
    )
    p = np.zeros(64, np.int32)
    report = cuda(source.replace("BARRIER", ""), p, block=64, observers=("hazards",))
    assert kinds(report) == ["race", "uninitialised read"] or kinds(report) == ["race"]
    assert "kernel.cu:5" in str(report.hazards[0]) and "kernel.cu:3" in str(report.hazards[0])
    with pytest.raises(gpu_simulator.HazardFound, match="no barrier"):
        report.raise_hazards()
    assert cuda(source.replace("BARRIER", "__syncthreads();"), p, block=64, observers=("hazards",)).hazards == []


def test_write_after_read_without_a_barrier(cuda):
    source = (
        HEAD
        + """(int* p) {
      __shared__ int s[64];
      s[threadIdx.x] = 1; __syncthreads();
      p[threadIdx.x] = s[63 - threadIdx.x];
      s[threadIdx.x] = 2;
    }"""
    )
    report = cuda(source, np.zeros(64, np.int32), block=64, observers=("hazards",))
    assert kinds(report) == ["race"] and "read at" in str(report.hazards[0])


def test_an_uninitialised_shared_read(cuda):
    source = (
        HEAD
        + "(int* p) { __shared__ int s[64]; if (threadIdx.x < 31) s[threadIdx.x] = 1; __syncthreads(); p[threadIdx.x] = s[threadIdx.x]; }"
    )
    report = cuda(source, np.zeros(32, np.int32), observers=("hazards",))
    assert kinds(report) == ["uninitialised read"]
    assert str(report.hazards[0]).endswith("reads s[31] (shared address 124), which nothing has written.")


def test_atomics_do_not_race_among_themselves(cuda):
    source = (
        HEAD
        + """(int* p) { __shared__ int s; if (threadIdx.x == 0) s = 0; __syncthreads();
      atomicAdd(&s, 1); SYNC p[threadIdx.x] = s; }"""
    )
    p = np.zeros(128, np.int32)
    assert cuda(source.replace("SYNC", "__syncthreads();"), p, block=128, observers=("hazards",)).hazards == []
    assert (p == 128).all()
    assert kinds(cuda(source.replace("SYNC", ""), p, block=128, observers=("hazards",))) == ["race"]


def test_a_race_across_blocks_is_told_before_one_across_warps_and_this_before_one_within_a_warp(cuda):
    """One missing barrier makes both of the latter, and a barrier of the warp would mend the lesser one only."""
    source = (
        HEAD
        + """(int* p) {
      __shared__ int near[64], far[64];
      int t = threadIdx.x, v = 0;
      near[t] = 1; far[t] = 1; __syncthreads();
      v += near[t ^ 1];
      v += far[63 - t];
      near[t] = 2;
      far[t] = 3;
      p[t] = blockIdx.x + v;
    }"""
    )
    found = cuda(source, np.zeros(64, np.int32), grid=2, block=64, observers=("hazards",)).hazards
    assert [hazard.reach for hazard in found] == [1, 2, 3]
    told = [str(hazard) for hazard in gpu_simulator.widest_first(found)]
    for words, sentence in zip(("orders the two blocks", "no barrier between", "__syncwarp()"), told, strict=True):
        assert words in sentence
    unwritten, wait = (hazards.Hazard(kind, kind, 1) for kind in ("uninitialised read", "missing wait"))
    mixed = gpu_simulator.widest_first([unwritten, *found, wait])
    assert mixed[0] is unwritten and mixed[-1] is wait and mixed[1:-1] == gpu_simulator.widest_first(found)


def test_of_two_lines_the_widest_race_is_kept(cuda):
    source = (
        HEAD
        + """(int* p) {
      __shared__ int s[64];
      int t = threadIdx.x, v = 0;
      s[t] = 1; __syncthreads();
      #pragma unroll 1
      for (int turn = 0; turn < 2; turn++) {
        v += s[t ^ (turn ? 33 : 1)];
        s[t] = 2 + v;
      }
      p[t] = v;
    }"""
    )
    found = cuda(source, np.zeros(64, np.int32), block=64, observers=("hazards",)).hazards
    (after_read,) = [hazard for hazard in found if "writes" in str(hazard)]
    assert after_read.reach == 2 and "there is no barrier between them" in str(after_read)


PIPELINE = (
    HEAD
    + """(const int4* in, int* out, int tiles) {
  __shared__ int4 s[3][64];
  int t = threadIdx.x, sum = 0;
  #define COPY(i) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&s[(i) % 3][t])), \\
                               "l"(&in[(i) * 64 + t]) : "memory")
  #define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
  for (int p = 0; p < 2; p++) { COPY(p); COMMIT; }
  for (int i = 0; i < tiles; i++) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    int4 v = s[i % 3][63 - t];
    sum += v.x + v.y * 2 + v.z * 3 + v.w * 4;
    if (i + 2 < tiles) COPY(i + 2);
    COMMIT;
  }
  out[t] = sum;
}"""
)


def run_pipeline(kernel, timing):
    a = np.random.default_rng(1).integers(1, 99, (7, 64, 4)).astype(np.int32)
    out = np.zeros(64, np.int32)
    report = gpu_simulator.launch(kernel, "kernel", 1, 64, [a, out, 7], observers=("hazards",), timing=timing)
    return report, np.array_equal(out, (a[:, ::-1] * [1, 2, 3, 4]).sum((0, 2)))


def test_a_barrier_before_the_wait_is_told_apart_from_none():
    """The pair named is one of two warps, although lanes of one warp race as well, and the order is said."""
    wait, barrier = 'asm volatile("cp.async.wait_group 1;" ::: "memory");', "__syncthreads();"
    source = PIPELINE.replace("63 - t", "t ^ 1 ^ t / 2 % 2 * 32")  # half of the lanes read what their own warp copied
    for text in (source, source.replace(wait, "").replace(barrier, barrier + wait)):
        made = compiling.compile(text, arch="sm_80", name="kernel.cu", entry="kernel")
        found = run_pipeline(made, "early")[0].hazards
        assert bool(found) == (text != source)
    assert found[0].reach == 2 and "of warp 1 wrote at" in str(found[0])
    assert "first the wait, then the barrier" in str(found[0]) and "__syncwarp" not in str(found[0])


def test_in_one_warp_the_lanes_meet_behind_the_wait():
    wait, barrier = 'asm volatile("cp.async.wait_group 1;" ::: "memory");', "__syncthreads();"
    source = PIPELINE.replace("63 - t", "t ^ 1").replace(wait, "").replace(barrier, barrier + wait)
    made = compiling.compile(source, arch="sm_80", name="kernel.cu", entry="kernel")
    found = run_pipeline(made, "early")[0].hazards
    assert found[0].reach == 1 and "it needs __syncwarp() behind the wait, cp.async.wait_group, which a" in str(
        found[0]
    )


@pytest.mark.long
def test_every_mutant_of_a_pipeline_is_caught():
    made = compiling.compile(PIPELINE, arch="sm_80", name="kernel.cu", entry="kernel")
    for timing in ("early", "late"):
        report, right = run_pipeline(made, timing)
        assert right and report.hazards == []
    found = list(mutants(made.ptx))
    assert len(found) >= 5
    for mutant in found:
        caught = False
        for timing in ("early", "late"):
            report, right = run_pipeline(mutant.ptx, timing)
            caught |= bool(report.hazards) or not right
        assert caught, f"{mutant.statement} (line {mutant.line}) was not missed"


def test_late_copies_show_a_missing_wait():
    made = compiling.compile(PIPELINE, arch="sm_80", name="kernel.cu", entry="kernel")
    broken = re.sub(r"cp\.async\.wait_group\s+1;", "", made.ptx)
    assert run_pipeline(broken, "early")[1] and not run_pipeline(broken, "late")[1]
    assert kinds(run_pipeline(broken, "late")[0]) == ["missing wait"]


def test_mutants_keep_line_numbers():
    text = "a;\n\tbar.sync 0;\n@%p1 bar.sync 1, 64;\n cp.async.wait_group 2;\nb;"
    found = list(mutants(text))
    assert [(m.line, m.statement) for m in found] == [
        (2, "bar.sync 0"),
        (3, "bar.sync 1, 64"),
        (4, "cp.async.wait_group 2"),
    ]
    assert all(m.ptx.count("\n") == text.count("\n") and m.ptx != text for m in found)
