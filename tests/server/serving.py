"""A server on loopback whose workers emulate, and one small product to ask of it: what several tests use."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from gemm_lab import compiler

ROOT = Path(__file__).resolve().parents[2]
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


class Server:
    """A `gemm-lab serve` process with workers that emulate."""

    def __init__(self, workers=2, *more):
        command = [sys.executable, "-m", "gemm_lab.cli", "serve", "--host", "127.0.0.1", "--port", "0",
                   "--backend", "emulator", "--workers", str(workers), *more]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)]), "GEMM_LAB_SCHEDULER": "",
                       "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "100000"}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.said = self.process.stdout.readline()
        self.address = re.search(r"GEMM_LAB_SCHEDULER=(\S+)", self.said)[1]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)


def compiled(repeat=1, source=SOURCE):
    made = compiler.compile(source.replace("REPEAT", str(repeat)), arch="sm_80", name="mine")
    facts = {name: getattr(made, name) for name in ("name", "ptx", "entry", "threads", "dynamic_smem")}
    return facts | {"files": dict(made.files)}


def job(session, kernel, seed=0, **options):
    """One product of small integers; the array D of the answer."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-4, 5, (N, N)).astype(np.float32) for _ in range(2))
    d = np.full((N, N), np.nan, np.float32)
    found = session.request("emulate", compiled=kernel, grid=(N, 1, 1), args=[a, b, d, N], **options)
    assert np.array_equal(found["arrays"][2], a @ b)
    return found


def workers(session):
    return {facts["pid"] for facts in session._call("gemm_lab_workers")}


def wait_for(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def command(*words):
    return [sys.executable, "-m", "gemm_lab.cli", *words]
def jobs_that_run(dask_scheduler):
    return len(dask_scheduler.plugins["gemm_lab"].taken)


def started_jobs(dask_scheduler):
    """The job of every transition to “processing”, of this test's and the tests' before."""
    return [row[0] for row in dask_scheduler.transition_log if row[2] == "processing"]
