"""The functions that assemble tiles agree with the layouts of the fragments, and are inverse to one another."""

import numpy as np
import pytest

from gpu_simulator.hardware import fragments
from gpu_simulator.hardware.mma_layouts import Mma


@pytest.mark.parametrize(
    ("k", "dtype"),
    [(8, "f16"), (16, "bf16"), (4, "tf32"), (8, "tf32"), (16, "s8"), (32, "u8"), (32, "e4m3")],
)
def test_gathers_put_elements_where_the_coordinates_say(k, dtype):
    mma, rng, warps, tiles = Mma(f"m16n8k{k}", dtype), np.random.default_rng(k), 3, 2
    each = mma.per_register("A")
    for coordinates, gather, extent in (
        (mma.coordinates("A"), fragments.gather_a, 16),
        (mma.coordinates("B"), fragments.gather_b, 8),
    ):
        registers = coordinates.shape[1]
        held = rng.integers(0, 99, (tiles, registers, warps, 32, each))
        out = gather(held, each)
        assert out.shape == (warps, tiles * extent, k)
        for tile in range(tiles):
            for lane in (0, 7, 31):
                for register in range(registers):
                    for element in range(each):
                        row, column = coordinates[lane, register, element]
                        row, column = (row, column) if extent == 16 else (column, row)
                        assert out[1, tile * extent + row, column] == held[tile, register, 1, lane, element]


def test_scatter_inverts_gather():
    held = np.random.default_rng(0).integers(0, 99, (2, 3, 2, 4, 32, 2))
    tile = fragments.gather_c(held)
    assert tile.shape == (4, 32, 24)
    back = fragments.scatter_c(tile, 2, 3)
    assert np.array_equal(back.transpose(0, 1, 2, 4, 5, 6, 3).reshape(held.shape), held)
    row, column = Mma("m16n8k16", "f16").coordinates("C")[9, 3, 0]
    assert tile[2, 16 + row, 8 + column] == held[1, 1, 1, 2, 9, 1]
