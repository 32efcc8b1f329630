"""The worker's own kernels for 8 bits, compiled from `support.cu` and run on the simulator, against NumPy."""

import ml_dtypes
import numpy as np
import pytest

import gpu_simulator
from gpu_runner.support import SOURCE, TYPES
from gpu_simulator import compiler

E4M3 = TYPES["e4m3"]


@pytest.fixture(scope="module")
def run():
    compiled = compiler.compile(SOURCE.read_text(), arch="sm_75", name="support.cu", entry="widen")
    return lambda entry, *arguments: gpu_simulator.launch(compiled.ptx, entry, 2, 256, arguments)


def test_every_byte_widens_to_its_value_and_comes_back(run):
    codes = np.arange(256, dtype=np.uint8)
    wide, back = np.zeros(256, np.float32), np.zeros(256, np.uint8)
    run("widen", wide, codes, np.uint64(256), E4M3)
    assert np.array_equal(wide, codes.view(ml_dtypes.float8_e4m3fn).astype(np.float32), equal_nan=True)
    run("narrow", back, wide, np.uint64(256), E4M3)
    nan = np.isnan(wide)
    assert np.array_equal(back[~nan], codes[~nan]) and nan.sum() == 2 and set(back[nan] & 0x7F) == {0x7F}


def test_numbers_are_rounded_to_the_nearest_and_ties_to_even(run):
    rng = np.random.default_rng(0)
    spread = rng.choice([-1.0, 1.0], 4000) * np.exp2(rng.uniform(-14, 8.8, 4000))
    ties = np.sort(np.arange(127, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32))
    ties = (ties[1:] + ties[:-1]) / 2
    values = np.concatenate([spread, ties, -ties, [0.0, 448.0, 464.0, 1e9, -1e9, np.inf]]).astype(np.float32)
    found = np.zeros(values.size, np.uint8)
    run("narrow", found, values, np.uint64(values.size), E4M3)
    expected = np.clip(values, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    assert np.array_equal(found, expected)


def test_scales_are_powers_of_two_or_any_and_go_to_their_blocks(run):
    powers, other = np.zeros(3000, np.float32), np.zeros(3000, np.float32)
    run("fill_scales", powers, np.uint64(3000), np.uint64(7), 1)
    run("fill_scales", other, np.uint64(3000), np.uint64(7), 0)
    assert set(np.unique(powers)) == {0.5, 1.0, 2.0} and 0.5 <= other.min() < 0.51 and 1.99 < other.max() <= 2.0
    rows, columns, blocks = 200, 300, 3
    values, factors = np.ones((rows, columns), np.float32), other[: 2 * blocks].copy()
    run("scale", values, np.uint64(values.size), np.uint64(columns), factors, 128, 128, np.uint64(blocks), np.uint64(1))
    spread = np.repeat(np.repeat(factors.reshape(2, blocks), 128, 0), 128, 1)[:rows, :columns]
    assert np.array_equal(values, spread)
