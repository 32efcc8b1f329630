"""Whole kernels of the catalogue: D of a GPU of sm_90 beside D of the simulator with exact sums."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.lab import on_simulator
from gemm_lab.lab.kernel import Kernel
from gemm_lab.measure.inputs import make_inputs
from gpu_simulator.errors import SimulatorError

ARCH, EDGE, DEPTH = "sm_90a", 256, 1024


def on_gpu(compiled, grid, args, cluster) -> list[np.ndarray]:
    """The arrays of `args` after a launch on the GPU."""
    import gpu_runner as device

    return device.launch(compiled, grid=grid, cluster=cluster, args=args)


def words(kernel: Kernel, launch: Callable = on_gpu) -> tuple[int, int, int]:
    """How many words D has, how many differ from the simulator's, and how many would with sums in float32."""
    steps = kernel.spec.size_multiples(kernel.config)
    m, n, k = (math.ceil(size / step) * step for size, step in zip((EDGE, EDGE, DEPTH), steps.values(), strict=True))
    inputs, compiled = make_inputs(kernel.problem, m, n, k, "normal", seed=5), kernel.compile(ARCH)
    grid, cluster, d = kernel.grid(m, n, k), kernel.spec.cluster, kernel.problem.arrays.index("d")
    got = launch(compiled, grid, inputs.arguments(), cluster)[d]
    exact, plain = (
        on_simulator.launch(compiled, grid, inputs.arguments(), cluster, exact=exact)[0][d] for exact in (True, False)
    )
    bits = f"u{got.itemsize}"
    return got.size, *(int((got.view(bits) != one.view(bits)).sum()) for one in (exact, plain))


def compare(names: list[str], launch: Callable = on_gpu) -> int:
    """Print a line for each kernel, by default all that are written for the GPU; returns how many differ."""
    wrong = 0
    for spec in map(catalog.kernel, catalog.kernels()):
        if (names and spec.name not in names) or spec.ceiling or not spec.written_for(ARCH):
            continue
        try:
            count, exact, plain = words(lab.kernel(spec.name), launch)
        except SimulatorError as error:
            print(f"{spec.name:32} {error}", flush=True)
            continue
        wrong += exact > 0
        print(f"{spec.name:32} {count:>9,} words, {exact:>7,} differ, {plain:>7,} with float32 sums", flush=True)
    return wrong
