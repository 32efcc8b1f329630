"""Laws of XOR swizzles: one to one, their own inverse, and free of ldmatrix conflicts."""

import numpy as np
import pytest

from gpu_simulator.hardware import banks
from gpu_simulator.hardware.swizzle import Swizzle, row_swizzle

ROWS = [32, 64, 128, 256, 512]


def chunks(rows, row_bytes, pad_bytes=0):
    """Byte address of every 16-byte chunk of a row-major tile whose rows are padded: (rows, row_bytes // 16)."""
    return np.arange(rows)[:, None] * (row_bytes + pad_bytes) + np.arange(0, row_bytes, 16)


@pytest.mark.parametrize("swizzle", [Swizzle(3), Swizzle(2), Swizzle(1), Swizzle(3, 4, 4), Swizzle(0)])
def test_a_swizzle_permutes_and_undoes_itself(swizzle):
    address = np.arange(8192)
    assert np.array_equal(np.sort(swizzle(address)), address)
    assert np.array_equal(swizzle(swizzle(address)), address)
    assert np.array_equal(swizzle(address) % 16, address % 16)


@pytest.mark.parametrize("row_bytes", ROWS)
def test_columns_of_chunks_are_free_of_conflicts(row_bytes):
    tile = row_swizzle(row_bytes)(chunks(32, row_bytes))
    assert len(np.unique(tile)) == tile.size and tile.max() < 32 * row_bytes
    for first in range(0, 32, 8):
        assert (banks.wavefronts(tile[first : first + 8].T, 16) == 1).all()


@pytest.mark.parametrize(("row_bytes", "degree"), [(64, 4), (128, 8), (256, 8)])
def test_without_it_they_conflict(row_bytes, degree):
    assert (banks.wavefronts(chunks(8, row_bytes).T, 16) == degree).all()
    assert (banks.wavefronts(chunks(8, row_bytes, pad_bytes=16).T, 16) == 1).all()


def test_what_cannot_be_swizzled():
    with pytest.raises(ValueError, match="pad"):
        row_swizzle(80)
    with pytest.raises(ValueError, match="itself|themselves"):
        Swizzle(3, 4, 2)
