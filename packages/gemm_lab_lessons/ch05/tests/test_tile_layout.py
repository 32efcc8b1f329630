"""Laws of tile layouts over every byte: one to one, rows stay rows, and what cannot be is refused with the reason."""

from itertools import product

import numpy as np
import pytest

from gemm_lab_lessons.ch05.tile_access import ACCESSES, access_problem, steps, tile_access, totals
from gemm_lab_lessons.ch05.tile_layout import LAYOUTS, TileLayout
from gpu_simulator.hardware.swizzle import LayoutError, Swizzle, row_swizzle


def every_layout():
    for rows, row_bytes, layout in product((8, 16, 64), (32, 64, 96, 128, 256), LAYOUTS):
        try:
            yield TileLayout(rows, row_bytes, layout=layout, bits=2)
        except LayoutError:
            continue
    for toy in ("plain", "padded", "xor"):
        yield TileLayout(4, 16, "f32", toy, pad_bytes=4, banks=4)


EVERY = list(every_layout())


@pytest.mark.parametrize("tile", EVERY, ids=lambda t: f"{t.rows}x{t.row_bytes}-{t.layout}")
def test_one_to_one_within_the_tile_and_back(tile):
    row, byte = np.mgrid[: tile.rows, : tile.row_bytes]
    at = tile.address(row, byte)
    assert len(np.unique(at)) == at.size and at.min() >= 0 and at.max() < tile.size_bytes
    back_row, back_byte = tile.place(at)
    assert np.array_equal(back_row, row) and np.array_equal(back_byte, byte)
    everywhere = tile.place(np.arange(tile.size_bytes))[0]
    assert (everywhere >= 0).sum() == tile.rows * tile.row_bytes


@pytest.mark.parametrize("tile", EVERY, ids=lambda t: f"{t.rows}x{t.row_bytes}-{t.layout}")
def test_rows_stay_rows_and_chunks_stay_whole(tile):
    row, byte = np.mgrid[: tile.rows, : tile.row_bytes]
    at, plain = tile.address(row, byte), tile.plain_address(row, byte)
    width = tile.row_stride if tile.layout != "padded" else tile.row_bytes
    for r in range(tile.rows):
        assert np.array_equal(np.sort(at[r]), np.sort(plain[r])), "an XOR permutes a row"
    piece = 4 if tile.banks == 4 else 16
    assert width >= piece and np.array_equal(at % piece, plain % piece)


@pytest.mark.parametrize("row_bytes", [32, 64, 128, 256, 512])
def test_the_row_stride_rule_frees_ldmatrix_and_plain_rows_conflict(row_bytes):
    free = TileLayout(64, row_bytes, layout="xor")
    wavefronts, ideal = totals(free, "ldmatrix.x4")
    assert wavefronts == ideal == 64 * row_bytes // 128
    plain, degree = totals(free.changed(layout="plain"), "ldmatrix.x4"), min(8, row_bytes // 16)
    assert plain == (degree * ideal, ideal)
    assert totals(free.changed(layout="padded"), "ldmatrix.x4")[0] == ideal


@pytest.mark.parametrize(("mode", "row_bytes"), [(32, 32), (64, 64), (128, 128), (128, 256), (64, 256)])
def test_tma_modes_are_the_row_swizzles_of_their_boxes(mode, row_bytes):
    tile = TileLayout(64, row_bytes, layout=f"tma{mode}")
    assert tile.swizzle == row_swizzle(mode)
    wavefronts, ideal = totals(tile, "ldmatrix.x4")
    assert wavefronts == ideal


@pytest.mark.parametrize("access", ACCESSES)
def test_the_steps_of_an_access_touch_every_byte_once(access):
    tile = TileLayout(64, 128, "f16", "xor")
    seen = np.zeros((64, 128), int)
    for step in range(steps(tile, access)):
        one = tile_access(tile, access, step)
        for row, byte in zip(one.rows[one.active], one.bytes[one.active], strict=True):
            seen[row, byte : byte + one.width] += 1
        assert (one.addresses[one.active] % one.width == 0).all()
    assert (seen == 1).all()


@pytest.mark.parametrize("bits, base, shift", [(3, 4, 3), (2, 4, 3), (3, 4, 4), (2, 4, -2), (3, 4, -3), (1, 3, 2)])
def test_cutlass_swizzles(bits, base, shift):
    swizzle, at = Swizzle(bits, base, shift), np.arange(1 << 13)
    assert np.array_equal(np.sort(swizzle(at)), at) and np.array_equal(swizzle(swizzle(at)), at)
    assert bin(swizzle.mask).count("1") == bits and swizzle.mask & swizzle.source == 0
    rng = np.random.default_rng(0)
    a, b = rng.choice(at, (2, 1000))
    assert np.array_equal(swizzle(a ^ b), swizzle(a) ^ swizzle(b)), "linear, so a walk along a row is one XOR"


def test_stepping_along_a_row_is_one_xor():
    tile = TileLayout(64, 128, layout="xor")
    row = np.arange(64)
    for start, step in ((0, 32), (0, 64), (32, 64), (16, 32), (0, 112)):
        stepped = tile.swizzle.step(tile.address(row, start), tile.plain_address(row, start), step)
        assert np.array_equal(stepped, tile.address(row, start + step))
    for start, step in ((32, 32), (96, 32), (0, 128)):
        with pytest.raises(LayoutError, match="no single XOR"):
            tile.swizzle.step(tile.address(row, start), tile.plain_address(row, start), step)


def test_the_toy_xor():
    plain, xor = (TileLayout(4, 16, "f32", how, banks=4) for how in ("plain", "xor"))
    assert [tile_access(plain, "column load", s).schedule.count for s in range(4)] == [4] * 4
    assert [tile_access(xor, "column load", s).schedule.count for s in range(4)] == [1] * 4
    row, column = np.mgrid[:4, :4]
    assert np.array_equal(xor.address(row, column * 4) // 4 % 4, column ^ row)


def test_padding_frees_columns_and_costs_bytes():
    tile = TileLayout(64, 128, layout="padded", pad_bytes=16)
    assert tile.size_bytes == 64 * 144 and tile.place(128)[0] == -1 and tile.place(144) == (1, 0)
    first_banks = tile.address(np.arange(8), 0) // 4 % 32
    assert first_banks.tolist() == [0, 4, 8, 12, 16, 20, 24, 28]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"rows": 0}, "1 to 512"),
        ({"row_bytes": 100}, "steps of 16"),
        ({"element": "f12"}, "bf16"),
        ({"layout": "spiral"}, "tma128"),
        ({"row_bytes": 96}, "power of two"),
        ({"banks": 16}, "4 for the toy"),
        ({"layout": "padded", "pad_bytes": 6}, "steps of 4"),
        ({"layout": "tma128", "row_bytes": 64}, "do not divide"),
        ({"layout": "tma64", "rows": 12}, "multiple of 8"),
        ({"layout": "swizzle", "row_bytes": 64}, "at most 2"),
        ({"layout": "swizzle", "shift": 2}, "themselves"),
        ({"layout": "swizzle", "row_bytes": 96}, "no power of two"),
        ({"banks": 4}, "f32"),
        ({"layout": "swizzle", "bits": 9}, "0 to 6 bits"),
    ],
)
def test_impossible_layouts(values, said):
    with pytest.raises(LayoutError, match=said):
        TileLayout(**values)


@pytest.mark.parametrize(
    ("values", "access", "said"),
    [
        ({"rows": 20}, "ldmatrix.x4", "multiple of 16"),
        ({"rows": 12}, "ldmatrix.x1", "multiple of 8"),
        ({"layout": "padded", "pad_bytes": 8}, "float4 store", "misaligned"),
        ({}, "stroll", "cp.async"),
        ({"layout": "swizzle", "base": 2, "shift": 5}, "ldmatrix.x4", "torn"),
        ({"element": "f64"}, "fragment store", "another"),
        ({"row_bytes": 16, "layout": "plain"}, "ldmatrix.x4", "32 bytes of a row"),
    ],
)
def test_accesses_that_a_tile_refuses(values, access, said):
    tile = TileLayout(**values)
    assert said in access_problem(tile, access)
    with pytest.raises(LayoutError, match=said):
        tile_access(tile, access)


def test_a_step_too_far():
    with pytest.raises(LayoutError, match="0 to 15"):
        tile_access(TileLayout(), "ldmatrix.x4", 16)
    assert tile_access(TileLayout(), "ldmatrix.x4", 4).says == "rows 16–31, columns 0–15"
