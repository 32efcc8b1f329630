"""A kernel's timeline from the GPU in this machine: a stamped copy, launched twice, of which the second is read."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import numpy as np

from gemm_lab import compiler, device
from gemm_lab.api.card_recording import driver_version
from gemm_lab.api.here import Here
from gemm_lab.api.kernel import Kernel
from gemm_lab.errors import LabError
from gemm_lab.measure import stamps
from gemm_lab.measure.benchmark import commit
from gemm_lab.measure.inputs import make_inputs, reference
from gemm_lab.model.pipeline_timeline import Timeline

NOTE = "A load is drawn until a warp saw its bytes; stamps themselves take some clocks."


def record_timeline(kernel: Kernel, where: Here, m: int, n: int, k: int, *, block: int = 0) -> tuple[Timeline, dict]:
    """The timeline of one block, and its conditions. The second of two launches is read, so that code is in caches.

    Raises `LabError` where the copy does not compute the same as the kernel, or nothing was stamped.
    """
    kernel.spec.require_size(kernel.config, m, n, k)
    copy = kernel.rewrite(stamps.instrument(kernel.source), file=kernel.spec.file)
    compiled = copy.compile(where.arch)
    grid = kernel.grid(m, n, k)
    blocks, warps = grid[0] * grid[1] * grid[2], compiled.threads // 32
    inputs = make_inputs(kernel.problem, m, n, k, "integers", 0)
    names = (*kernel.problem.arguments, "stamps")
    for _ in range(2):
        arrays = device.launch(compiled, grid=grid, cluster=kernel.spec.cluster, names=names,
                               args=[*inputs.arguments(), stamps.buffer(blocks, warps)])
    _require_same(kernel, inputs, arrays[kernel.problem.arrays.index("d")])
    timeline = stamps.read(arrays[-1], blocks, warps, block=block, title=kernel.name)
    conditions = {
        "kernel": kernel.name, "config": " ".join(f"{name}={value}" for name, value in kernel.config.items()),
        "gpu": where.present.name, "driver": driver_version(where), "cuda": ".".join(map(str, compiler.version())),
        "commit": commit(), "date": datetime.date.today().isoformat(), "m": m, "n": n, "k": k, "blocks": blocks,
        "block": block, "registers": compiled.registers, "spilled": compiled.spill_stores + compiled.spill_loads,
    }
    return replace(timeline, note=NOTE), conditions


def _require_same(kernel: Kernel, inputs: Any, result: np.ndarray) -> None:
    wanted = reference(inputs).astype(result.dtype).astype(np.float64)
    if not np.array_equal(result.astype(np.float64), wanted):
        raise LabError(f"The stamped copy of {kernel.name} does not compute what the kernel does; its timeline would "
                       "tell of another program.")
