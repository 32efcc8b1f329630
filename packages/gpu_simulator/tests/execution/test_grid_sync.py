"""grid_group::sync of cooperative groups: all blocks of a grid meet, and are ordered by it."""

import numpy as np
import pytest

ROUNDS = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(int* a, int* b) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank(), n = grid.size();
  a[i] = i;
  for (int round = 0; round < 3; round++) {
    grid.sync();
    b[i] = a[n - 1 - i] + 1;
    SECOND
    a[i] = b[(i + 64) % n];
  }
}"""


def expected(n: int) -> np.ndarray:
    a = np.arange(n)
    for _ in range(3):
        a = np.roll(a[::-1] + 1, -64)
    return a


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_blocks_meet(cuda, blocks):
    a, b = (np.zeros(64 * blocks, np.int32) for _ in range(2))
    report = cuda(ROUNDS.replace("SECOND", "grid.sync();"), a, b, grid=blocks, block=64, observers=("hazards",))
    assert np.array_equal(a, expected(64 * blocks)) and report.hazards == []


def test_a_missing_sync_is_found(cuda):
    a, b = (np.zeros(128, np.int32) for _ in range(2))
    report = cuda(ROUNDS.replace("SECOND", ""), a, b, grid=2, block=64, observers=("hazards",))
    assert {found.severity for found in report.hazards} == {"race"}
    assert "reads b[64]" in str(report.hazards[0])


def test_the_grid_has_a_workspace_of_its_own(cuda):
    """A program without grid.sync has none: its arrays lie where they always did."""
    a = np.zeros(64, np.int32)
    report = cuda('extern "C" __global__ void kernel(int* a) { a[threadIdx.x] = 1; }', a, grid=1, block=64)
    assert "the grid's workspace" not in report._launch.memory.names
