"""cp.reduce.async.bulk: sums, minima and the like of whole boxes, of plain bytes, and in another block."""

import compiling
import ml_dtypes
import numpy as np
import pytest
from cluster_samples import copies

import gpu_simulator
from gpu_simulator.hardware.tensor_map import TensorMap

# Every block adds its tile of 64 × 8 numbers to the box at (x, y).
BOX = """
#include "config.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/tma.cuh"
extern "C" __global__ void __launch_bounds__(64)
kernel(const __grid_constant__ CUtensorMap map, const NUMBER* tiles, int x, int y) {
  __shared__ __align__(1024) NUMBER tile[8 * 64];
  for (int i = threadIdx.x; i < 8 * 64; i += 64) tile[i] = tiles[blockIdx.x * 8 * 64 + i];
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.CHANGE.tile.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(&map), "r"(x), "r"(y), "r"(shared_address(tile)) : "memory");
    tma_store_commit();
    tma_store_wait_read<0>();
  }
}
"""
NUMBERS = {
    "f32": ("float", np.float32), "f16": ("unsigned short", np.float16), "bf16": ("unsigned short", ml_dtypes.bfloat16),
    "u32": ("unsigned", np.uint32), "s32": ("int", np.int32), "u64": ("unsigned long long", np.uint64),
}  # fmt: skip
CHANGES = {"add": np.add, "min": np.minimum, "max": np.maximum, "xor": np.bitwise_xor, "and": np.bitwise_and}


def box(kind, change, x=8, y=3, blocks=4, source=BOX, **options):
    """(array before, tiles, array after, report)."""
    name, dtype = NUMBERS[kind]
    rng = np.random.default_rng(3)
    array, tiles = (rng.integers(0, 30, shape).astype(dtype) for shape in ((20, 88), (blocks, 8, 64)))
    before = array.copy()
    source = source.replace("NUMBER", name).replace("CHANGE", change)
    compiled = compiling.compile(source, arch="sm_90a", name="kernel.cu", entry="kernel")
    args = [TensorMap.of(array, (64, 8)), tiles.view(np.uint8).reshape(-1), x, y]
    report = gpu_simulator.launch(compiled, "kernel", blocks, 64, args, observers=("hazards",), **options)
    return before, tiles, array, report


@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("place", [(8, 3), (40, 15), (0, 0)])
@pytest.mark.parametrize(
    ("kind", "change"),
    [("f32", "add"), ("f16", "add"), ("bf16", "add"), ("bf16", "max"), ("f16", "min"), ("u32", "xor"), ("s32", "min"),
     ("u64", "add"), ("u64", "and")],
)  # fmt: skip
def test_boxes_of_all_blocks_meet_in_one_array(kind, change, place, timing):
    before, tiles, after, report = box(kind, change, *place, timing=timing)
    want, (x, y) = before.copy(), place
    rows, columns = min(8, 20 - y), min(64, 88 - x)
    for tile in tiles:
        part = want[y : y + rows, x : x + columns]
        part[:] = CHANGES[change](part, tile[:rows, :columns])
    assert np.array_equal(after, want) and report.hazards == []


def test_a_reduction_needs_the_fence_of_a_store():
    *_, report = box("f32", "add", source=BOX.replace("  fence_proxy_async();\n", ""))
    assert any("need fence.proxy.async after their stores" in str(hazard) for hazard in report.hazards)


def test_plain_bytes_are_added():
    source = BOX.replace("NUMBER", "float").replace("CHANGE.tile", "add.tile")
    begin, end = source.index("    asm volatile"), source.index("    tma_store_commit")
    plain = """    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
      :: "l"(tiles + 64 * 8 * gridDim.x), "r"(shared_address(tile)), "r"(2048) : "memory");\n"""
    compiled = compiling.compile(source[:begin] + plain + source[end:], arch="sm_90a", name="kernel.cu", entry="kernel")
    tiles = np.random.default_rng(0).integers(0, 9, (4, 512)).astype(np.float32)
    want = tiles[:3].sum(0) + tiles[3]
    map_ = TensorMap.of(np.zeros((20, 88), np.float32), (64, 8))
    report = gpu_simulator.launch(compiled, "kernel", 3, 64, [map_, tiles, 0, 0], observers=("hazards",))
    assert np.array_equal(tiles[3], want) and report.hazards == []


@pytest.mark.parametrize("timing", ["early", "late"])
def test_both_blocks_add_to_the_first(timing):
    issue = """
      for (int i = t; i < 64; i += 32) tile[i] = 1000 * rank + i;
      if (rank == 0) for (int i = t; i < 32; i += 32) tile[512 + i] = 7;
      fence_proxy_async();
      cluster_sync();
      if (t == 0)
        asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], "
                     "%2, [%3];" :: "r"(mapa(at + 2048, 0)), "r"(at + 128), "r"(128), "r"(mapa(full, 0)) : "memory");
      if (rank == 0)"""
    made = copies(issue, expect=[256, 0])
    report = made.simulate(observers=("hazards",), timing=timing)
    assert made.args[2][0, 512:544].tolist() == [7 + 2 * i + 1000 for i in range(32, 64)]
    assert report.hazards == []
