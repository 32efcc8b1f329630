"""Operations of a worker without a GPU, which fail in the ways that a session has to handle."""

import ctypes
import os
import signal
import time

from gpu_runner.faults import DeviceOutOfMemory, KernelFault


def hang(context, seconds=600.0):
    context.running()
    time.sleep(seconds)


def flood(context, megabytes):
    for _ in range(megabytes):
        os.write(1, b"x" * 2**20)
    return "done"


def say(context, text):
    ctypes.CDLL(None).printf(b"%s", text.encode())  # device printf uses this C buffer, too
    return text


def count(context, steps, seconds):
    for step in range(steps):
        context.running(step=step)
        time.sleep(seconds)
    return steps


def fault(context):
    raise KernelFault("CUDA_ERROR_ILLEGAL_ADDRESS", "an address outside every array")


def starve(context):
    raise DeviceOutOfMemory(2**34, 2**30)


def bug(context):
    raise ZeroDivisionError("a mistake of the worker's own")


def answer_slowly(context, path):
    """Write this process's id to a file, then wait, so that a test can end the parent meanwhile."""
    with open(path, "w") as out:
        out.write(str(os.getpid()))
    context.running()
    time.sleep(60)


def span(context, seconds):
    begin = time.monotonic()
    time.sleep(seconds)
    return begin, time.monotonic()


OPERATIONS = {
    "span": span,
    "echo": lambda context, **payload: payload,
    "doze": lambda context: time.sleep(600),
    "pid": lambda context: os.getpid(),
    "crash": lambda context: os.kill(os.getpid(), signal.SIGSEGV),
    "leave": lambda context: os._exit(3),
    "hang": hang,
    "flood": flood,
    "say": say,
    "count": count,
    "fault": fault,
    "starve": starve,
    "bug": bug,
    "answer_slowly": answer_slowly,
}
