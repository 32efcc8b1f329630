"""Occupancy against cases worked out by hand from NVIDIA's rules (cuda_occupancy.h)."""

import pytest

from gpu_simulator.errors import LaunchError
from gpu_simulator.hardware.data_sheets import GPUS, gpu
from gpu_timing.occupancy import occupancy


@pytest.mark.parametrize("registers, by_registers", [(104, 2), (166, 1)])
def test_t4_document_shared_memory_decides_both_times(registers, by_registers):
    """49,152 of 65,536 bytes: one block, whether a thread has 104 registers or 166."""
    found = occupancy(gpu("t4"), threads=256, registers=registers, smem_bytes=49_152)
    assert found.blocks == 1 and found.warps == 8 and found.fraction == 0.25
    assert found.binding == "shared memory" + " and registers" * (by_registers == 1)
    assert found.limits == {"shared memory": 1, "registers": by_registers, "threads": 4, "block slots": 16}
    assert "1 block of 256 threads" in found.text and "shared memory" in found.text


@pytest.mark.parametrize(
    "key, threads, registers, smem, blocks, binding",
    [
        ("a100", 256, 32, 0, 8, "registers and threads"),  # 2,048 threads fill the register file exactly
        ("a100", 1024, 32, 0, 2, "registers and threads"),
        ("a100", 1024, 33, 0, 1, "registers"),  # 33 registers are given as 40
        ("a100", 128, 64, 0, 8, "registers"),
        ("a100", 32, 16, 0, 32, "block slots"),
        ("t4", 32, 16, 0, 16, "block slots"),
        ("rtx5090", 32, 16, 0, 24, "block slots"),
        ("rtx5090", 256, 32, 0, 6, "threads"),
        ("rtx5090", 128, 64, 99 * 1024, 1, "shared memory"),
        ("a100", 128, 64, 163 * 1024, 1, "shared memory"),
        ("a100", 128, 64, 81 * 1024, 2, "shared memory"),  # 2 x (81 + 1) KB = 164 KB
        ("a100", 128, 64, 81 * 1024 + 1, 1, "shared memory"),  # one byte more is 128 more
        ("h200", 384, 168, 227 * 1024, 1, "shared memory and registers"),
        ("b200", 256, 64, 192 * 1024, 1, "shared memory"),
    ],
)
def test_worked_cases(key, threads, registers, smem, blocks, binding):
    found = occupancy(gpu(key), threads, registers, smem)
    assert (found.blocks, found.binding) == (blocks, binding)
    assert found.warps == blocks * -(-threads // 32)


def test_limits_that_tie_are_all_named():
    found = occupancy(gpu("t4"), threads=256, registers=64, smem_bytes=16 * 1024)
    assert found.limits == {"block slots": 16, "shared memory": 4, "registers": 4, "threads": 4}
    assert found.limit == "limits: shared memory, registers and threads"
    assert found.text.endswith("The limits are shared memory, registers and threads.")
    one = occupancy(gpu("t4"), 256, 80, 16 * 1024)
    assert one.limit == "limit: registers" and one.text.endswith("The limit is registers.")
    assert occupancy(gpu("t4"), 32, 16, 0).binding == "block slots", "memory that is not used limits nothing"


def test_the_reserved_kilobyte_begins_with_sm_80():
    assert occupancy(gpu("t4"), 128, 32, 32 * 1024).limits["shared memory"] == 2  # 2 x 32 KB fill 64 KB
    assert occupancy(gpu("h100"), 128, 32, 114 * 1024).limits["shared memory"] == 1  # 2 x 115 KB > 228 KB
    assert occupancy(gpu("h100"), 128, 32, 113 * 1024).limits["shared memory"] == 2


def test_registers_are_per_quarter():
    """96 registers: 3,072 a warp, 5 warps in each quarter of 16,384, so 20; 65,536 / 3,072 would be 21.3."""
    assert occupancy(gpu("h100"), 32, 96, 0).limits["registers"] == 20
    assert occupancy(gpu("h100"), 96, 96, 0).limits["registers"] == 6  # 20 // 3, where 21 // 3 would be 7


def test_more_of_anything_never_raises_occupancy():
    for card in GPUS.values():
        by_registers = [occupancy(card, 256, r, 0).blocks for r in range(1, 256)]
        by_smem = [occupancy(card, 256, 32, s).blocks for s in range(0, card.smem_per_block, 1000)]
        assert by_registers == sorted(by_registers, reverse=True)
        assert by_smem == sorted(by_smem, reverse=True)


def test_every_gpu_can_be_filled():
    for card in GPUS.values():
        assert occupancy(card, 256, 32, 0).fraction == 1.0


@pytest.mark.parametrize(
    "key, threads, registers, smem, words",
    [
        ("t4", 256, 64, 65_537, ["65,537", "65,536"]),
        ("rtx5090", 128, 64, 163 * 1024, ["101,376", "smaller tiles"]),
        ("a100", 1025, 32, 0, ["1024 threads"]),
        ("a100", 0, 32, 0, ["1024 threads"]),
        ("a100", 256, 256, 0, ["255 registers"]),
        ("a100", 1024, 65, 0, ["1024 threads with 65 registers", "64 a thread"]),
        ("a100", 288, 255, 0, ["168 a thread"]),  # 9 warps count as 12
        ("h100", 128, 64, -1, ["-1"]),
    ],
)
def test_impossible_kernels_are_refused_with_a_way_out(key, threads, registers, smem, words):
    with pytest.raises(LaunchError) as caught:
        occupancy(gpu(key), threads, registers, smem)
    assert all(word in str(caught.value) for word in words)
