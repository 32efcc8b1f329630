"""What notebook 02 says of the ladder simt: loads for each multiply-add, the warp tiles of its kernels, what it asks for."""

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.notebook.puzzles.puzzle import puzzle


def test_loads_for_each_multiply_add_in_the_code_for_a_t4():
    """Two without tiles, a little over one with block tiles, and what the formula gives for thread tiles of 8 × 8."""
    loads = {}
    for kernel in lab.ladder("simt"):
        mix = kernel.sass(arch="sm_75").mix
        loads[kernel.name] = (mix.get("LDS") or mix["LDG"]) / mix["FFMA"]
    assert loads["simt/01_naive"] == loads["simt/02_coalesced"] == 2
    assert 1 < loads["simt/03_shared_memory_tiles"] < 1.5
    assert loads["simt/04_register_tiles"] == puzzle("02_reads").solution()(8, 8) == 0.25


@pytest.mark.parametrize(("settings", "loads"), [({"THREAD_M": 4}, 3 / 8), ({"THREAD_M": 4, "THREAD_N": 4}, 1 / 2)])
def test_smaller_thread_tiles_load_more_and_leave_room_for_more_warps(settings, loads):
    plain = lab.kernel("simt/04_register_tiles")
    small = plain(**settings)
    mix = small.sass(arch="sm_75").mix
    assert mix["LDS"] / mix["FFMA"] == loads
    warps = [kernel.occupancy(kernel.compile("sm_75"), on="t4").warps for kernel in (plain, small)]
    assert warps == [16, 32]


def test_a_warp_of_02_coalesced_fetches_five_sectors_for_one_k():
    lane = np.arange(32)
    from_a, from_b = np.zeros(32, int), 4 * lane
    assert np.unique(from_a // 32).size + np.unique(from_b // 32).size == 5


def test_rung_02_asked_for_more_than_dram_can_give():
    tflops = lab.ladder("simt").recorded([4096]).tflops("simt/02", 4096)
    assert tflops * 5 * 32 / (2 * 32) > 2 * lab.gpu("h200").dram_gbps / 1000
