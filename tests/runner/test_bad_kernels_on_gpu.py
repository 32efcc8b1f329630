"""A hundred bad kernels in a row on a GPU: the session stays usable, and memory and processes are as before.

The GPU's memory is compared only where no other tests use the GPU at the same time: pytest tests/runner/test_bad_kernels_on_gpu.py
"""

import os
import time

import numpy as np
import pytest
from bad_kernels import Bad, bad_kernels
from bad_runs import Outcome, children, on_gpu, open_files

import gpu_runner as device
from gemm_lab import compiling
from gpu_runner import payload
from gpu_runner.faults import RunnerError
from gpu_runner.session import Session
from gpu_simulator.hardware import data_sheets as hardware

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.available(), reason=device.why_not() or "a GPU"),
    pytest.mark.timeout(600),
]

COUNT, MOST_HANGS, MOST_FAULTS, HANG_S, BUDGET_S, MEMORY = 100, 14, 34, 1.5, 500.0, 50 << 20
GOOD = 'extern "C" __global__ void __launch_bounds__(64) gemm(float* d, int n) { d[threadIdx.x] += threadIdx.x + n; }'


def chosen(count: int = COUNT) -> list[Bad]:
    """`count` kernels, at most `MOST_HANGS` that are expected to hang and `MOST_FAULTS` that fault, in turns."""
    left = {("KernelHang",): MOST_HANGS, "KernelFault": MOST_FAULTS}
    kept = []
    for bad in bad_kernels():
        kind = next((kind for kind in (bad.gpu, bad.gpu[0]) if kind in left), None)
        if kind is None or left[kind] > 0:
            kept.append(bad)
        if kind is not None:
            left[kind] -= 1
    return kept[:count]


def run_all(kernels: list[Bad], session: Session, arch: str, budget_s: float) -> list[Outcome]:
    """Launch them one after another; after each that may have cost the worker a good kernel has to work.

    Ends early after `budget_s` seconds. Each gets a line with its seconds, in which a new worker's start counts.
    """
    good, begin, outcomes = payload(compiling.compile(GOOD, arch=arch, name="good")), time.monotonic(), []
    for number, bad in enumerate(kernels):
        if (at := time.monotonic()) > begin + budget_s:
            break
        outcomes.append(outcome := on_gpu(bad, session, arch, HANG_S))
        after = session.request(
            "launch", timeout_s=10.0, compiled=good, grid=(1, 1, 1), args=[np.zeros(64, np.float32), 5]
        )
        assert np.array_equal(after["arrays"][0], np.arange(64) + 5), bad
        print(f"{number:3} {time.monotonic() - at:5.1f} s  {bad.kind}, {bad.name}: {outcome.found}", flush=True)
    return outcomes


def test_a_hundred_in_a_row():
    session, arch = Session(patience_s=30.0), hardware.detect().arch
    compiling.compile(GOOD, arch=arch, name="good")  # the compiler's process stays, too
    try:
        before, others = session.request("hello")["free"], children()
        files = open_files()
        outcomes = run_all(chosen(), session, arch, BUDGET_S)
        after = session.request("hello")["free"]
        wrong = [(o.bad.kind, o.bad.name, o.found, o.message) for o in outcomes if o.found not in o.bad.gpu]
        assert len(outcomes) == COUNT and wrong == []
        alone = "PYTEST_XDIST_WORKER" not in os.environ
        assert open_files() <= files + 2 and (before - after <= MEMORY or not alone)
        assert "Z" not in children().values() and len(children()) <= len(others)
        assert all(o.printed < 70_000 for o in outcomes)
    finally:
        session.close()


@pytest.mark.parametrize("kind", ["address outside", "misaligned", "shared outside", "hang", "trap"])
def test_a_failure_is_explained_as_in_a_notebook(kind):
    """By an error of the runner with a sentence; for a loop the simulator takes its 20 seconds."""
    bad = next(bad for bad in bad_kernels() if bad.kind == kind)
    made = compiling.compile(bad.source, arch=hardware.detect().arch, name="bad")
    with pytest.raises(RunnerError) as caught:
        device.launch(made, grid=bad.grid, args=bad.arguments(), timeout_s=HANG_S)
    assert type(caught.value).__name__ in bad.gpu and caught.value.line in range(1, 6), str(caught.value)
