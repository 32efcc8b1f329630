"""A server on loopback whose workers simulate: results, errors, limits, and commands that cannot work."""

import queue
import socket
import subprocess
import threading

import numpy as np
import pytest

pytest.importorskip("tornado", reason="the extra classroom is not installed")

from serving import SOURCE, N, Server, command, compiled, job, status, wait_for

import gpu_simulator
from gpu_runner import settings
from gpu_runner.faults import GpuBusy
from gpu_runner.remote import MOST_BYTES, RemoteSession, session_at
from gpu_runner.transport import server_link, wire
from gpu_runner.transport.server_link import ServerError
from gpu_simulator.errors import ConfigError, LaunchError, SimulatorError
from gpu_simulator.hardware import data_sheets as hardware


@pytest.fixture(scope="module")
def server():
    one = Server(people=4)
    yield one
    one.stop()


@pytest.fixture
def session(server):
    one = server.session()
    yield one
    one.close()


# ---- One client ----


@pytest.mark.long
def test_results_and_counts_are_those_of_this_machine(session):
    kernel = compiled()
    found = job(session, kernel)
    a = np.zeros((N, N), np.float32)
    here = gpu_simulator.launch(kernel["ptx"], "gemm", N, 64, [a, a, a.copy(), N])
    assert found["report"].totals == here.totals and found["report"].instructions == here.instructions
    with pytest.raises(SimulatorError, match="ran on a server"):
        found["report"].inspect(found["report"].sites[0])


@pytest.mark.long
def test_the_whole_lab_uses_the_server(server, monkeypatch):
    import gemm_lab as lab

    monkeypatch.setenv("GEMM_LAB_SERVER", server.address)
    monkeypatch.setenv("GEMM_LAB_TOKEN", server.tokens["student1"])
    run = lab.kernel("simt/01").run(64)
    assert run.passed and run.backend == "simulator" and run.sectors_per_request > 0
    assert server.address in str(lab.here()) and "no GPU" in str(lab.here())
    jobs = session_at(server.address).workers()
    assert len(jobs) == 2 and all(facts["backend"] == "simulator" for facts in jobs)
    d = lab.kernel("simt/01").gemm(np.eye(32, dtype=np.float32), np.full((32, 32), 3, np.float32))
    assert np.array_equal(d, np.full((32, 32), 3))
    assert lab.kernel("simt/01").run(32).hazards() == []
    session_at(server.address).close()


def test_an_error_is_the_kernels_own(session):
    with pytest.raises(gpu_simulator.SimulatedFault, match="out of bounds|outside|past"):
        job(session, compiled(source=SOURCE.replace("d[i * n + j]", "d[(1 << 20) + i * n + j]")))
    with pytest.raises(LaunchError, match="arguments|parameters"):
        session.request("simulate", compiled=compiled(), grid=(1, 1, 1), args=[])
    job(session, compiled())


def test_an_endless_loop_is_stopped(session):
    endless = SOURCE.replace("float sum = 0;", "float sum = 0; while (((volatile const float*)a)[0] < 100) ;")
    with pytest.raises(gpu_simulator.BudgetExceeded, match="it spins at"):
        job(session, compiled(source=endless), max_seconds=1.0)
    job(session, compiled())


def test_what_is_printed_comes_back_and_a_flood_is_cut(session):
    source = SOURCE.replace("float sum = 0;", 'float sum = 0; if (i == 0 && j < n / 32) printf("row %d\\n", j);')
    job(session, compiled(source=source))
    assert session.output == "row 0\nrow 1\n"


def test_what_a_server_without_a_gpu_cannot_do(session):
    with pytest.raises(SimulatorError, match="no GPU"):
        session.request("benchmark", entries=[], m=1, n=1, k=1)


@pytest.mark.long
def test_too_much_to_send_is_a_sentence(session, monkeypatch):
    monkeypatch.setattr("gpu_runner.remote.MOST_BYTES", 1000)
    with pytest.raises(SimulatorError, match="would send"):
        job(session, compiled())
    assert MOST_BYTES > 1000


@pytest.mark.long
def test_no_server_is_said_after_one_attempt(monkeypatch):
    asked, real = [], server_link.Link._ask
    monkeypatch.setattr(server_link.Link, "_ask", lambda self, *question: asked.append(1) or real(self, *question))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    lost = RemoteSession(address)
    for _ in range(3):
        with pytest.raises(ServerError, match="No server answers.*gemm-lab serve.*unset GEMM_LAB_SERVER"):
            lost.request("simulate")
        assert len(asked) == 1, "it is not asked again at once"
    for wrong in ("http://no-such-host.invalid:8786", "http://127.0.0.1:port", "http://[::1", "http://"):
        with pytest.raises(ServerError, match="No server answers at"):
            RemoteSession(wrong).facts()
    monkeypatch.setattr("gpu_runner.remote.ANSWER_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(ServerError, match="says nothing"):
        RemoteSession(f"http://127.0.0.1:{silent.getsockname()[1]}").facts()


@pytest.mark.parametrize("value", ["gpu-server", "tcp://gpu-server:8786", "ftp://gpu-server"])
def test_an_address_of_another_kind_is_a_sentence(monkeypatch, value):
    monkeypatch.setenv("GEMM_LAB_SERVER", value)
    with pytest.raises(ConfigError, match="http://gpu-server:8786"):
        settings.server()
    monkeypatch.setenv("GEMM_LAB_SERVER", "")
    monkeypatch.setenv("GEMM_LAB_SCHEDULER", value)
    with pytest.raises(ConfigError, match="no longer used. Set GEMM_LAB_SERVER"):
        settings.server()


def test_another_version_is_a_sentence(session, monkeypatch):
    session.facts()
    monkeypatch.setattr(wire, "PROTOCOL", 99)
    with pytest.raises(ServerError, match="uses version 4 of the protocol and your machine uses version 99"):
        job(session, compiled())
    session.close()
    with pytest.raises(ServerError, match="messages 4.*messages 99.*same version"):
        job(session, compiled())


@pytest.mark.long
def test_a_busy_server_is_waited_for_and_shown(server, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_WAIT_S", "2")
    shown = []
    slow = [server.session(number) for number in (1, 2)]
    kernel, errors = compiled(10_000), queue.Queue()

    def long_job(one):
        try:
            job(one, kernel, max_seconds=5.0)
        except gpu_simulator.BudgetExceeded as error:
            errors.put(error)

    threads = [threading.Thread(target=long_job, args=(one,)) for one in slow]
    [thread.start() for thread in threads]
    last = server.session(3, show=shown.append)
    wait_for(lambda: status(last)["jobs"].get("running") == 2)
    with pytest.raises(GpuBusy, match="in use for the .* s that this run may wait: .*student[12] is "):
        job(last, compiled())
    assert any("waiting for the GPU server: " in line and " s" in line for line in shown) and shown[-1] == ""
    [thread.join() for thread in threads]
    assert errors.qsize() == 2
    job(last, compiled())
    [one.close() for one in [*slow, last]]


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("serve", "--host", "0.0.0.0", "--backend", "simulator"), "the server needs the names of the class"),
        (("serve", "--host", "", "--backend", "simulator"), "the server needs the names of the class"),
        (("serve", "--host", "no-such-host.invalid", "--backend", "simulator"), "no address of this machine"),
        (("serve", "--backend", "simulator", "--roster", "no/such/file"), "cannot be read"),
        (("serve", "--backend", "simulator", "--key", "some.pem"), "needs two files"),
        (("serve", "--backend", "simulator", "--key", "no.pem", "--certificate", "no.pem"), "cannot be used"),
        (("serve", "--backend", "gpu"), "The GPU cannot be used"),
        (("serve", "--backend", "simulator", "--workers", "-1"), "number of workers"),
        (
            ("serve", "--host", "127.0.0.1", "--port", "taken", "--workers", "1", "--backend", "simulator"),
            "choose another",
        ),
    ],
)
def test_commands_that_cannot_work_say_why(server, words, said):
    if "gpu" in words and hardware.detect() is not None:
        pytest.skip("there is a GPU")
    words = [server.address.rsplit(":", 1)[1] if word == "taken" else word for word in words]
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
