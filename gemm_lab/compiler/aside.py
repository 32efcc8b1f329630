"""The compiler in a process of its own, so that a text on which it crashes or never ends costs an error and no more.

NVRTC runs inside the process that calls it. NVRTC 13.0 takes that process with it on some wrong texts: an mbarrier that
is initialised for 0 arrivals is enough. And where there is a driver, NVRTC takes a text that it compiled before from
the driver's cache, without ptxas's report on registers, shared memory and spills; this process does not use that cache.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

LIMIT_S, WORD_S = 120.0, 15.0  # when it is stopped, and when the learner is told that it is still at work
MOST_BYTES = 6 << 30  # of its own memory: a macro that grows without end must not take that of the notebook
_HEAD, _MARK = struct.Struct("<4sQ"), b"lab:"
_COMMAND = (sys.executable, "-m", "gemm_lab.compiler.aside")


class Lost(Exception):
    """The process ended before it answered; the message says how."""


class Aside:
    """A process that is started when it is first asked, asked one thing at a time, and replaced when it was lost."""

    def __init__(self, command: Sequence[str] = _COMMAND, limit_s: float = LIMIT_S,
                 word_s: float = WORD_S):
        self.command, self.limit_s, self.word_s = list(command), limit_s, word_s
        self._process: subprocess.Popen | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def ask(self, *question: Any) -> Any:
        """The answer to one call of `answer`, or what it raised. `Lost` where the process crashed or took too long."""
        with self._lock:
            process = self._started()
            late = threading.Event()
            timer = threading.Timer(self.limit_s, lambda: (late.set(), process.kill()))
            timer.daemon = True
            timer.start()
            try:
                write(process.stdin, question)
                self._say_if_late(process.stdout)
                right, found = read(process.stdout)
            except (OSError, EOFError, pickle.UnpicklingError):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                self.end()
                if late.is_set():
                    raise Lost(f"it had not ended after {self.limit_s:.0f} seconds") from None
                raise Lost(f"it crashed ({_how(process.returncode)})") from None
            except BaseException:  # interrupted: an answer that comes late must not be taken for the next one's
                self.end()
                raise
            finally:
                timer.cancel()
        if right:
            return found
        raise found

    def end(self) -> None:
        """Stop the process; the next question starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()

    def _say_if_late(self, answers: BinaryIO) -> None:
        with contextlib.suppress(ValueError, OSError):  # a pipe that cannot be watched is only waited for
            if not select.select([answers], [], [], self.word_s)[0]:
                print(f"The compiler has been at work for {self.word_s:.0f} seconds. It is stopped after "
                      f"{self.limit_s:.0f}; the stop button stops it now.", file=sys.stderr, flush=True)

    def _started(self) -> subprocess.Popen:
        if self._owner != os.getpid():  # a copy made by fork: the pipes are the parent's
            self._process, self._owner = None, os.getpid()
        if self._process is None or self._process.poll() is not None:
            given = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
            paths = os.pathsep.join(dict.fromkeys([str(Path(__file__).resolve().parents[2]), *given]))
            environment = {**os.environ, "PYTHONPATH": paths, "CUDA_CACHE_DISABLE": "1"}
            self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.DEVNULL, env=environment)
        return self._process


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def write(pipe: BinaryIO, value: Any) -> None:
    """One value, after a mark and its length."""
    data = pickle.dumps(value)
    pipe.write(_HEAD.pack(_MARK, len(data)) + data)
    pipe.flush()


def read(pipe: BinaryIO) -> Any:
    """The next value; `EOFError` where the pipe ended, or holds anything else."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError
    mark, length = _HEAD.unpack(head)
    if mark != _MARK:
        raise EOFError
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def limit_memory(most: int = MOST_BYTES) -> None:
    """Let this process have `most` bytes of its own; where the system knows no such limit, as much as there is."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def main() -> None:
    """Answer questions until the pipe ends. What anything else prints must not come between the answers."""
    from gemm_lab.compiler.nvrtc import run_nvrtc

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted cell is the business of whoever asked
    limit_memory()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            question = read(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = True, run_nvrtc(*question)
        except Exception as error:
            answer = False, error
        write(answers, answer)


COMPILER = Aside()
atexit.register(COMPILER.end)

if __name__ == "__main__":
    main()
