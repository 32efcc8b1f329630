"""The drawn schedule counts what the bank model counts, and serves every word once without a collision."""

import numpy as np
import pytest

from gpu_simulator.hardware import banks
from gpu_simulator.hardware.bank_schedule import ideal_wavefronts, schedule

LANE = np.arange(32)


def random_access(rng, width):
    """Addresses as kernels make them: anything, strides, few lines, rows of a tile, neighbours that share."""
    how = rng.integers(5)
    if how == 0:
        chosen = rng.integers(0, 4096 // width, 32) * width
    elif how == 1:
        chosen = LANE * int(rng.integers(0, 40)) * width
    elif how == 2:
        chosen = rng.integers(0, 256 // width, 32) * width
    elif how == 3:
        chosen = LANE // 8 * width + LANE % 8 * int(rng.integers(1, 20)) * 16
    else:
        chosen = np.repeat(rng.integers(0, 512, 16) * width, 2)
    return chosen, rng.random(32) < rng.choice([1.0, 0.7])


@pytest.mark.long
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_counts_agree_with_the_bank_model(width):
    rng = np.random.default_rng(width)
    for _ in range(150):
        at, use = random_access(rng, width)
        assert schedule("store", at, width, use).count == banks.wavefronts(at[None], width, use[None])[0]
        assert schedule("load", at, width, use).count == banks.load_wavefronts(at[None], width, use[None])[0]
        source = random_access(rng, width)[0]
        if width >= 4:
            ours = schedule("cp.async.ca", at, width, use, source)
            assert ours.count == banks.cp_async_ca_wavefronts(source, at, width, use)
            assert no_two_meet(ours, source, at, width)
        if width == 16:
            assert schedule("ldmatrix", at, 16, use).count == banks.wavefronts(at[None], 16, use[None])[0]
            ours = schedule("cp.async.cg", at, 16, use, source).count
            assert ours == banks.cp_async_cg_wavefronts(source, at, use)


def no_two_meet(found, source, at, width):
    """Whether no two lanes of one wavefront of cp.async.ca want the same bank, of the source or of the destination."""
    wavefronts = [found.lanes(number) for number in range(found.count)]
    assert sorted(np.concatenate([[], *wavefronts])) == np.flatnonzero((found.wavefront >= 0).any(1)).tolist()
    return all(
        len(lanes) and len(set(side[lanes] % 128)) == len(lanes) for lanes in wavefronts for side in (source, at)
    )


@pytest.mark.parametrize("kind", ["store", "load"])
def test_a_wavefront_serves_each_bank_one_word(kind):
    rng = np.random.default_rng(7)
    for width in (2, 4, 8, 16) * 20:
        at, use = random_access(rng, width)
        found = schedule(kind, at, width, use)
        words = at[:, None] // 4 + np.arange(max(width // 4, 1))
        assert (found.wavefront[use] >= 0).all() and (found.wavefront[~use] == -1).all()
        for number in range(found.count):
            served = np.unique(words[found.wavefront == number])
            assert len(served) > 0 and len(np.unique(served % 32)) == len(served)
            assert len(found.lanes(number)) > 0


def test_the_toy_machine():
    column = np.arange(4) * 16
    assert schedule("load", column, 4, banks=4).count == 4
    assert schedule("load", column + (np.arange(4) ^ 2) * 4, 4, banks=4).count == 1
    assert schedule("store", np.arange(4) * 4, 4, banks=4).count == 1 == ideal_wavefronts(4, 4, 4)


def test_an_unknown_kind():
    with pytest.raises(ValueError, match="cp.async.cg"):
        schedule("stroll", LANE, 4)


@pytest.mark.parametrize("row_bytes", [64, 80, 128, 144])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_copies_of_rows_are_exact(row_bytes, width):
    lanes = 64 // width
    source, at = LANE // lanes * 4096 + LANE % lanes * width, LANE // lanes * row_bytes + LANE % lanes * width
    rule = banks.cp_async_ca_wavefronts(source, at, width)
    assert rule == schedule("cp.async.ca", at, width, None, source).count
