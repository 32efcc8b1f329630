"""Starts the GPU worker, sends it requests, stops it when it hangs, and starts it again."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpu_runner import faults, turns
from gpu_runner.faults import Silence
from gpu_runner.transport import told_errors, wire

OPERATIONS = "gpu_runner.operations"
START_PATIENCE_S = 90.0
OUTPUT_LIMIT = 64 * 1024
Progress = Callable[[dict[str, Any]], None]


class Session:
    """A worker process, started at the first request and again after each crash.

    `patience_s` is how many seconds the worker may be silent while it starts, loads modules and copies arrays.
    `command` is put before the worker's command line. In `queue`, requests wait until other programs have finished with
    the GPU; by default it is the GPU's queue if `operations` are the standard ones, else None. Safe to use from several
    threads: they take turns.
    """

    def __init__(
        self,
        operations: str = OPERATIONS,
        patience_s: float = START_PATIENCE_S,
        command: tuple[str, ...] = (),
        queue: turns.Turns | None = None,
    ):
        self._operations, self._patience_s, self._command = operations, patience_s, command
        self.queue = turns.of_gpu() if queue is None and operations == OPERATIONS else queue
        self._lock = threading.RLock()
        self._process: subprocess.Popen | None = None
        self._pid = os.getpid()
        self._kept = b""
        self._dropped = 0
        self.output = ""
        atexit.register(self.close)

    # ---- Requests ----

    def request(
        self,
        op: str,
        *,
        timeout_s: float | None = None,
        progress: Progress | None = None,
        patience_s: float | None = None,
        **payload: Any,
    ) -> Any:
        """Run operation `op` in the worker and return its result. `self.output` is then what the worker printed.

        The request first waits for its turn on the GPU (`turns`). Once the worker has reported that a kernel is
        running, it may be silent for `timeout_s` seconds; before that for `patience_s` (default: the session's).
        `progress` is called with each report except the bare one that a kernel is running. Raises `GpuBusy`, `Silence`
        after killing a worker that was silent for too long, `WorkerLost` if the worker ended, and the errors of the
        operation itself.
        """
        with self._lock, contextlib.ExitStack() as stack:
            self._kept, self._dropped, self.output = b"", 0, ""
            if self.queue is not None:
                stack.enter_context(self.queue.turn(turns.activity(op, payload)))
            try:
                kind, body = self._ask(op, payload, timeout_s, patience_s or self._patience_s, progress)
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise self._lost(op) from None
            except BaseException:  # also KeyboardInterrupt: else the next request would receive this one's answer
                self.kill()
                raise
            self._drain()
            self.output = self._printed()
            if kind == "ok":
                return body
            raise self._error(op, body)

    def _ask(self, op: str, payload: dict[str, Any], *limits: Any) -> tuple[str, Any]:
        """Send a request and wait for its answer. If the worker had ended because it was idle, another is started."""
        if not self.alive or self._pid != os.getpid():
            self._start()
        try:
            return self._exchange(op, payload, *limits)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            if self._process.returncode != wire.IDLE_STATUS:
                raise
        self._start()
        return self._exchange(op, payload, *limits)

    def _exchange(self, op: str, payload: dict[str, Any], *limits: Any) -> tuple[str, Any]:
        self._drain()
        self._kept, self._dropped = b"", 0
        wire.send(self._requests, (op, payload))
        return self._answer(*limits)

    def _answer(self, timeout_s: float | None, patience_s: float, progress: Progress | None) -> tuple[str, Any]:
        running, heard = False, time.monotonic()
        while True:
            limit = timeout_s if running and timeout_s is not None else patience_s
            left = heard + limit - time.monotonic()
            if left <= 0:
                self._drain()
                raise Silence(limit, running, self._printed())
            ready, _, _ = select.select([self._answers, self._output_fd], [], [], min(left, 0.5))
            if self._output_fd in ready and not self._drain():
                self._process.wait(5)  # it closes when the process ends; read the answer pipe next
            if self._answers in ready:
                kind, body = wire.receive(self._answers)
                heard = time.monotonic()
                if kind != "progress":
                    return kind, body
                running = body.get("stage") == "running"
                if progress is not None and not (running and len(body) == 1):
                    progress(body)

    def _error(self, op: str, facts: dict[str, Any]) -> Exception:
        error = told_errors.retold(facts["error"])
        if error is None:
            self.kill()
            return faults.WorkerLost(
                f"The GPU worker failed at “{op}”: {facts['error']['type']}: {facts['error']['message']}. "
                "It has been restarted; its traceback is in the error's `output`.",
                facts["traceback"] + self.output,
            )
        if hasattr(error, "output"):
            error.output = self.output
        if isinstance(error, faults.KernelFault):
            self.kill()  # its CUDA context is no longer usable
        return error

    def _lost(self, op: str) -> faults.WorkerLost:
        if self._process is not None:
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
        code = self._process.returncode if self._process is not None else None
        self._drain()
        self.output = self._printed()
        self.kill()
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
            why = f"was ended by {name}"
        else:
            why = f"ended with exit status {code}"
        last = self.output.strip().splitlines()[-1:] or ["it printed nothing"]
        return faults.WorkerLost(
            f"The GPU worker {why} during “{op}” ({last[0]}); the next request starts a new one.", self.output
        )

    # ---- The process ----

    def _start(self) -> None:
        self.kill()
        self._pid = os.getpid()
        child_in, parent_out = os.pipe()
        parent_in, child_out = os.pipe()
        root = str(Path(__file__).resolve().parents[1])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        command = [
            *self._command,
            sys.executable,
            "-m",
            "gpu_runner.worker",
            str(child_in),
            str(child_out),
            self._operations,
        ]
        if not self._command:
            command.append(str(os.getpid()))
        kept = () if self.queue is None else (self.queue.fd,)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(child_in, child_out, *kept),
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
        )
        from multiprocessing.connection import Connection  # a web page has no processes, and not this module

        os.close(child_in)
        os.close(child_out)
        self._requests, self._answers = (
            Connection(parent_out, readable=False),
            Connection(parent_in, writable=False),
        )
        self._output_fd = self._process.stdout.fileno()
        os.set_blocking(self._output_fd, False)

    def kill(self) -> None:
        """End the worker at once (SIGKILL); the next request starts a new one."""
        process, self._process = self._process, None
        if process is None:
            return
        self._requests.close()
        self._answers.close()
        if self._pid == os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that it started, such as a compile pool
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)  # the driver may need a moment to stop a running kernel
        process.stdout.close()

    def close(self) -> None:
        """End the worker. This is also called when the program exits."""
        if self._pid == os.getpid():
            self.kill()

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    # ---- What it prints ----

    def _drain(self) -> bool:
        """Read what the worker has printed so far; False once its output is closed."""
        if self._process is None:
            return False
        while True:
            try:
                chunk = os.read(self._output_fd, 65536)
            except BlockingIOError:
                return True
            except (OSError, ValueError):
                return False
            if not chunk:
                return False
            room = OUTPUT_LIMIT - len(self._kept)
            self._kept += chunk[:room]
            self._dropped += max(0, len(chunk) - room)

    def _printed(self) -> str:
        text = self._kept.decode("utf-8", "replace")
        return text + (f"\n… {self._dropped:,} more bytes were printed and are not shown" if self._dropped else "")
