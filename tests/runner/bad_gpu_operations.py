"""The worker's own operations with a GPU simulated in Python. Each of its kernels fails in a different way."""

import ctypes
import os
import signal
import time

from fake_cupy import C_INT, POINTER, FakeGpu, view

from gpu_runner import operations
from gpu_runner.driver import Device


def double(d, n):
    view(d, n, "f32")[:] *= 2


def flood(d, n):
    libc = ctypes.CDLL(None)
    for _ in range(30_000):
        libc.printf(b"a line of a kernel that prints and prints and prints\n")
    libc.fflush(None)


def span(d, n):
    begin = time.monotonic()
    time.sleep(0.04)
    view(d, 2, "float64")[:] = begin, time.monotonic()


def fault(code):
    return lambda d, n: code


KERNELS = {
    "good": double,
    "flood": flood,
    "span": span,
    "hang": lambda d, n: time.sleep(600),
    "crash": lambda d, n: os.kill(os.getpid(), signal.SIGSEGV),
    "leave": lambda d, n: os._exit(1),
    "flood_and_fault": lambda d, n: flood(d, n) or 700,
    **{f"fault_{code}": fault(code) for code in (700, 714, 715, 716, 718, 719, 721)},
}
GPU = Device(FakeGpu({name: ((POINTER, C_INT), body) for name, body in KERNELS.items()}, free=64 << 20))
operations.device = lambda: GPU
OPERATIONS = operations.OPERATIONS
