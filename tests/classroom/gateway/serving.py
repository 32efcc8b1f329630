"""A server on the loopback address for tests, by default with simulating workers, and a small product to request."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from gemm_lab import compiling
from gemm_lab.lab import known_types  # noqa: F401  registers the types of answers
from gpu_runner.remote import RemoteSession

ROOT = Path(__file__).resolve().parents[3]
SOURCE = """extern "C" __global__ void __launch_bounds__(64) gemm(const float* a, const float* b, float* d, int n) {
  int j = threadIdx.x, i = blockIdx.x;
  float sum = 0;
  for (int again = 0; again < REPEAT; ++again) {
    sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
  }
  d[i * n + j] = sum;
}
"""
N = 64
SERVE = """
import asyncio, sys
from pathlib import Path
from gemm_lab_classroom.gateway import engine, serve
engine.WORKER = sys.argv[2]
place = serve.Place("127.0.0.1", 0, Path(sys.argv[1]))
asyncio.run(serve.serve(place, [{"GEMM_LAB_SERVER": "", "GEMM_LAB_BACKEND": "gpu"}], lambda text: print(text, flush=True)))
"""


class Server:
    """A `gemm-lab serve` process for a class of `people` (student0, student1, …), by default with simulating workers."""

    def __init__(self, workers=2, *more, people=1, command=None, environment=None):
        self.folder = tempfile.TemporaryDirectory()
        self.roster = Path(self.folder.name) / "class.csv"
        self.roster.write_text("name\n" + "".join(f"student{number}\n" for number in range(people)))
        words = command or [
            sys.executable,
            "-m",
            "gemm_lab.cli",
            "serve",
            "--port",
            "0",
            "--backend",
            "simulator",
            "--workers",
            str(workers),
            "--roster",
            str(self.roster),
            *more,
        ]
        path = os.pathsep.join(map(str, (ROOT, ROOT / "packages", Path(__file__).parent, ROOT / "tests" / "runner")))
        self.process = subprocess.Popen(
            [word.replace("ROSTER", str(self.roster)) for word in words],
            env={**os.environ, "PYTHONPATH": path, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.tokens, self.said = {}, []
        for line in self.process.stdout:
            self.said.append(line)
            if found := re.match(r"(.+): GEMM_LAB_TOKEN=(\S+)", line):
                self.tokens[found[1]] = found[2]
            if found := re.search(r"GEMM_LAB_SERVER=(\S+)", line):
                self.address = found[1]
                break
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    @property
    def port(self):
        return int(self.address.rsplit(":", 1)[1])

    def session(self, person=0, **options):
        """A session of one student."""
        return RemoteSession(
            self.address, token=self.tokens[f"student{person}"], **{"show": lambda text: None} | options
        )

    def family(self):
        """The server's process and all its descendants."""
        mother = psutil.Process(self.process.pid)
        return [mother, *mother.children(recursive=True)]

    def stop(self):
        """Interrupt the server as Ctrl-C does, and kill the processes that do not end."""
        children = self.family()[1:] if self.process.poll() is None else []
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        finally:
            for child in [self.process, *children]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()
            self.folder.cleanup()


def compiled(repeat=1, source=SOURCE):
    made = compiling.compile(source.replace("REPEAT", str(repeat)), arch="sm_80", name="mine")
    facts = {name: getattr(made, name) for name in ("name", "ptx", "entry", "threads", "dynamic_smem")}
    return facts | {"files": dict(made.files)}


def job(session, kernel, seed=0, **options):
    """Request one product of small integers, check D, and return the whole answer."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-4, 5, (N, N)).astype(np.float32) for _ in range(2))
    d = np.full((N, N), np.nan, np.float32)
    found = session.request("simulate", compiled=kernel, grid=(N, 1, 1), args=[a, b, d, N], **options)
    assert np.array_equal(found["arrays"][2], a @ b)
    return found


def workers(session):
    return {facts["pid"] for facts in session.workers()}


def status(session):
    return session._ask("GET", "/v1/status")


def wait_for(condition, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def command(*words):
    return [sys.executable, "-m", "gemm_lab.cli", *words]
