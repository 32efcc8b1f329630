"""The worker's life: hangs, crashes, floods of output, interrupts, and a notebook that goes away."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from gpu_runner.faults import DeviceOutOfMemory, KernelFault, WorkerLost
from gpu_runner.session import OUTPUT_LIMIT, Session, Silence

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def shared():
    session = make_session()
    yield session
    session.close()


@pytest.fixture
def session(shared):
    """One worker for the whole module; a test that ends it leaves the next one to start another."""
    shared._patience_s = 60.0
    return shared


def make_session(**options) -> Session:
    os.environ["PYTHONPATH"] = os.pathsep.join(
        dict.fromkeys([str(HERE), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
    )
    return Session("fake_operations", patience_s=60.0, **options)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.float32, np.int64])
def test_arrays_come_back_bit_for_bit(session, dtype):
    array = np.arange(-6, 6).reshape(3, 4).astype(dtype)
    back = session.request("echo", array=array, nested=[{"x": (array[:0], 1.5)}])
    assert back["array"].dtype == array.dtype and back["array"].tobytes() == array.tobytes()
    assert back["nested"][0]["x"][0].shape == (0, 4) and back["nested"][0]["x"][1] == 1.5


def test_a_transposed_view_arrives_as_it_looks(session):
    array = np.arange(12, dtype=np.float32).reshape(3, 4).T
    assert np.array_equal(session.request("echo", array=array)["array"], array)


def test_one_worker_answers_all_requests(session):
    assert session.request("pid") == session.request("pid")


def test_a_hang_is_killed_and_the_next_request_works(session):
    first = session.request("pid")
    with pytest.raises(Silence) as error:
        session.request("hang", timeout_s=0.4)
    assert error.value.running and not running(first)
    assert session.request("pid") != first


def test_silence_before_a_kernel_runs_is_not_a_hang(session):
    with pytest.raises(Silence) as error:
        session.request("doze", timeout_s=30, patience_s=0.3)
    assert not error.value.running


def test_reports_renew_the_patience(session):
    """Its five steps together take longer than the limit, which each report begins anew."""
    steps = []
    assert (
        session.request(
            "count", steps=5, seconds=0.7, timeout_s=3.0, progress=lambda facts: steps.append(facts["step"])
        )
        == 5
    )
    assert steps == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("op, words", [("crash", "SIGSEGV"), ("leave", "exit status 3")])
def test_a_crash_is_reported_and_survived(session, op, words):
    with pytest.raises(WorkerLost, match=words):
        session.request(op)
    assert session.request("pid") > 0


def test_printf_is_returned_with_the_answer_and_only_once(session):
    session.request("say", text="from the kernel\n")
    assert session.output == "from the kernel\n"
    session.request("pid")
    assert session.output == ""


def test_a_flood_of_output_is_cut_and_kills_nothing(session):
    assert session.request("flood", megabytes=20) == "done"
    assert len(session.output) < OUTPUT_LIMIT + 200 and "more bytes" in session.output


def test_errors_of_the_lab_keep_their_fields(session):
    with pytest.raises(DeviceOutOfMemory, match="16,384 MB") as error:
        session.request("starve")
    assert error.value.free == 2**30


def test_a_fault_ends_the_worker_because_its_context_is_lost(session):
    first = session.request("pid")
    with pytest.raises(KernelFault) as error:
        session.request("fault")
    assert error.value.kind == "CUDA_ERROR_ILLEGAL_ADDRESS" and error.value.line is None
    assert session.request("pid") != first


def test_a_bug_of_the_worker_is_named(session):
    with pytest.raises(WorkerLost, match="ZeroDivisionError") as error:
        session.request("bug")
    assert "a mistake" in error.value.output


def test_an_interrupt_kills_the_worker_and_the_next_request_works(session):
    first = session.request("pid")
    threading.Timer(0.4, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        session.request("hang", timeout_s=300)
    assert not running(first)
    assert session.request("pid") != first


def test_threads_wait_for_one_another(session):
    answers = []
    threads = [threading.Thread(target=lambda i=i: answers.append(session.request("echo", i=i)["i"])) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(8))


def test_a_dead_worker_is_replaced_without_an_error(session):
    os.kill(session.request("pid"), signal.SIGKILL)
    time.sleep(0.1)
    assert session.request("pid") > 0


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_worker_leaves_when_its_parent_dies(tmp_path, how):
    note, script = tmp_path / "pid", tmp_path / "learner.py"  # a script without a main guard
    script.write_text(
        "from gpu_runner.session import Session\n"
        f"Session('fake_operations').request('answer_slowly', path={str(note)!r})\n"
    )
    root = str(HERE.parents[1])
    parent = subprocess.Popen(
        [sys.executable, str(script)], env={**os.environ, "PYTHONPATH": os.pathsep.join([root, str(HERE)])}
    )
    wait_for(lambda: note.exists() and note.read_text())
    worker = int(note.read_text())
    parent.send_signal(how)
    parent.wait(60)
    wait_for(lambda: not running(worker))


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition, seconds=100.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
