"""Fixtures for tests of the emulator: compiling and launching CUDA text, and a random generator."""

import numpy as np
import pytest

import gpu_simulator as emulator
from gemm_lab import compiling


@pytest.fixture
def cuda():
    """The function cuda(source, *args, grid, block, arch, **options), which compiles and launches a kernel.

    It returns the `Report`.
    """

    def run(source, *args, grid=1, block=32, arch="sm_80", entry="kernel", **options):
        compiled = compiling.compile(source, arch=arch, name="kernel.cu", entry=entry)
        return emulator.launch(compiled, entry, grid, block, args, **options)

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(7)
