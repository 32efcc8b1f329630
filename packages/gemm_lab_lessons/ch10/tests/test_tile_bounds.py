"""The bounds of a persistent kernel: laws, numbers that can be checked by hand, and what is not published stays empty."""

import pytest

from gemm_lab_lessons.ch10.tile_bounds import tail, tile_bounds
from gpu_simulator.errors import SimulatorError, SizeError
from gpu_simulator.hardware.data_sheets import B200, H200


def table(gpu=B200, size=(4096, 4096, 4096), **options):
    return {row.what: row for row in tile_bounds(gpu, *size, **options)}


def lowest(rows):
    """The row with the lowest bound, among those that do not assume that L2 serves no read."""
    known = [row for row in rows if row.bound_tflops is not None and "no reuse" not in row.what]
    return min(known, key=lambda row: row.bound_tflops)


def test_512_tiles_over_148_multiprocessors():
    found = tail(4096, 4096, (128, 256), 148)
    assert (found.tiles, found.waves, found.last) == (512, 4, 512 - 3 * 148)
    assert found.efficiency == pytest.approx(512 / 592)
    row = table()["tiles over multiprocessors"]
    assert row.bound_tflops == pytest.approx(2250 * 512 / 592) and "4 rounds, 68 in the last" in row.text


@pytest.mark.parametrize("workers", [1, 7, 74, 148])
@pytest.mark.parametrize("size", [(128, 256), (4096, 4096), (8192, 8192), (130, 257)])
def test_laws_of_the_tail(size, workers):
    found = tail(*size, (128, 256), workers)
    assert 0 < found.efficiency <= 1 and 1 <= found.last <= workers
    assert (found.waves - 1) * workers + found.last == found.tiles
    assert (found.efficiency == 1) == (found.tiles % workers == 0)
    # the busiest worker's tiles, counted as the kernel's loop takes them
    assert max(len(range(block, found.tiles, workers)) for block in range(workers)) == found.waves


def test_bytes_per_flop():
    """128 × 256: 85.3 FLOP/byte from 48 KB a k tile; a pair loads 32 KB each for as many products: 128 FLOP/byte."""
    alone, pair = table(), table(pair=True)
    assert alone["L2"].value == pytest.approx(2250e3 / (128 * 256 / 384))
    assert pair["L2"].value == pytest.approx(2250e3 / 128)
    assert "48 KB" in alone["shared memory"].text and "32 KB" in pair["shared memory"].text
    assert alone["DRAM, no reuse in L2"].bound_tflops == pytest.approx(128 * 256 / 384 * 7.7)
    assert pair["DRAM, no reuse in L2"].bound_tflops == pytest.approx(128 * 7.7)
    for k in (64, 4096):  # the depth of a k tile and of the product cancel
        assert table(size=(4096, 4096, k))["shared memory"].value == pytest.approx(alone["shared memory"].value)
        assert table(block=(128, 256, k))["L2"].value == pytest.approx(alone["L2"].value)


def test_the_bound_falls_with_the_tile_and_never_exceeds_the_peak():
    for size in ((512, 512, 512), (4096, 4096, 64), (8192, 8192, 8192)):
        for pair in (False, True):
            rows = tile_bounds(B200, *size, pair=pair)
            assert all(row.bound_tflops is None or 0 < row.bound_tflops <= 2250 for row in rows)
            assert all(row.assumes and row.source and row.text for row in rows)
    small = table(block=(128, 64, 64))
    assert small["DRAM, no reuse in L2"].bound_tflops < table()["DRAM, no reuse in L2"].bound_tflops
    assert lowest(tile_bounds(B200, 512, 512, 512)).bound_tflops == pytest.approx(2250 * 8 / 148)


def test_a_short_product_is_bound_by_dram():
    rows = tile_bounds(B200, 8192, 8192, 64)
    assert lowest(rows).what == "DRAM, each matrix once"
    moved = 2 * (8192 * 64 * 2 + 8192 * 8192)
    assert lowest(rows).bound_tflops == pytest.approx(2 * 8192 * 8192 * 64 / moved * 7.7)


def test_what_is_not_published_stays_empty():
    """The B200's L2 rate: then a row says what would be needed, and bounds nothing."""
    assert table()["L2"].bound_tflops is None and table()["L2"].source == "not published"
    with pytest.raises(SimulatorError, match="No tensor-core peak"):
        tile_bounds(B200, 512, 512, 512, dtype=("f32", "f32"))
    with pytest.raises(SizeError, match="at least 1"):
        tail(0, 256, (128, 256), 148)


@pytest.mark.parametrize(
    ("gpu", "tile", "share"),
    [(B200, (128, 256, 64), "75%"), (H200, (128, 256, 64), "38%"), (B200, (64, 64, 64), "200%")],
)
def test_reads_of_shared_memory_and_products_at_one_clock(gpu, tile, share):
    """128 × 256 × 64 takes a B200 512 cycles, an H200 1,024; its 48 KB are read in 384."""
    row = table(gpu, block=tile)["shared memory"]
    assert f"reads take {share}" in row.text
    assert (row.bound_tflops < gpu.peak("bf16", "f32")) == (tile[1] == 64)
