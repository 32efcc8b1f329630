"""Records a kernel's timeline on the GPU of this machine, with a copy of the kernel that stamps the clock.

python -m tools.recording timelines hopper/05_persistent b200/02_pipelined      writes results/timelines/<gpu>/*.csv
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import gpu_runner as device
from gemm_lab.lab.here import Here, here
from gemm_lab.lab.kernel import Kernel
from gemm_lab.lab.kernel import kernel as find
from gemm_lab.measure.benchmark import commit
from gemm_lab.measure.inputs import make_inputs, reference
from gemm_results import timeline_files
from gemm_results.errors import LabError
from gpu_simulator import compiler
from gpu_timing.logical.pipeline_timeline import Timeline
from tools.recording import stamps
from tools.recording.cards import driver_version

K_TILES, TILES, TILES_N = 16, 2, 16  # of a recorded launch: k tiles, tiles of D per block, tiles of D in a row
NOTE = "A load is drawn until a warp saw its bytes; stamps themselves take some clocks."


def record_timeline(kernel: Kernel, where: Here, m: int, n: int, k: int, *, block: int = 0) -> tuple[Timeline, dict]:
    """The timeline of one block, and the conditions of the recording.

    The kernel is launched twice and the second launch is read, so that its code is in the caches. Raises `LabError` if
    the copy does not compute the same result as the kernel, or if it has no stamps.
    """
    kernel.spec.require_size(kernel.config, m, n, k)
    copy = kernel.rewrite(stamps.instrument(kernel.source), file=kernel.spec.file)
    compiled = copy.compile(where.arch)
    grid = kernel.grid(m, n, k)
    blocks, warps = grid[0] * grid[1] * grid[2], compiled.threads // 32
    inputs = make_inputs(kernel.problem, m, n, k, "integers", 0)
    for _ in range(2):
        arrays = device.launch(
            compiled,
            grid=grid,
            cluster=kernel.spec.cluster,
            args=[*inputs.arguments(), stamps.buffer(blocks, warps)],
        )
    _require_same(kernel, inputs, arrays[kernel.problem.arrays.index("d")])
    timeline = stamps.read(arrays[-1], blocks, warps, block=block, title=kernel.name)
    conditions = {
        "kernel": kernel.name,
        "config": " ".join(f"{name}={value}" for name, value in kernel.config.items()),
        "gpu": where.present.name,
        "driver": driver_version(where),
        "cuda": ".".join(map(str, compiler.version())),
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
        "m": m,
        "n": n,
        "k": k,
        "blocks": blocks,
        "block": block,
        "registers": compiled.registers,
        "spilled": compiled.spill_stores + compiled.spill_loads,
    }
    return replace(timeline, note=NOTE), conditions


def _require_same(kernel: Kernel, inputs: Any, result: np.ndarray) -> None:
    wanted = reference(inputs).astype(result.dtype).astype(np.float64)
    if not np.array_equal(result.astype(np.float64), wanted):
        raise LabError(
            f"The stamped copy of {kernel.name} does not compute the same result as the kernel, so its "
            "timeline would not be the kernel's."
        )


def size(kernel: Kernel, sms: int) -> tuple[int, int, int]:
    """A size (m, n, k) at which each of `sms` multiprocessors computes about two tiles of D."""
    config, steps = kernel.config, kernel.spec.size_multiples(kernel.config)
    rows, columns = (max(steps[axis], config[f"BLOCK_{axis.upper()}"]) for axis in "mn")
    bands = round(TILES * sms * config["BLOCK_M"] / rows / TILES_N)
    return rows * max(1, bands), columns * TILES_N, K_TILES * config["BLOCK_K"]


def record_timelines(names: list[str], into: Path) -> int:
    """Record the timelines of the named kernels into `into`/<gpu>. Returns 1 if one could not be recorded."""
    where, failed = here(), 0
    if not where.usable:
        raise LabError(f"Nothing can be recorded here: {where.reason}")
    folder = into / (where.gpu.key if where.gpu else where.present.arch)
    for name in names:
        try:
            kernel = find(name)
            timeline, conditions = record_timeline(kernel, where, *size(kernel, where.present.sms))
            path = timeline_files.write(folder / f"{kernel.name.replace('/', '_')}.csv", timeline, conditions)
            print(f"{kernel.name}: {len(timeline.events)} events, {timeline.end:,.0f} clocks, in {path.name}")
        except LabError as error:  # the other kernels are still recorded
            failed = 1
            print(f"{name}: {error}")
    return failed
