"""The process that owns the GPU: it reads requests from a pipe and answers them, one at a time.

It is started as `python -m gpu_runner.worker READ_FD WRITE_FD [OPS_MODULE [PARENT_PID]]`. A kernel that faults makes
its CUDA context unusable, and a kernel that hangs can only be stopped by ending its process; so the notebook's process
never has a context. After `settings.idle_s()` seconds without a request the worker ends, which frees its GPU memory;
the next request starts another. Messages to the notebook: ("progress", dict), ("ok", result), ("error", dict).
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection
from typing import Any

from gpu_runner import settings
from gpu_runner.transport import told_errors, wire


class Context:
    """Reports an operation's progress to the notebook."""

    def __init__(self, answers: Connection):
        self._answers = answers

    def progress(self, **facts: Any) -> None:
        """Report `facts`. Each report restarts the time for which the worker may be silent."""
        wire.send(self._answers, ("progress", facts))

    def running(self, **facts: Any) -> None:
        """Report that a kernel is about to run: from now until the next report, silence counts as a hang."""
        self.progress(stage="running", **facts)


def _leave_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)


def serve(requests: Connection, answers: Connection, operations: dict[str, Any]) -> None:
    """Answer requests until the notebook closes the pipe, or sends nothing for `settings.idle_s()` seconds."""
    context = Context(answers)
    while True:
        try:
            if not requests.poll(settings.idle_s()):
                os._exit(wire.IDLE_STATUS)
            name, payload = wire.receive(requests)
        except (EOFError, OSError):
            return
        try:
            reply = ("ok", operations[name](context, **payload))
        except Exception as error:
            reply = ("error", {"error": told_errors.told(error), "traceback": traceback.format_exc()})
        _flush()
        wire.send(answers, reply)


def main() -> None:
    """Serve requests from the pipes whose descriptors are argv[1:3] until the parent process ends."""
    parent = int(sys.argv[4]) if len(sys.argv) > 4 else os.getppid()
    threading.Thread(target=_leave_with_parent, args=(parent,), daemon=True).start()
    requests, answers = (
        Connection(int(sys.argv[1]), writable=False),
        Connection(int(sys.argv[2]), readable=False),
    )
    operations = importlib.import_module(sys.argv[3] if len(sys.argv) > 3 else "gpu_runner.operations")
    with contextlib.suppress(OSError):  # the notebook's process has ended
        serve(requests, answers, operations.OPERATIONS)
    os._exit(0)


if __name__ == "__main__":
    main()
