"""What notebook 07 says about one wavefront of cp.async, held against the model and the recordings."""

from math import gcd

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab_lessons.ch07.puzzles.copies import recorded_tiles
from gemm_lab_lessons.shared.recorded import AGREE
from gpu_simulator.hardware import banks
from tools.figures import copy_moves, copy_rows

LANES, CHUNKS = np.arange(32), np.arange(8)


def degree(**tile):
    found, ideal = lab.swizzle(rows=128, row_bytes=128, **tile).whole_tile
    return found / ideal


def test_rows_of_the_padded_tile():
    rows = [banks.cp_async_cg_wavefronts(4096 * r + 16 * CHUNKS, 144 * r + 16 * CHUNKS) for r in range(8)]
    assert rows == copy_rows.counts(padded=True) == [1, 3, 2, 4, 2, 4, 2, 3]
    assert (sum(rows[:4]), sum(rows[3:7])) == (10, 12), "the rows, and the second rows, of the recordings"
    assert sum(rows) / 2 / 4 == 2.625 == degree(layout="padded", access="cp.async")
    assert copy_rows.counts(padded=False) == [1] * 8 and degree(layout="xor", access="cp.async") == 1


def test_no_padding_cures_both():
    for pad in range(16, 272, 16):
        read = degree(layout="padded", pad_bytes=pad, access="ldmatrix.x4")
        copy = degree(layout="padded", pad_bytes=pad, access="cp.async")
        assert read == gcd(8 + pad // 16, 8) and (pad // 16 % 2 == 0 or copy == 2.625) and max(read, copy) > 1


def test_an_addition_is_worse_for_the_copy_alone():
    row, chunk = np.divmod(LANES, 8)
    copies = [
        banks.cp_async_cg_wavefronts(4096 * row + 16 * chunk, 128 * row + 16 * place)
        for place in (chunk ^ row, (chunk + row) % 8)
    ]
    assert copies == [4, 6]
    assert [int(copy_moves.waves(places).max()) + 1 for *_, places in copy_moves.CASES] == [2, 3, 2, 1]


def test_the_puzzle_is_compared_with_recorded_tiles_of_all_layouts():
    tiles = recorded_tiles()
    assert len(tiles) == 60 and {count for _, count in tiles} >= {4, 10, 12}
    facts = dict(lab.puzzle("07_copy_wavefronts").check(lab.puzzle("07_copy_wavefronts").solution()).facts)
    assert facts[AGREE] == "60 of 60"


def test_what_the_puzzle_leaves_out_never_counts_in_whole_rows():
    """All sectors of a wavefront of a shifted, rotated or XORed row move by one rotation or reflection."""
    count = lab.puzzle("07_copy_wavefronts").solution()
    for shift in range(8):
        for places in (CHUNKS + shift, (CHUNKS + shift) % 8, CHUNKS ^ shift):
            assert count(places.tolist()) == banks.cp_async_cg_wavefronts(16 * CHUNKS, 16 * places)


@pytest.mark.long
@pytest.mark.parametrize(("rung", "traffic"), [("02_cp_async", "2"), ("03_padded", "3.5"), ("04_swizzled", "2.1")])
def test_the_profile_sees_torn_sectors(rung, traffic):
    (line,) = [line for line in repr(lab.kernel(f"ampere/{rung}").profile()).split("\n") if "L2 traffic" in line]
    assert line.endswith(f" {traffic}"), line
