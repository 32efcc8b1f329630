"""The lab with a GPU on another machine: a server whose worker has a GPU made of Python, on loopback."""

import signal
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("tornado", reason="the extra classroom is not installed")

from serving import SERVE, Server, status, wait_for

import gemm_lab as lab
import gpu_runner as device
from gpu_runner.faults import DeviceOutOfMemory, KernelFault, KernelHang, WorkerLost
from gpu_runner.remote import session_at
from gpu_runner.transport.server_link import ServerError
from gpu_simulator.errors import LaunchError, SimulatorError


@pytest.fixture(scope="module")
def server():
    one = Server(people=6, command=[sys.executable, "-c", SERVE, "ROSTER", "fake_gpu_worker"])
    yield one
    one.stop()


@pytest.fixture
def remote(server, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_SERVER", server.address)
    monkeypatch.setenv("GEMM_LAB_TOKEN", server.tokens["student0"])
    yield session_at(server.address)
    session_at(server.address).close()


def kernel(entry, **changes):
    facts = {"key": entry, "name": f"mine/{entry}", "arch": "sm_90a", "entry": entry, "cubin": b"\x7fELF", "threads": 64,
             "static_smem": 0, "dynamic_smem": 0, "source": "", "files": {},
             "ptx": f".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry {entry}(\n.param .u64 d, .param .u32 n) {{ ret; }}\n"}  # fmt: skip
    return SimpleNamespace(**(facts | changes))


def launch(entry, args=None, grid=(1, 1, 1), **changes):
    args = [np.arange(8, dtype=np.float32), 8] if args is None else args
    return device.launch(kernel(entry, **changes), grid=grid, args=args, timeout_s=0.5 if entry == "hang" else 60.0)


@pytest.mark.long
def test_the_gpu_of_the_server_is_the_labs(remote):
    here = lab.here()
    assert here.usable and here.arch == "sm_90a" and here.gpu is lab.gpu("h200")
    assert "NVIDIA H200" in str(here) and f"timed there, on the server at {remote.address}" in str(here)
    from gemm_lab.lab.doctor import examine

    (found,) = (finding for finding in examine() if finding.what == "GPU server")
    assert found.ok and "NVIDIA H200, sm_90a" in found.detail
    assert lab.kernel("t4/03").compile().arch == "sm_90a"
    assert np.array_equal(launch("good")[0], 2 * np.arange(8))


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(
    ("entry", "error", "words", "options"),
    [
        ("fault_700", KernelFault, "outside every array", {}),
        ("fault_716", KernelFault, "misaligned", {}),
        ("hang", KernelHang, "did not finish within 0.5 s", {}),
        ("crash", WorkerLost, "SIGSEGV", {}),
        ("good", LaunchError, "65,535", {"grid": (1, 65536, 1)}),
        ("good", LaunchError, "2 parameters and is launched with 1", {"args": [8]}),
        ("good", LaunchError, "shared memory", {"dynamic_smem": 400_000, "key": "much"}),
        ("good", DeviceOutOfMemory, "MB free", {"args": [np.zeros(20 << 20, np.float32), 8]}),
    ],
)
def test_what_goes_wrong_there_is_said_here_and_the_next_works(remote, entry, error, words, options):
    with pytest.raises(error, match=words):
        launch(entry, **options)
    assert np.array_equal(launch("good")[0], 2 * np.arange(8))


def test_what_a_kernel_prints_comes_back_cut(remote):
    launch("flood")
    assert remote.output.startswith("a line of a kernel") and remote.output.endswith(
        "more bytes were printed and are not shown"
    )
    launch("good")
    assert remote.output == ""


def test_launches_of_many_clients_never_overlap(server):
    sessions, spans = [server.session(number) for number in range(6)], []

    def client(one):
        for _ in range(5):
            answer = one.request(
                "launch",
                timeout_s=60.0,
                compiled=device.payload(kernel("span")),
                grid=(1, 1, 1),
                args=[np.zeros(8, np.float64), 8],
            )
            spans.append(tuple(answer["arrays"][0][:2]))

    threads = [threading.Thread(target=client, args=(one,)) for one in sessions]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    spans.sort()
    assert len(spans) == 30 and all(a[1] <= b[0] for a, b in zip(spans, spans[1:], strict=False))
    [one.close() for one in sessions]


def test_the_settings_of_a_busy_gpu(monkeypatch, capsys):
    from gemm_lab.lab.here import Here, resolve_backend

    monkeypatch.setattr(sys.modules["gemm_lab.lab.here"], "here", lambda: Here(None, True, ""))
    monkeypatch.setattr(device, "holder", lambda: "ada is measuring 5 kernels, 12 s")
    assert resolve_backend(None) == "gpu"
    monkeypatch.setenv("GEMM_LAB_BUSY", "simulator")
    assert resolve_backend(None) == "simulator" and "ada is measuring" in capsys.readouterr().err
    assert resolve_backend(None, timing=True) == resolve_backend("gpu") == "gpu"
    monkeypatch.setattr(device, "holder", lambda: "")
    assert resolve_backend(None) == "gpu"
    monkeypatch.setenv("GEMM_LAB_BUSY", "leave")
    with pytest.raises(SimulatorError, match="wait or simulator"):
        resolve_backend(None)


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_goes_away_or_freezes_is_said(how, monkeypatch):
    monkeypatch.setattr("gpu_runner.remote.ANSWER_S", 3.0)
    frozen = Server(command=[sys.executable, "-c", SERVE, "ROSTER", "fake_gpu_worker"])
    one, other = frozen.session(), frozen.session()
    errors = []

    def ask():
        try:
            one.request(
                "launch",
                timeout_s=8.0,
                compiled=device.payload(kernel("hang")),
                grid=(1, 1, 1),
                args=[np.zeros(8, np.float32), 8],
            )
        except SimulatorError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    wait_for(lambda: status(other)["jobs"].get("running"))
    frozen.process.send_signal(how)
    thread.join(60)
    frozen.process.kill()
    frozen.stop()
    assert len(errors) == 1 and isinstance(errors[0], ServerError) and "gemm-lab serve" in str(errors[0])
    one.close(), other.close()
