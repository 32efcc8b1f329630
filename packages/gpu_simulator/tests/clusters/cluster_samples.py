"""Kernels with clusters, for tests of the simulator and for a comparison with a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import compiling
import numpy as np

import gpu_simulator
from gpu_simulator.hardware.tensor_map import TensorMap

HEAD = """
#include "config.cuh"
#include "ptx/cluster.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"
__device__ __forceinline__ uint32_t read_cluster(uint32_t at) {
  uint32_t value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  return value;
}
__device__ __forceinline__ void write_cluster(uint32_t at, uint32_t value) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(at), "r"(value) : "memory");
}
"""
KERNEL = (
    HEAD
    + """
extern "C" __global__ void kernel(uint32_t* out) {
  __shared__ alignas(16) uint32_t words[128];
  __shared__ alignas(8) uint64_t barrier[2];
  const uint32_t at = shared_address(words), full = shared_address(barrier), t = threadIdx.x, rank = cluster_ctarank();
  uint32_t* mine = out + blockIdx.x * 128;
  BODY
}
"""
)


class Sample(NamedTuple):
    """A kernel with its launch parameters. args: the arrays among them receive the results."""

    compiled: object
    grid: tuple[int, int, int]
    threads: int
    args: list
    cluster: tuple[int, int, int]

    def simulate(self, **options):
        """Launch it on the simulator; returns the report."""
        return gpu_simulator.launch(
            self.compiled, "kernel", self.grid, self.threads, self.args, cluster=self.cluster, **options
        )

    def launched(self) -> list[np.ndarray]:
        """The arrays that `gpu_runner.launch` returns, including those of tensor maps, in the order of the arguments."""
        return [getattr(value, "array", value) for value in self.args if not isinstance(value, int)]


def build(source, arch, threads):
    source = source.replace('"C" __global__ void', f'"C" __global__ void __launch_bounds__({threads})')
    return compiling.compile(source, arch=arch, name="kernel.cu", entry="kernel")


def sample(body, cluster=2, blocks=None, threads=64, arch="sm_90a") -> Sample:
    """A sample whose `body` may use t, rank, words, at, full and mine. Its result has 128 words for each block."""
    blocks = cluster if blocks is None else blocks
    compiled = build(KERNEL.replace("BODY", body), arch, threads)
    return Sample(compiled, (blocks, 1, 1), threads, [np.full((blocks, 128), 99, np.uint32)], (cluster, 1, 1))


def run(body, cluster=2, blocks=None, threads=64, arch="sm_90a", **options):
    """Simulate a `sample`; returns (its words by block, the report)."""
    made = sample(body, cluster, blocks, threads, arch)
    report = made.simulate(**options)
    return made.args[0], report


def filled(text: str, **parts: str) -> str:
    """The text with each name in `parts` replaced by its value."""
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


SHAPES = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (2, 2, 1), (4, 2, 1), (2, 2, 2), (2, 1, 4)]
PLACES = """
extern "C" __global__ void kernel(unsigned* out) {
  unsigned v[16];
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[0]));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v[1]));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v[2]));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v[3]));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(v[4]));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(v[5]));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(v[6]));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(v[7]));
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(v[8]));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(v[9]));
  asm("mov.u32 %0, %%clusterid.z;" : "=r"(v[10]));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(v[11]));
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(v[12]));
  asm("mov.u32 %0, %%nclusterid.z;" : "=r"(v[13]));
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v[14]));
  v[15] = 7;
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  for (int i = 0; i < 16; i++) out[16 * block + i] = v[i];
}
"""


ADDRESSES = """
  uint32_t other = mapa(at + 4 * t, (rank + 1) % 4), owner, generic_owner;
  uint64_t generic, far;
  asm("cvta.shared.u64 %0, %1;" : "=l"(generic) : "l"((uint64_t)(at + 4 * t)));
  asm("mapa.u64 %0, %1, %2;" : "=l"(far) : "l"(generic), "r"((rank + 2) % 4));
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(other));
  asm("getctarank.u64 %0, %1;" : "=r"(generic_owner) : "l"(far));
  uint32_t here, near, cluster;
  asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(here) : "l"(generic));
  asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(near) : "l"(far));
  asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(cluster) : "l"(far));
  words[t] = 1000 * rank + t;
  cluster_sync();
  uint32_t value, even = read_cluster(at & 0xFEFFFFFF);
  asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(far) : "memory");
  mine[t] = read_cluster(other); mine[64 + t] = value;
  __syncthreads();
  if (t == 0) {
    mine[1] = owner; mine[2] = generic_owner; mine[3] = here * 4 + near * 2 + cluster; mine[4] = even; mine[5] = at >> 24;
  }
  cluster_sync();
"""


HISTOGRAM = """
  for (int i = t; i < 128; i += 64) words[i] = 0;
  cluster_sync();
  for (int i = 0; i < 8; i++) {
    const uint32_t bin = (17 * t + 5 * i + 31 * rank) % 512;
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" :: "r"(mapa(at + 4 * (bin % 128), bin / 128)), "r"(1));
  }
  cluster_sync();
  uint32_t old;
  if (t == 0) asm volatile("atom.shared::cluster.max.u32 %0, [%1], %2;" : "=r"(old) : "r"(mapa(at, 0)), "r"(100 + rank));
  cluster_sync();
  for (int i = t; i < 128; i += 64) mine[i] = words[i];"""

EXCHANGE = """
  uint32_t sum = 0;
  for (int i = 0; i < 3; i++) {
    words[t] = 100 * rank + 10 * i + t;
    ARRIVE
    sum += i;
    WAIT
    mine[t] = read_cluster(mapa(at + 4 * (63 - t), rank ^ 1));
    LAST
  }
  mine[64 + t] = sum;
"""
HALVES = {"ARRIVE": "cluster_arrive();", "WAIT": "cluster_wait();", "LAST": "cluster_sync();"}


ARRIVALS = """
  if (t == 0) {
    mbarrier_init(full, COUNT);
    FENCE
  }
  words[t] = 0;
  READY
  write_cluster(mapa(at + 4 * t, rank ^ 1), 10 * rank + t);
  ARRIVAL
  mbarrier_wait_parity(full, 0);
  mine[t] = words[t];
  END
"""
REMOTE = {
    "COUNT": "64", "FENCE": "fence_mbarrier_init();", "READY": "cluster_sync();", "END": "cluster_sync();",
    "ARRIVAL": "mbarrier_arrive_cluster(mapa(full, rank ^ 1));",
}  # fmt: skip


# Every block writes its shared memory to `out`. ISSUE is replaced by the code that starts copies; `expect` has the bytes
# that each block's barrier expects.
COPIES = (
    HEAD
    + """
extern "C" __global__ void kernel(const __grid_constant__ CUtensorMap map, const uint8_t* plain, uint32_t* out, int* expect,
                                  int mask) {
  __shared__ __align__(1024) uint32_t tile[1024];
  __shared__ alignas(8) uint64_t barriers[2];
  const uint32_t at = shared_address(tile), full = shared_address(barriers), t = threadIdx.x, rank = cluster_ctarank();
  for (int i = t; i < 1024; i += 32) tile[i] = 0xCDCDCDCD;
  if (t == 0) {
    mbarrier_init(full, 1);
    fence_mbarrier_init();
  }
  fence_proxy_async();
  cluster_sync();
  const int bytes = expect[blockIdx.x];
  if (t == 0) mbarrier_arrive_expect_tx(full, bytes);
  ISSUE
  mbarrier_wait_parity(full, 0);
  for (int i = t; i < 1024; i += 32) out[blockIdx.x * 1024 + i] = tile[i];
  END
}
"""
)
MULTICAST = "if (t == 0 && rank == FROM) tma_load_2d_multicast(at + 1024, map, 8, 3, full, mask);"
ALONE = "if (t == 0 && (mask >> rank & 1)) tma_load_2d(at + 1024, map, 8, 3, full);"
PLAIN = """if (t == 0 && rank == FROM)
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
               :: "r"(at + 1024), "l"(plain + 32), "r"(1536), "r"(full), "h"((uint16_t)mask) : "memory");"""
PLAIN_ALONE = """if (t == 0 && (mask >> rank & 1))
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(at + 1024), "l"(plain + 32), "r"(1536), "r"(full) : "memory");"""
BOX = (64, 12)  # of 16-bit numbers: 1,536 bytes


def copies(issue, mask=3, cluster=2, expect=None, blocks=None, end="cluster_sync();", arch="sm_90a") -> Sample:
    """A sample whose result has 1,024 words for each block. expect: the bytes that the barrier of each block expects."""
    blocks = cluster if blocks is None else blocks
    array, out = np.arange(40 * 88, dtype=np.uint16).reshape(40, 88), np.zeros((blocks, 1024), np.uint32)
    announced = [1536 * (mask >> block % cluster & 1) for block in range(blocks)] if expect is None else expect
    args = [
        TensorMap.of(array, BOX, 128),
        array.view(np.uint8).reshape(-1).copy(),
        out,
        np.array(announced, np.int32),
        mask,
    ]
    compiled = build(COPIES.replace("ISSUE", issue).replace("END", end), arch, 32)
    return Sample(compiled, (blocks, 1, 1), 32, args, (cluster, 1, 1))


TO_THE_OTHER = """if (t == 0)
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(mapa(at + 1024, rank ^ 1)), "l"(&map), "r"(8), "r"(3), "r"(mapa(full, rank ^ 1)) : "memory");"""
REDUCTIONS = [("add", "u32", 5 + 496), ("max", "s32", 31), ("xor", "b32", 5)]
PAIR = """if (t == 0)
  asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytesMANY "
               "[%0], [%1, {%2, %3}], [%4]MASK;"
               :: "r"(at + 1024), "l"(&map), "r"(8), "r"(3), "r"(full & 0xFEFFFFFF), "h"((uint16_t)mask) : "memory");
"""


BLOCK_TO_BLOCK = """
  for (int i = t; i < 256; i += 32) tile[i] = 1000 * rank + i;
  FENCE
  __syncwarp();
  READY
  if (t == 0)
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(mapa(at + 2048, rank ^ 1)), "r"(at + 512), "r"(512), "r"(BARRIER) : "memory");
  AFTER
"""
ORDERLY = {"FENCE": "fence_proxy_async();", "READY": "", "BARRIER": "mapa(full, rank ^ 1)", "AFTER": ""}


STORES = {
    "b32": ("b32 [%0], %1, [%4];", 4),
    "b64": ("b64 [%0], %3, [%4];", 8),
    "v2": ("v2.b32 [%0], {%1, %2}, [%4];", 8),
    "v4": ("v4.b32 [%0], {%1, %2, %1, %2}, [%4];", 16),
}  # (the end of the instruction, its bytes)


def store(form: str) -> Sample:
    """A sample with st.async from each block to the other."""
    text, width = STORES[form]
    issue = f"""
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{text}"
                   :: "r"(mapa(at + {width} * t, rank ^ 1)), "r"(100 * rank + t), "r"(7), "l"(100l * rank + t),
                      "r"(mapa(full, rank ^ 1)) : "memory");"""
    return copies(issue, expect=[32 * width] * 2)


def reduction(change: str, kind: str) -> Sample:
    """A sample with red.async of every thread's number to the first word of the other block, whose initial value is 5."""
    issue = f"""
      if (t == 0) tile[0] = 5;
      cluster_sync();
      asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{change}.{kind} [%0], %1, [%2];"
                   :: "r"(mapa(at, rank ^ 1)), "r"(t), "r"(mapa(full, rank ^ 1)) : "memory");"""
    return copies(issue, expect=[128] * 2)


def places(shape, grid=(4, 4, 4)) -> Sample:
    blocks = grid[0] * grid[1] * grid[2]
    return Sample(build(PLACES, "sm_90a", 1), grid, 1, [np.zeros((blocks, 16), np.uint32)], shape)


def _defined() -> dict[str, Callable[[], Sample]]:
    found: dict = {f"places {shape}": partial(places, shape) for shape in SHAPES}
    found["addresses"] = partial(sample, ADDRESSES, 4, 8)
    found["histogram"] = partial(sample, HISTOGRAM, 4)
    found["exchange"] = partial(sample, filled(EXCHANGE, **HALVES), 2, 6)
    found["arrivals"] = partial(sample, filled(ARRIVALS, **REMOTE))
    for cluster, mask in ((2, 3), (2, 2), (4, 5), (4, 15), (8, 0b10110101)):
        for name, text in (("boxes", MULTICAST), ("bytes", PLAIN)):
            issue = text.replace("FROM", str(cluster - 1))
            found[f"multicast of {name} to {mask:#b} of {cluster}"] = partial(
                copies, issue, mask, cluster, blocks=2 * cluster
            )
    found["a load for the other block"] = partial(copies, TO_THE_OTHER)
    found["block to block"] = partial(copies, filled(BLOCK_TO_BLOCK, **ORDERLY), expect=[512] * 2)
    found |= {f"st.async {form}": partial(store, form) for form in STORES}
    found |= {f"red.async {change}": partial(reduction, change, kind) for change, kind, _ in REDUCTIONS}
    return found


# Functions that create samples with defined results, for which a GPU and the simulator must agree.
DEFINED = _defined()
