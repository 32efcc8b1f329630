"""Races between the lanes of a warp: found in broken kernels, not invented in right ones."""

import compiling
import numpy as np
import pytest
from mutants import mutants

import gpu_simulator

HEAD = 'extern "C" __global__ void kernel'


def built(source, arch="sm_80"):
    return compiling.compile(source, arch=arch, name="kernel.cu", entry="kernel")


def races(report):
    return [str(h) for h in report.hazards if h.kind == "race"]


REVERSE = (
    HEAD
    + """(int* p) {
  __shared__ int s[32];
  s[threadIdx.x] = p[threadIdx.x];
  SYNC
  p[threadIdx.x] = s[31 - threadIdx.x];
}"""
)


@pytest.mark.parametrize(
    ("between", "clean"),
    [
        ("", False),
        ("__syncwarp();", True),
        ("__syncthreads();", True),
        ("if (__shfl_sync(~0u, threadIdx.x, 0)) p[0] = 0;", False),  # waits, and orders no memory
        ("if (__any_sync(~0u, threadIdx.x > 90)) p[0] = 0;", False),
        ("__threadfence_block();", False),  # a fence orders the accesses of one thread, it waits for nobody
        ("if (threadIdx.x < 16) __syncwarp(0xffff);", False),  # the upper half did not come
        ("if (threadIdx.x < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000);", False),  # each half by itself
    ],
)
def test_lanes_that_exchange_data(cuda, between, clean):
    p = np.arange(32, dtype=np.int32)
    found = races(cuda(REVERSE.replace("SYNC", between), p, observers=("hazards",)))
    assert np.array_equal(p, np.arange(31, -1, -1)), "in lockstep the result is right all the same"
    assert (found == []) is clean
    if not clean:
        assert "__syncwarp()" in found[0] and "kernel.cu:3" in found[0] and "kernel.cu:5" in found[0]


WARP_SUM = (
    HEAD
    + """(const int* in, int* out) {
  __shared__ int all[4][32];
  int* s = all[threadIdx.x / 32], lane = threadIdx.x % 32;
  s[lane] = in[threadIdx.x];
  __syncwarp();
  for (int d = 1; d < 32; d *= 2) {
    int v = lane >= d ? s[lane - d] : 0;
    __syncwarp();
    s[lane] += v;
    __syncwarp();
  }
  out[threadIdx.x] = s[lane ^ 1];
}"""
)


def scan(kernel):
    a = np.random.default_rng(5).integers(0, 9, (4, 32)).astype(np.int32)
    out = np.zeros_like(a)
    report = gpu_simulator.launch(kernel, "kernel", 1, 128, [a, out], observers=("hazards",))
    expected = np.cumsum(a, 1).reshape(-1, 2)[:, ::-1].reshape(4, 32)
    assert np.array_equal(out, expected)
    return races(report)


@pytest.mark.long
def test_every_syncwarp_of_a_scan_is_missed():
    made = built(WARP_SUM)
    assert scan(made) == []
    broken = [m for m in mutants(made.ptx) if "warp" in m.statement]
    assert len(broken) >= 3
    for mutant in broken:
        assert scan(mutant.ptx), f"without line {mutant.line}, {mutant.statement}, nothing was found"


def test_a_volatile_scan_of_old_code_is_let_pass(cuda):
    source = (
        HEAD
        + """(int* p) {
      __shared__ volatile int s[64];
      s[threadIdx.x] = p[threadIdx.x]; s[threadIdx.x + 32] = 0;
      for (int d = 16; d; d /= 2) s[threadIdx.x] += s[threadIdx.x + d];
      p[threadIdx.x] = s[0];
    }"""
    )
    assert races(cuda(source, np.ones(32, np.int32), observers=("hazards",))) == []


def test_lanes_that_store_to_one_address(cuda):
    source = (
        HEAD
        + "(int* p) {\n  __shared__ int s[4];\n  s[threadIdx.x % 4] = VALUE;\n  __syncwarp();\n  p[threadIdx.x] = s[threadIdx.x % 4];\n}"
    )
    p = np.zeros(32, np.int32)
    (text,) = races(cuda(source.replace("VALUE", "threadIdx.x"), p, observers=("hazards",)))
    assert "same instruction" in text and "not defined" in text and "kernel.cu:3" in text
    assert races(cuda(source.replace("VALUE", "threadIdx.x % 4"), p, observers=("hazards",))) == []


def test_lanes_that_exchange_data_through_global_memory(cuda):
    source = HEAD + "(int* p, int* q) { p[threadIdx.x] = 2 * threadIdx.x; SYNC q[threadIdx.x] = p[threadIdx.x ^ 1]; }"
    p, q = np.zeros(32, np.int32), np.zeros(32, np.int32)
    assert races(cuda(source.replace("SYNC", "__syncwarp();"), p, q, observers=("hazards",))) == []
    assert "__syncwarp()" in races(cuda(source.replace("SYNC", ""), p, q, observers=("hazards",)))[0]


def test_a_waiting_thread_shares_its_copy_after_a_syncwarp(cuda):
    source = (
        "#include <cuda_pipeline.h>\n"
        + HEAD
        + """(const int4* in, int* out) {
      __shared__ int4 s[32];
      __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 16);
      __pipeline_commit(); __pipeline_wait_prior(0);
      SYNC
      out[threadIdx.x] = s[threadIdx.x OTHER].y;
    }"""
    )
    a, out = np.arange(128, dtype=np.int32), np.zeros(32, np.int32)
    for sync, other, clean in (("", "", True), ("", "^ 1", False), ("__syncwarp();", "^ 1", True)):
        found = cuda(source.replace("SYNC", sync).replace("OTHER", other), a, out, observers=("hazards",)).hazards
        assert (found == []) is clean


@pytest.mark.parametrize(
    ("before", "after", "clean"),
    [("__syncwarp();", "__syncwarp();", True), ("", "__syncwarp();", False), ("__syncwarp();", "", False)],
)
def test_fragments_need_a_syncwarp(cuda, before, after, clean):
    """ldmatrix waits for all lanes of the warp, and like a shuffle it orders none of their accesses."""
    source = (
        (
            HEAD
            + """(unsigned* p) { __shared__ unsigned s[128]; unsigned a;
      s[threadIdx.x] = p[threadIdx.x]; s[threadIdx.x + 32] = 0; s[threadIdx.x + 64] = 0; s[threadIdx.x + 96] = 0;
      BEFORE
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"((unsigned)__cvta_generic_to_shared(s + 4 * threadIdx.x)));
      AFTER
      s[threadIdx.x] = a; __syncwarp(); p[threadIdx.x] = s[31 - threadIdx.x]; }"""
        )
        .replace("BEFORE", before)
        .replace("AFTER", after)
    )
    assert (cuda(source, np.arange(32, dtype=np.uint32), observers=("hazards",)).hazards == []) is clean
