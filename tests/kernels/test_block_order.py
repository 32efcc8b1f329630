"""The block order of the rungs visits the tiles that gemm_lab_lessons.ch10.block_order says, in its order."""

import numpy as np
import pytest

import gpu_simulator
from gemm_lab import catalog, compiling
from gemm_lab_lessons.ch10.block_order import block_order

HEADER = """
#include "config.cuh"
#include "tile/block_order.cuh"
extern "C" __global__ void __launch_bounds__(32) gemm(int* visited) {
  const int index = blockIdx.y * gridDim.x + blockIdx.x;
  const Tile tile = grouped_block_order(index, gridDim.y, gridDim.x, GROUP_M);
  visited[index * 2] = tile.m;
  visited[index * 2 + 1] = tile.n;
}
"""
RUNG = """
#include "config.cuh"
extern "C" __global__ void __launch_bounds__(32) gemm(int* visited) {
%s
  visited[index * 2] = block_m / BLOCK_M;
  visited[index * 2 + 1] = block_n / BLOCK_N;
}
"""


@pytest.mark.parametrize("tiles_m, tiles_n, group_m", [(8, 3, 4), (7, 5, 3), (2, 4, 16), (5, 1, 1)])
@pytest.mark.parametrize("where", ["header", "rung"])
def test_tiles_are_visited_in_the_models_order(where, tiles_m, tiles_n, group_m):
    rung = catalog.kernel("ampere/08_block_order")
    source = HEADER if where == "header" else RUNG % rung.regions["block_order"].text
    made = compiling.compile(source, config=rung.configure(GROUP_M=group_m), arch="sm_80", name=where)
    visited = np.full((tiles_m * tiles_n, 2), -1, np.int32)
    gpu_simulator.launch(made, made.entry, (tiles_n, tiles_m, 1), made.threads, [visited])
    assert np.array_equal(visited, block_order("grouped", tiles_m, tiles_n, group_m))
