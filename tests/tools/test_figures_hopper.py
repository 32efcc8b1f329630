"""The pictures of Hopper's kernels show what those kernels do."""

from __future__ import annotations

import pytest

import gemm_lab as lab
from tools.figures import multicast, tma, turns, warpgroup_operands, warpgroups


def test_a_product_of_a_warpgroup_reads_each_row_once_and_whole_lines():
    """The four steps share out the 8 × 8 places of a pattern evenly, two of each row, as TMA's swizzle placed them."""
    places = [[warpgroup_operands.step_of(row, place) for place in range(8)] for row in range(8)]
    assert all(sorted(row) == [0, 0, 1, 1, 2, 2, 3, 3] for row in places)
    assert all(tma.chunk_at(row, place) // 2 == places[row][place] for row in range(8) for place in range(8))


def test_warpgroups_share_the_registers_of_a_multiprocessor():
    source = lab.kernel("hopper/04").source
    assert f"PRODUCER_REGISTERS = {warpgroups.PRODUCER}, CONSUMER_REGISTERS = {warpgroups.CONSUMER};" in source
    begun = warpgroups.registers_of((warpgroups.STARTS_WITH,) * 3)
    moved = warpgroups.registers_of((warpgroups.PRODUCER, warpgroups.CONSUMER, warpgroups.CONSUMER))
    assert begun == moved <= warpgroups.REGISTERS == lab.gpu("h200").registers_per_sm
    assert lab.kernel("hopper/04").compile().registers == warpgroups.STARTS_WITH
    (_, a), (_, b) = lab.kernel("hopper/04").problem.tensor_maps
    assert (a.box[0] * a.box[1] + b.box[0] * b.box[1]) * 2 == 49152


def test_a_cluster_asks_for_what_its_kernel_does():
    (_, a), (_, b) = lab.kernel("hopper/06").problem.tensor_maps
    assert (a.box[0] * a.box[1] + b.box[0] * b.box[1]) * 2 == multicast.kib_from_l2(2) * 1024 == 32768
    assert multicast.kib_from_l2(1) == 48 and multicast.CONSUMER_WARPS == 8


def test_consumers_in_turn_leave_no_gap_and_those_together_do():
    assert turns.idle(turns.in_turn()) == 0 < turns.idle(turns.together()) == pytest.approx(turns.STORE)
    for rows in (turns.together(), turns.in_turn()):
        assert all(a[3] <= b[1] + 1e-9 for row in rows for a, b in zip(row, row[1:], strict=False)), (
            "one thing at a time"
        )
