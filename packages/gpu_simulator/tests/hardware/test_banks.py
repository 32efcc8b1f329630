"""Laws of the bank model."""

from itertools import permutations

import numpy as np
import pytest

from gpu_simulator.hardware import banks

LANE = np.arange(32)


def slow(addresses, width, active):
    """The definition, one lane at a time."""
    each, total = banks.LANES_OF_A_PHASE[width], 0
    for start in range(0, len(addresses), each):
        words = {
            int(addresses[n]) // 4 + w
            for n in range(start, start + each)
            if active[n]
            for w in range(max(width // 4, 1))
        }
        depth = [0] * 32
        for word in words:
            depth[word % 32] += 1
        total += max(depth)
    return total


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_the_vectorised_count_is_the_definition(width):
    rng = np.random.default_rng(width)
    addresses = rng.integers(0, 300, (50, 32)) * width
    active = rng.random((50, 32)) < 0.7
    expected = [slow(a, width, m) for a, m in zip(addresses, active, strict=True)]
    assert banks.wavefronts(addresses, width, active).tolist() == expected


@pytest.mark.parametrize(
    ("stride", "expected"), [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1), (0, 1)]
)
def test_strides_of_words(stride, expected):
    assert banks.wavefronts((LANE * stride * 4)[None], 4).tolist() == [expected]


@pytest.mark.parametrize(("width", "expected"), [(4, 1), (8, 2), (16, 4)])
def test_wide_accesses_go_in_phases(width, expected):
    assert banks.wavefronts((LANE * width)[None], width).tolist() == [expected]
    assert banks.ideal_wavefronts(32, width) == expected
    assert banks.ideal_wavefronts(8, width) == -(-8 * width // 128)


def test_rows_of_128_bytes_conflict_in_ldmatrix_and_a_swizzle_frees_them():
    rows = np.arange(8)
    assert banks.wavefronts((rows * 128)[None], 16).tolist() == [8]
    assert banks.wavefronts((rows * 128 + (rows ^ 3) % 8 * 16)[None], 16).tolist() == [1]
    assert banks.wavefronts((rows * 144)[None], 16).tolist() == [1]


def test_moving_all_lanes_by_whole_words_changes_nothing():
    rng = np.random.default_rng(3)
    addresses = rng.integers(0, 500, (20, 32)) * 4
    for shift in (4, 64, 128, 4096):
        assert np.array_equal(banks.wavefronts(addresses, 4), banks.wavefronts(addresses + shift, 4))


def test_loads_join_phases_and_stores_do_not():
    same = np.zeros((1, 32), np.int64)
    pairs = (LANE // 2 * 16)[None]
    assert banks.load_wavefronts(same, 8).tolist() == [1] and banks.wavefronts(same, 8).tolist() == [2]
    assert banks.load_wavefronts(same, 16).tolist() == [2] and banks.load_wavefronts(pairs, 16).tolist() == [2]
    assert banks.load_wavefronts((LANE * 16)[None], 16).tolist() == [4]


def test_sectors():
    assert banks.sectors((LANE * 4)[None], 4).tolist() == [4]
    assert banks.sectors((LANE * 4 + 16)[None], 4).tolist() == [5]
    assert banks.sectors((LANE * 128)[None], 4).tolist() == [32]
    assert banks.sectors((LANE * 128)[None], 4, (LANE < 3)[None]).tolist() == [3]
    assert banks.sectors((LANE * 0)[None], 4).tolist() == [1]


def copy_rows(row_bytes, swizzle=False):
    """A warp copies rows of 64 bytes (four lanes each) from rows 4096 bytes apart to rows of `row_bytes`."""
    row, chunk = LANE // 4, LANE % 4
    place = chunk ^ row // 2 % 4 if swizzle else chunk
    return row * 4096 + chunk * 16, row * row_bytes + place * 16


def test_cp_async_cg_wavefronts():
    assert banks.cp_async_cg_wavefronts(LANE * 16, LANE * 16) == 4
    assert banks.cp_async_cg_wavefronts(*copy_rows(64)) == banks.cp_async_cg_wavefronts(*copy_rows(64, True)) == 8
    source, destination = copy_rows(80)
    assert banks.cp_async_cg_wavefronts(source, destination) > 8
    assert banks.cp_async_cg_wavefronts(source, np.zeros(32, int)) == 1
    assert banks.cp_async_cg_wavefronts(source, destination, LANE < 0) == 0


def one_line(moves):
    """Wavefronts of 16-byte moves (from chunk, to chunk) within one 128-byte line."""
    moves = np.array(moves) * 16
    return banks.cp_async_cg_wavefronts(moves[:, 0], moves[:, 1])


def test_the_eight_symmetries_of_four_sectors_take_one_wavefront_and_the_other_permutations_two():
    counts = {}
    for order in permutations(range(4)):
        counts[order] = one_line([(2 * s + half, 2 * d + half) for s, d in enumerate(order) for half in (0, 1)])
    assert sorted(counts.values()) == [1] * 8 + [2] * 16
    for constant in range(4):
        assert counts[tuple(s ^ constant for s in range(4))] == 1
        assert counts[tuple((s + constant) % 4 for s in range(4))] == 1
        assert counts[tuple((constant - s) % 4 for s in range(4))] == 1


def test_sectors_share_a_wavefront_only_if_they_move_and_swap_the_same_halves():
    assert one_line([(0, 0), (2, 2)]) == 1
    assert one_line([(0, 0), (3, 3)]) == 2, "a lower half and an upper half"
    assert one_line([(0, 0), (2, 3)]) == 2, "one swapped, one not"
    assert one_line([(0, 0), (1, 1), (2, 2)]) == 2, "a whole sector and a half"
    assert one_line([(0, 0), (1, 2)]) == 2, "one sector to two places"


def test_cp_async_ca_reads_source_banks_and_does_not_merge():
    count = banks.cp_async_ca_wavefronts
    assert count(LANE * 4, LANE * 4, 4) == 1
    assert count(LANE * 4, LANE * 0, 4) == 32
    rows = LANE // 16 * 4096 + LANE % 16 * 4
    assert count(rows, LANE * 4, 4) == 2
    assert count(rows, LANE * 4, 4, None, LANE < 0) == 1, "lanes that fill with zeros want no bank of the source"
    assert count(rows, LANE * 4, 4, None, LANE < 16) == 1
    assert count(rows, LANE * 4, 4, LANE < 16) == 1
    assert count(rows, LANE * 4, 4, LANE < 0) == 0


def crossing(*moves):
    """Wavefronts of cp.async.ca of 4 bytes a lane, each from a bank to a bank, in lines of their own."""
    from_bank, to_bank = (np.resize([move[n] for move in moves], 32) * 4 + LANE * 128 for n in (0, 1))
    return banks.cp_async_ca_wavefronts(from_bank, to_bank, 4, len(moves) > LANE)


def test_cp_async_ca_takes_the_lanes_that_contend_with_the_most_contended_one():
    assert crossing((0, 0), (1, 1), (2, 2)) == 1
    assert crossing((1, 1), (0, 0), (0, 0)) == 2
    for path in permutations([(0, 1), (0, 0), (1, 1)]):
        assert crossing(*path) == 3, "two that do not contend with one another contend with the third"
    for square in permutations([(0, 0), (0, 1), (1, 0), (1, 1)]):
        assert crossing(*square) == 3, "each contends with two of the others"
    assert crossing((0, 0), (0, 2), (0, 2), (1, 2)) == 4


def test_cp_async_ca_is_at_least_a_store_and_at_most_both_sides_together():
    rng = np.random.default_rng(5)
    for width in (4, 8, 16) * 40:
        source, at = rng.integers(0, 2048 // width, (2, 32)) * width
        use = rng.random(32) < 0.8
        depths = [
            [np.bincount(side[lanes][use[lanes]] % 128, minlength=1).max() for side in (source, at)]
            for lanes in LANE.reshape(-1, 128 // width)
        ]
        count = banks.cp_async_ca_wavefronts(source, at, width, use)
        assert sum(map(max, depths)) <= count <= sum(max(sum(both) - 1, 0) for both in depths)


def test_copies_that_may_fill_with_zeros():
    source, destination = copy_rows(80)
    both = banks.cp_async_cg_wavefronts(source, destination) + banks.cp_async_ca_wavefronts(source, destination, 16)
    assert banks.cp_async_cg_zfill_wavefronts(source, destination) == both == 27
    predicated = banks.cp_async_cg_predicated_wavefronts
    assert predicated(source, destination, LANE == 7) == banks.wavefronts(destination[None], 16)[0] == 8
    assert predicated(source, destination, LANE < 0) == banks.cp_async_cg_wavefronts(source, destination) == 15
    assert predicated(source, destination, LANE == 2, LANE < 8) == 2
    few = banks.cp_async_cg_wavefronts(source, destination, LANE < 8)
    assert predicated(source, destination, LANE == 8, LANE < 8) == few == 4, "a lane that is idle marks nothing"


def test_a_width_that_does_not_exist():
    with pytest.raises(ValueError, match="12 bytes"):
        banks.wavefronts(LANE[None], 12)


def test_the_conflict_degree_of_nothing_is_none():
    assert banks.conflict_degree(12, 4) == 3.0 and banks.conflict_degree(0, 4) == 0.0
    for nothing in ((0, 0), (5, 0), (None, 4), (4, None), (None, None)):
        assert banks.conflict_degree(*nothing) is None
