"""A hundred bad kernels in a row on the simulator, and a row of failures of a worker: what comes next works."""

import os
import resource
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from bad_kernels import bad_kernels
from bad_runs import children, on_simulator, open_files

import gpu_simulator
from gemm_lab import compiling
from gpu_runner.faults import DeviceOutOfMemory, KernelFault, WorkerLost
from gpu_runner.session import OUTPUT_LIMIT, Session, Silence
from gpu_simulator.errors import LaunchError

HERE = Path(__file__).parent
ALL = bad_kernels()
GOOD = 'extern "C" __global__ void __launch_bounds__(64) gemm(float* d, int n) { d[threadIdx.x] = threadIdx.x + n; }'


def test_there_are_enough_of_every_kind():
    kinds = Counter(bad.kind for bad in ALL)
    assert len(ALL) >= 100 and len({(bad.kind, bad.name) for bad in ALL}) == len(ALL)
    assert {"address outside", "hang", "huge launch", "shared size", "trap", "misaligned", "stack overflow", "flood",
            "exit", "arguments", "out of memory"} <= set(kinds)  # fmt: skip
    assert all(count >= 3 for count in kinds.values())


@pytest.mark.long
def test_all_of_them_in_a_row_on_the_simulator():
    """Every one ends, in an error of the lab or by running; what is said has a sentence; the next one works."""
    good, wrong = compiling.compile(GOOD, arch="sm_90a", name="good"), []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number, bad in enumerate(ALL):
        outcome = on_simulator(bad)
        if outcome.found not in bad.simulated:
            wrong.append(outcome)
        assert outcome.found == "ran" or len(outcome.message) > 20
        if number % 10 == 9:
            d = np.zeros(64, np.float32)
            gpu_simulator.launch(good, good.entry, 1, 64, [d, 5])
            assert np.array_equal(d, np.arange(64) + 5)
    assert wrong == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000, "kilobytes"


def test_floods_are_cut():
    floods = [on_simulator(bad) for bad in ALL if bad.kind == "flood"]
    assert len(floods) >= 3 and all(outcome.printed < 2**20 + 5000 for outcome in floods)


# ---- A worker that dies in every way ----


@pytest.fixture(scope="module")
def session():
    os.environ["PYTHONPATH"] = os.pathsep.join(
        dict.fromkeys([str(HERE), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
    )
    one = Session("bad_gpu_operations", patience_s=60.0)
    yield one
    one.close()


def launch(session, entry, args=None, compiled=None, grid=(1, 1, 1)):
    facts = {"key": entry, "name": entry, "arch": "sm_90", "entry": entry, "cubin": b"\x7fELF", "threads": 64,
             "dynamic_smem": 0, "parameters": (8, 4), **(compiled or {})}  # fmt: skip
    args = [np.arange(8, dtype=np.float32), 8] if args is None else args
    return session.request("launch", timeout_s=0.3 if entry == "hang" else 60, compiled=facts, args=args, grid=grid)


LARGE = [np.zeros(20 << 20, np.float32), 8]
WAYS = [
    *((KernelFault, {"entry": f"fault_{code}"}) for code in (700, 719)),
    (Silence, {"entry": "hang"}),
    (LaunchError, {"entry": "good", "grid": (1, 65536, 1)}),
    (WorkerLost, {"entry": "crash"}),
    (LaunchError, {"entry": "good", "grid": (2**40, 1, 1)}),
    (LaunchError, {"entry": "good", "compiled": {"dynamic_smem": 400_000, "key": "much"}}),
    (None, {"entry": "flood"}),
    (LaunchError, {"entry": "good", "compiled": {"dynamic_smem": -16, "key": "negative"}}),
    (DeviceOutOfMemory, {"entry": "good", "args": LARGE}),
    (WorkerLost, {"entry": "leave"}),
    (LaunchError, {"entry": "good", "args": [8]}),
    (KernelFault, {"entry": "flood_and_fault"}),
    (LaunchError, {"entry": "good", "args": [8, 8]}),
    (LaunchError, {"entry": "good", "compiled": {"threads": 2048, "key": "wide"}}),
    *((KernelFault, {"entry": f"fault_{code}"}) for code in (715, 716)),
]


@pytest.mark.long
def test_failures_in_a_row_leave_the_session_usable(session):
    session.kill()
    others = children()  # of other tests
    launch(session, "good")
    files, free = open_files(), session.request("hello")["free"]
    for error, options in WAYS * 2:
        try:
            launch(session, **options)
            assert error is None, options
        except Exception as found:
            assert type(found) is error, (options, found)
            assert len(str(found)) > 20 and "Traceback" not in str(found)
        assert len(session.output) < OUTPUT_LIMIT + 200
        after = launch(session, "good")
        assert np.array_equal(after["arrays"][0], 2 * np.arange(8))
        alive = children()
        assert "Z" not in alive.values() and len(alive) <= len(others) + 1
    assert open_files() <= files and session.request("hello")["free"] == free


def test_what_was_printed_before_a_fault_is_kept(session):
    with pytest.raises(KernelFault) as caught:
        launch(session, "flood_and_fault")
    assert caught.value.output.startswith("a line of a kernel") and "more bytes" in caught.value.output
