"""Right programs of many kinds: exact, and not one false report with hazards on. Their mutants are found."""

import re

import compiling
import numpy as np
import pytest
from mutants import mutants

import gpu_simulator

HEAD = 'extern "C" __global__ void kernel'
KERNELS = {
    "bitonic sort": HEAD
    + """(int* p) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = p[blockIdx.x * 64 + t];
  for (int k = 2; k <= 64; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      __syncthreads();
      int other = t ^ j;
      if (other > t) {
        int a = s[t], b = s[other];
        if ((a > b) == ((t & k) == 0)) { s[t] = b; s[other] = a; }
      }
    }
  __syncthreads();
  p[blockIdx.x * 64 + t] = s[t];
}""",
    "work queue": HEAD
    + """(const int* in, int* out, int* next, int n) {
  __shared__ int tile;
  while (true) {
    if (threadIdx.x == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    int mine = tile;
    __syncthreads();
    if (mine >= n) break;
    out[mine * 64 + threadIdx.x] = 2 * in[mine * 64 + 63 - threadIdx.x];
  }
}""",
    "compaction": HEAD
    + """(const int* in, int* out, int* count) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x], lane = threadIdx.x % 32, base = 0;
  unsigned keep = __ballot_sync(~0u, v > 50);
  if (lane == 0) base = atomicAdd(count, __popc(keep));
  base = __shfl_sync(~0u, base, 0);
  if (v > 50) out[base + __popc(keep & ((1u << lane) - 1))] = v;
}""",
    "double buffer": HEAD
    + """(const int* a, const int* b, int* d, int n) {
  __shared__ int as[2][16][16], bs[2][16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x, sum = 0;
  as[0][y][x] = a[row * n + x]; bs[0][y][x] = b[y * n + col];
  for (int k = 0; k < n / 16; k++) {
    __syncthreads();
    if (k + 1 < n / 16) {
      as[(k + 1) % 2][y][x] = a[row * n + (k + 1) * 16 + x];
      bs[(k + 1) % 2][y][x] = b[((k + 1) * 16 + y) * n + col];
    }
    for (int i = 0; i < 16; i++) sum += as[k % 2][y][i] * bs[k % 2][i][x];
  }
  d[row * n + col] = sum;
}""",
    "split k": HEAD
    + """(const int* in, int* out, volatile int* turn) {
  // Block after block adds its part to the same tile.
  if (threadIdx.x == 0) { while (turn[0] != blockIdx.x); __threadfence(); }
  __syncthreads();
  for (int i = threadIdx.x; i < 128; i += 64) out[i] = (blockIdx.x ? out[i] : 0) + in[blockIdx.x * 128 + i];
  __syncthreads();
  if (threadIdx.x == 0) { __threadfence(); turn[0] = blockIdx.x + 1; }
}""",
    "histogram of each warp": HEAD
    + """(const int* in, int* out) {
  __shared__ int bins[4][16];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane < 16) bins[warp][lane] = 0;
  __syncwarp();
  atomicAdd(&bins[warp][in[threadIdx.x] % 16], 1);
  __syncwarp();
  if (lane < 16) out[warp * 16 + lane] = bins[warp][lane];
}""",
    "odd-even sort in global memory": HEAD
    + """(int* p) {
  for (int round = 0; round < 128; round++) {
    int i = 2 * threadIdx.x + round % 2;
    if (i + 1 < 128 && p[i] > p[i + 1]) { int v = p[i]; p[i] = p[i + 1]; p[i + 1] = v; }
    __syncthreads();
  }
}""",
    "state and value in one word": HEAD
    + """(const int* in, int* out, unsigned long long* state) {
  if (threadIdx.x) return;
  int b = blockIdx.x, before = 0;
  if (b) {
    unsigned long long seen;
    do seen = *(volatile unsigned long long*)(state + b - 1); while (!(seen >> 32));
    before = (int)seen;
  }
  out[b] = before + in[b];
  atomicExch(state + b, 1ull << 32 | (unsigned)(before + in[b]));
}""",
    "one buffer for two uses": HEAD
    + """(const int* in, int* out) {
  extern __shared__ int4 raw[];
  int* s = (int*)raw; int t = threadIdx.x;
  raw[t] = ((const int4*)in)[t];
  __syncthreads();
  int v = s[4 * ((t + 7) % 64)] + s[4 * ((t + 9) % 64) + 3];
  __syncthreads();
  ((short*)raw)[63 - t] = v;
  __syncthreads();
  out[t] = ((short*)raw)[t];
}""",
}


def launch(name, kernel, **options):
    """(report, result as it should be)"""
    rng, zero = np.random.default_rng(11), lambda n: np.zeros(n, np.int32)
    options |= {"observers": ("hazards",), "max_instructions": 400_000}

    def go(grid, block, *args, smem=0):
        return gpu_simulator.launch(kernel, "kernel", grid, block, args, smem, **options)

    if name == "bitonic sort":
        a = rng.integers(-99, 99, (3, 64)).astype(np.int32)
        expected = np.sort(a, 1)
        return go(3, 64, a), np.array_equal(a, expected)
    if name == "work queue":
        a, out = rng.integers(0, 99, (20, 64)).astype(np.int32), np.zeros((20, 64), np.int32)
        return go(6, 64, a, out, zero(1), 20), np.array_equal(out, 2 * a[:, ::-1])
    if name == "compaction":
        a, out, count = rng.integers(0, 100, 512).astype(np.int32), zero(512), zero(1)
        report, kept = go(4, 128, a, out, count), a[a > 50]
        return report, count[0] == len(kept) and np.array_equal(np.sort(out[: count[0]]), np.sort(kept))
    if name == "double buffer":
        a, b = (rng.integers(-9, 9, (64, 64)).astype(np.int32) for _ in "ab")
        d = np.zeros_like(a)
        return go((4, 4), (16, 16), a, b, d, 64), np.array_equal(d, a @ b)
    if name == "split k":
        a, out = rng.integers(0, 99, (7, 128)).astype(np.int32), zero(128)
        return go(7, 64, a, out, zero(1)), np.array_equal(out, a.sum(0))
    if name == "histogram of each warp":
        a, out = rng.integers(0, 99, (4, 32)).astype(np.int32), np.zeros((4, 16), np.int32)
        return go(1, 128, a, out), np.array_equal(out, [np.bincount(row % 16, minlength=16) for row in a])
    if name == "odd-even sort in global memory":
        a = rng.permutation(128).astype(np.int32)
        return go(1, 64, a), np.array_equal(a, np.arange(128))
    if name == "state and value in one word":
        a, out = rng.integers(0, 99, 50).astype(np.int32), zero(50)
        return go(50, 32, a, out, np.zeros(50, np.uint64)), np.array_equal(out, np.cumsum(a))
    a, out, t = rng.integers(0, 99, (64, 4)).astype(np.int32), zero(64), np.arange(64)
    report = go(1, 64, a, out, smem=1024)
    return report, np.array_equal(out, (a[(t + 7) % 64, 0] + a[(t + 9) % 64, 3])[::-1])


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_is_exact_and_unreported_and_its_mutants_are_found(name):
    made = compiling.compile(KERNELS[name], arch="sm_80", name="kernel.cu", entry="kernel")
    report, right = launch(name, made)
    assert right and report.hazards == []
    missed = []
    for mutant in mutants(made.ptx):
        try:
            report, right = launch(name, mutant.ptx)
        except gpu_simulator.SimulatedFault:
            continue
        if not report.hazards:
            missed.append(re.match(r"\w+", mutant.statement)[0])
    assert missed == []


def test_cooperative_groups(cuda):
    source = (
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
        + HEAD
        + """(const int* in, int* out) {
      __shared__ int s[128];
      cg::thread_block block = cg::this_thread_block();
      auto tile = cg::tiled_partition<16>(block);
      int t = block.thread_rank();
      s[t] = in[t];
      tile.sync();
      int v = s[t ^ 5];
      for (int d = 8; d; d /= 2) v += tile.shfl_xor(v, d);
      block.sync();
      s[127 - t] = v;
      block.sync();
      out[t] = s[t];
    }"""
    )
    a, out = np.random.default_rng(2).integers(0, 99, 128).astype(np.int32), np.zeros(128, np.int32)
    cuda(source, a, out, block=128, observers=("hazards",)).raise_hazards()
    assert np.array_equal(out, np.repeat(a.reshape(8, 16).sum(1), 16)[::-1])


@pytest.mark.long
def test_atomics_of_libcudacxx(cuda):
    source = (
        "#include <cuda/atomic>\n"
        + HEAD
        + """(const int* in, int* out, unsigned* flags, int* total) {
      if (threadIdx.x) return;
      int b = blockIdx.x, before = 0;
      if (b) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(flags[b - 1]);
        while (flag.load(ORDER_LOAD) == 0) { }
        before = total[b - 1];
      }
      out[b] = total[b] = before + in[b];
      cuda::atomic_ref<unsigned, cuda::thread_scope_device> mine(flags[b]);
      mine.store(1u, ORDER_STORE);
    }"""
    )
    a = np.arange(1, 21, dtype=np.int32)

    def run(load, store):
        out = np.zeros(20, np.int32)
        text = source.replace("ORDER_LOAD", f"cuda::memory_order_{load}").replace(
            "ORDER_STORE", f"cuda::memory_order_{store}"
        )
        report = cuda(text, a, out, np.zeros(20, np.uint32), np.zeros(20, np.int32), grid=20, observers=("hazards",))
        assert np.array_equal(out, np.cumsum(a))
        return report.hazards

    assert run("acquire", "release") == []
    assert any("no fence between the access and that write" in str(h) for h in run("acquire", "relaxed"))
    assert any("no fence between that read and this access" in str(h) for h in run("relaxed", "release"))
