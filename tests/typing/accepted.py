"""Uses of the public interfaces with correct types. `mypy` checks this file; it is never executed."""

from pathlib import Path

import numpy as np
from typing_extensions import assert_type

import gemm_lab as lab
import gpu_simulator
from gemm_lab.cards.hot_lines import HotLines
from gpu_simulator.compiler import Compiled, compile
from gpu_simulator.observers.inspection import Snapshot, WarpAccess


def a_learners_session() -> None:
    """Code as in notebook 00."""
    kernel = lab.kernel("t4/03", BLOCK_K=64)
    assert_type(kernel, lab.Kernel)
    run = kernel(BLOCK_K=32).run(n=512)
    assert_type(run, lab.Run)
    assert_type(run.hot_lines(), HotLines)
    assert_type(lab.kernel("t4/03").run(n=512).hot_lines(), HotLines)
    assert_type(run.verdict, str)
    assert_type(run.conflict_degree, float | None)
    ladder = lab.ladder("t4")
    assert_type(ladder, lab.Ladder)
    assert_type(ladder.bench([2048, 4096]).ratio("t4/03", "cublas", 4096), float)
    assert_type(list(ladder), list[lab.Kernel])
    product: np.ndarray = kernel.gemm(np.ones((64, 64)), np.ones((64, 64)))
    print(product, lab.here(), lab.__version__)


def the_simulator_alone(source: str, folder: Path) -> None:
    """Compile, launch and inspect a kernel without the lab."""
    compiled = compile(source, arch="sm_90a", config={"BLOCK_M": 128}, include=[folder])
    assert_type(compiled, Compiled)
    report = gpu_simulator.launch(compiled, grid=(2, 2), block=128, args=(np.zeros(4), 3), observers=("hazards",))
    assert_type(report, gpu_simulator.Report)
    assert_type(report.totals.wavefronts, int)
    assert_type(report.lines("kernel.cu")[3].conflict_degree, float | None)
    assert_type(report.inspect(12, block=(0, 1), warp=3), Snapshot)
    assert_type(report.trace(("kernel.cu", 12)), list[WarpAccess])
    assert_type([hazard.message for hazard in report.hazards], list[str])
    gpu_simulator.launch(".entry f() {}", "f", max_seconds=2.5)
