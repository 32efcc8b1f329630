"""What stops, dies or freezes under a student's job: one sentence in bounded time, and the others go on."""

import contextlib
import os
import shutil
import signal
import ssl
import subprocess
import threading
import time

import numpy as np
import psutil
import pytest

pytest.importorskip("tornado", reason="the extra classroom is not installed")

from serving import Server, compiled, job, status, wait_for, workers

from gpu_runner.faults import WorkerLost
from gpu_runner.remote import RemoteSession
from gpu_runner.transport.server_link import ServerError

ENDLESS = 'extern "C" __global__ void __launch_bounds__(64) gemm(float* a, float* b, float* d, int n) {' \
          " while (((volatile float*)a)[0] < 100) ; d[0] = 1; }"  # fmt: skip
BOUND_S = 120.0  # generous: 10 s of silence and what a busy machine takes


@pytest.fixture(scope="module")
def server():
    one = Server(workers=2, people=4)
    yield one
    one.stop()


class Asking(threading.Thread):
    """A launch in a thread: what came of it, and after how many seconds."""

    def __init__(self, session, kernel, **options):
        super().__init__(daemon=True)
        self.session, self.kernel, self.options, self.found = session, kernel, options, None
        self.start()

    def run(self):
        begun = time.monotonic()
        try:
            arrays = [np.zeros((64, 64), np.float32) for _ in range(3)]
            self.session.request("simulate", compiled=self.kernel, grid=(1, 1, 1), args=[*arrays, 64], **self.options)
            self.found = "result"
        except Exception as error:
            self.found = error
        self.seconds = time.monotonic() - begun


def busy_worker(server, session):
    """The process that runs the only job: the one that takes processor time."""
    wait_for(lambda: status(session)["jobs"].get("running") == 1)
    known = {pid: psutil.Process(pid) for pid in workers(session)}
    used = {pid: sum(one.cpu_times()[:2]) for pid, one in known.items()}
    time.sleep(1.0)
    return max(known, key=lambda pid: sum(known[pid].cpu_times()[:2]) - used[pid])


@pytest.mark.long
@pytest.mark.parametrize(("how", "words"), [
    (signal.SIGSTOP, "gave no sign of life for 10 s and was replaced during “simulate”"),
    (signal.SIGKILL, "worker ended during “simulate”"),
    (signal.SIGSEGV, "worker ended during “simulate”"),
])  # fmt: skip
def test_a_worker_that_stops_or_dies(server, how, words):
    """Its student gets one sentence, somebody else's jobs go on meanwhile, and the worker is replaced."""
    victim, other, watcher = server.session(0), server.session(1), server.session(2)
    asking = Asking(victim, compiled(source=ENDLESS), max_seconds=100.0)
    pid = busy_worker(server, watcher)
    os.kill(pid, how)
    job(other, compiled())
    asking.join(BOUND_S)
    assert isinstance(asking.found, WorkerLost) and words in str(asking.found), asking.found
    assert "\n" not in str(asking.found) and "not repeated" in str(asking.found)
    print(f"\n{how.name}: said after {asking.seconds:.1f} s")
    wait_for(lambda: len(workers(watcher)) == 2 and pid not in workers(watcher))
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    job(victim, compiled()), job(other, compiled())


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_the_engine_dies_in_mid_job(how):
    """The gateway and its queue are one process. Killed or frozen, the cell has one sentence and no traceback."""
    one = Server(workers=1)
    try:
        children = one.family()[1:]
        session, other = one.session(), one.session()
        asking = Asking(session, compiled(source=ENDLESS), max_seconds=100.0)
        wait_for(lambda: status(other)["jobs"].get("running") == 1)
        one.process.send_signal(how)
        asking.join(BOUND_S)
        assert isinstance(asking.found, ServerError), asking.found
        said = str(asking.found)
        assert "stopped answering during “simulate”" in said and "\n" not in said and len(said) < 400
        assert asking.found.__suppress_context__, "no chain of other errors is shown"
        print(f"\n{how.name}: said after {asking.seconds:.1f} s")
        if how is signal.SIGKILL:  # nothing of the server outlives it
            wait_for(
                lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)
            )
    finally:
        with contextlib.suppress(ProcessLookupError):
            one.process.kill()
        one.stop()


@pytest.mark.long
def test_a_client_that_disappears_frees_its_place(server):
    """A student's program that is killed while it waits is dropped from the queue; nobody waits for it."""
    watcher = server.session(3)
    holders = [Asking(server.session(number), compiled(source=ENDLESS), max_seconds=25.0) for number in (0, 1)]
    wait_for(lambda: status(watcher)["jobs"].get("running") == 2)
    script = (
        "from serving import *; import sys\n"
        "job(RemoteSession(sys.argv[1], token=sys.argv[2], show=lambda text: print(text, flush=True)), compiled())"
    )
    here = os.path.dirname(os.path.abspath(__import__("serving").__file__))
    root = __import__("serving").ROOT
    path = os.pathsep.join([here, str(root), str(root / "packages")])
    child = subprocess.Popen(
        [__import__("sys").executable, "-c", script, server.address, server.tokens["student2"]],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert "waiting for the GPU server" in child.stdout.readline()
    assert status(watcher)["jobs"].get("waiting") == 1
    child.kill(), child.wait(60)
    wait_for(lambda: not status(watcher)["jobs"].get("waiting"))
    [one.join(BOUND_S) for one in holders]
    assert status(watcher)["served"].get("student2", 0) == 0 or status(watcher)["jobs"].get("waiting", 0) == 0


@pytest.mark.long
def test_an_interrupted_cell_leaves_the_queue(server):
    """Its ticket is given back at once, and what runs is left to end."""
    watcher = server.session(3)
    holders = [Asking(server.session(number), compiled(source=ENDLESS), max_seconds=6.0) for number in (0, 1)]
    wait_for(lambda: status(watcher)["jobs"].get("running") == 2)

    def interrupt(text):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job(server.session(2, show=interrupt), compiled())
    assert not status(watcher)["jobs"].get("waiting")
    [one.join(BOUND_S) for one in holders]


def test_a_stopped_cell_ends_the_job_that_runs(server):
    """Its worker is replaced and gets the next job; nobody waits until the kernel's own limit."""
    watcher, session = server.session(3), server.session(2)
    before, poll = workers(watcher), session._poll

    def stopped(*wait):
        state = poll(*wait)
        if state.get("state") == "running":
            raise KeyboardInterrupt
        return state

    session._poll = stopped
    with pytest.raises(KeyboardInterrupt):
        job(session, compiled(source=ENDLESS), max_seconds=1000.0)
    wait_for(lambda: not status(watcher)["jobs"].get("running"))
    wait_for(lambda: len(workers(watcher)) == 2)
    assert len(set(workers(watcher)) & set(before)) == 1
    job(server.session(2), compiled())


@pytest.mark.long
def test_with_a_certificate_nothing_is_readable_on_the_way(tmp_path, monkeypatch):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True)  # fmt: skip
    one = Server(1, "--certificate", str(certificate), "--key", str(key))
    try:
        assert one.address.startswith("https://")
        with pytest.raises(ServerError, match="CERTIFICATE_VERIFY_FAILED|certificate"):
            one.session().facts()
        monkeypatch.setenv("GEMM_LAB_CERTIFICATE", str(certificate))
        job(one.session(), compiled())
        with pytest.raises(ServerError):
            RemoteSession(one.address.replace("https", "http"), token=one.tokens["student0"]).facts()
        assert "BEGIN CERTIFICATE" in ssl.get_server_certificate(("127.0.0.1", one.port))
    finally:
        one.stop()
