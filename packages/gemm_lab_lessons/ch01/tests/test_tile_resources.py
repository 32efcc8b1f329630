"""Bounds of a choice of tiles, held against kernels that are compiled."""

import pytest

import gemm_lab as lab
from gemm_lab_lessons.ch01.tile_resources import shared_gbps, tile_resources
from gpu_simulator.errors import SimulatorError, SizeError
from gpu_simulator.hardware.data_sheets import gpu
from gpu_timing.occupancy import occupancy


def test_a_t4_tile_by_hand():
    found = tile_resources(gpu("t4"), (256, 128, 64), (64, 64), 1, "f16")
    assert found.threads == 256 and found.smem == 49152
    assert found.registers == 64 * 64 * 2 // 4 // 32 + 2 * 64 * 8 * 2 // 4 // 32 == 80
    assert found.bounds["shared memory"] == 65.0 and found.warp_intensity == 32.0
    assert found.dram_bound == pytest.approx(85.333 * 220 / 1000, rel=1e-3)
    assert found.hit_rate_needed == pytest.approx(1 - found.dram_bound / 65.0)
    assert found.occupancy == occupancy(gpu("t4"), 256, 80, 49152) and found.binding == "the tensor cores"


def test_a_narrow_warp_tile_is_bound_by_shared_memory():
    found = tile_resources(gpu("t4"), (64, 64, 32), (16, 16), 1, "f16")
    assert found.binding == "shared memory" and found.attainable == pytest.approx(8 * 3662 / 1000)


def test_what_does_not_start_says_why():
    stages = tile_resources(gpu("t4"), (256, 128, 64), (64, 64), 2, "f16")
    assert "shared memory" in stages.binding and stages.attainable == 0 and stages.occupancy is None
    wide = tile_resources(gpu("h100"), (256, 256, 64), (128, 256), 2)
    assert "registers" in wide.binding


@pytest.mark.parametrize("name", ["t4/01_hierarchical_tiling", "t4/03_swizzled"])
def test_compiled_kernels_need_at_least_the_bound(name):
    kernel = lab.kernel(name)
    compiled, c = kernel.compile(), kernel.config
    warp = c["BLOCK_M"] // c["NUM_WARPS_M"], c["BLOCK_N"] // c["NUM_WARPS_N"]
    found = tile_resources(gpu("t4"), (c["BLOCK_M"], c["BLOCK_N"], c["BLOCK_K"]), warp, 1, "f16")
    assert found.threads == compiled.threads and found.smem == compiled.smem
    assert compiled.registers >= found.registers
    assert occupancy(gpu("t4"), compiled.threads, compiled.registers, compiled.smem).blocks <= found.occupancy.blocks


def test_bandwidth_of_shared_memory():
    assert shared_gbps(gpu("t4")) == 3662
    assert shared_gbps(gpu("a100")) == pytest.approx(108 * 128 * 1.41)
    assert shared_gbps(gpu("b200")) is None
    assert "shared memory" not in tile_resources(gpu("b200"), (128, 128, 64), (64, 64)).bounds


@pytest.mark.parametrize(
    ("block", "warp", "stages", "said"),
    [
        ((128, 128, 32), (48, 64), 1, "do not divide"),
        ((128, 128, 32), (20, 64), 1, "multiple of 16 × 8"),
        ((128, 128, 20), (64, 64), 1, "m16n8k8"),
        ((128, 128, 32), (64, 64), 0, "at least one stage"),
    ],
)
def test_impossible_tiles(block, warp, stages, said):
    with pytest.raises(SizeError, match=said):
        tile_resources(gpu("t4"), block, warp, stages)
    with pytest.raises(SimulatorError):
        tile_resources(gpu("t4"), (128, 128, 32), (64, 64), 1, "f8")
