"""Runs a product whose B is MN-major on the simulator, with the descriptors that a learner has written.

multiply([word(k) for k in (0, 16, 32, 48)])      # -> (the simulation, D, what D should be)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np

from gemm_lab.config import data_dir
from gemm_lab.lab.simulate import Simulation, simulate
from gpu_simulator.hardware.tensor_map import TensorMap

ROWS, COLUMNS, DEPTH = 64, 128, 64
TRANSPOSED_B = ("p, 1, 1, 0, 0;", "p, 1, 1, 0, 1;")  # the last bit of wgmma: B is MN-major


def source() -> str:
    """The text of the kernel, with the wrapper of wgmma for an MN-major B in place of the header's."""
    header = (data_dir("kernels") / "include/ptx/wgmma.cuh").read_text(encoding="utf-8").replace(*TRANSPOSED_B)
    text = Path(__file__).with_name("mn_major.cu").read_text(encoding="utf-8")
    return text.replace('#include "ptx/wgmma.cuh"\n', header.replace("#pragma once\n", ""))


def multiply(words: Sequence[int], seed: int = 0) -> tuple[Simulation, np.ndarray, np.ndarray]:
    """Multiply with these four descriptors of B. D begins as NaN; the inputs are whole numbers from -4 to 4."""
    random = np.random.default_rng(seed)
    a, b = (random.integers(-4, 5, shape).astype(ml_dtypes.bfloat16) for shape in ((ROWS, DEPTH), (DEPTH, COLUMNS)))
    d = np.full((ROWS, COLUMNS), np.nan, np.float32)
    maps = [TensorMap.of(array, (64, 64), swizzle=128) for array in (a, b)]
    bytes, include = ROWS * DEPTH * 2 + DEPTH * COLUMNS * 2 + 8, [data_dir("kernels") / "include"]
    launched = {"args": [*maps, np.array(words, np.uint64), d], "dynamic_smem_bytes": bytes}
    ran = simulate(source(), grid=1, block=128, arch="sm_90a", include=include, **launched)
    return ran, d, a.astype(np.float32) @ b.astype(np.float32)
