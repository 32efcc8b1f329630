"""CUDA text to a launch: what every test of the emulator starts from."""

import numpy as np
import pytest

import gpu_simulator as emulator
from gemm_lab import compiling


@pytest.fixture
def cuda():
    """cuda(source, *args, grid, block, arch, **options): compile `kernel` and launch it; returns the Report."""

    def run(source, *args, grid=1, block=32, arch="sm_80", entry="kernel", **options):
        compiled = compiling.compile(source, arch=arch, name="kernel.cu", entry=entry)
        return emulator.launch(compiled, entry, grid, block, args, **options)

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(7)
