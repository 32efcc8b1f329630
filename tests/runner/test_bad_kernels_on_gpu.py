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
from gemm_results.errors import LabError
from gpu_runner import payload
from gpu_runner.session import Session
from gpu_simulator.hardware import data_sheets as hardware

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.available(), reason=device.why_not() or "a GPU"),
    pytest.mark.timeout(600),
]

COUNT, MOST_HANGS, MOST_FAULTS, HANG_S, MEMORY = 100, 14, 34, 1.5, 50 << 20
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


def run_all(
    kernels: list[Bad], session: Session, arch: str, budget_s: float = 1e9, each=lambda outcome: None
) -> list[Outcome]:
    """Launch them one after another; after each that may have cost the worker a good kernel has to work."""
    good, begin, outcomes = payload(compiling.compile(GOOD, arch=arch, name="good")), time.monotonic(), []
    for bad in kernels:
        if time.monotonic() - begin > budget_s:
            break
        outcome = on_gpu(bad, session, arch, HANG_S)
        after = session.request(
            "launch", timeout_s=10.0, compiled=good, grid=(1, 1, 1), args=[np.zeros(64, np.float32), 5]
        )
        assert np.array_equal(after["arrays"][0], np.arange(64) + 5), bad
        outcomes.append(outcome)
        each(outcome)
    return outcomes


def test_a_hundred_in_a_row():
    session, arch = Session(), hardware.detect().arch
    try:
        before, others = session.request("hello")["free"], children()
        files = open_files()
        outcomes = run_all(chosen(), session, arch)
        after = session.request("hello")["free"]
        wrong = [(o.bad.kind, o.bad.name, o.found, o.message) for o in outcomes if o.found not in o.bad.gpu]
        assert len(outcomes) == COUNT and wrong == []
        alone = "PYTEST_XDIST_WORKER" not in os.environ
        assert open_files() <= files + 2 and (before - after <= MEMORY or not alone)
        assert "Z" not in children().values() and len(children()) <= len(others)
        assert all(o.printed < 70_000 for o in outcomes)
    finally:
        session.close()


def test_the_line_of_one_of_each_kind():
    """Faults and hangs are examined, as a notebook does: an error of the lab with a sentence."""
    arch, seen = hardware.detect().arch, set()
    for bad in bad_kernels():
        if bad.kind not in ("address outside", "misaligned", "shared outside", "hang", "trap") or bad.kind in seen:
            continue
        seen.add(bad.kind)
        made = compiling.compile(bad.source, arch=arch, name="bad")
        with pytest.raises(LabError) as caught:
            device.launch(made, grid=bad.grid, args=bad.arguments(), timeout_s=HANG_S)
        assert type(caught.value).__name__ in bad.gpu and len(str(caught.value)) > 20
