"""Runs the compiler in a process of its own, so that a source on which it crashes or never ends causes only an error.

NVRTC runs inside the process that calls it, and NVRTC 13.0 crashes on some incorrect sources: an mbarrier that is
initialised for 0 arrivals is enough. Also, on a machine with a driver, NVRTC takes a source that it has compiled before
from the driver's cache, without ptxas's report on registers, shared memory and spills; this process does not use that
cache.

The process can read the headers, and other files only if they are named (`readable`), where the system can enforce this
(`sandbox`). Requests and answers are data: JSON, followed by the bytes of a CUBIN.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from gpu_simulator.compiler import sandbox
from gpu_simulator.errors import MissingDependency, SimulatorError, install_command

CPU_S = 120.0  # limit of processor time for one source
STALLED_S = 60.0  # limit of time without any processor time
WORD_S, TICK_S = 15.0, 0.5  # time until the learner is told that it is still running; time between two checks
MOST_BYTES = 6 << 30  # limit of its own memory: a macro that grows without end must not use up the notebook's
_HEAD, _MARK = struct.Struct("<4sQQ"), b"lab:"  # mark, number of bytes of JSON, number of bytes of the CUBIN
_ERRORS = {error.__name__: error for error in (SimulatorError, MissingDependency)}
_COMMAND = (sys.executable, "-m", "gpu_simulator.compiler.compiler_process")
_PROBE = '#include <cuda_fp16.h>\nextern "C" __global__ void probe(half* d) { d[0] = __float2half(1.0f); }'

Answer = tuple[str, str | None, bytes | None]  # log, PTX, CUBIN


class Lost(Exception):
    """The process ended before it answered, or was stopped; the message says how."""


class CompilerStalled(SimulatorError):
    """The process got no processor time. The reason is the machine, not the source."""


class CompilerProcess:
    """A process that is started at the first request, answers one request at a time, and is replaced when it is lost.

    command: its command line.   cpu_s: limit of processor time for one source.
    word_s: time until the learner is told that it is still running.   stalled_s: limit of time without processor time.
    readable: files and folders that the process may read in addition to the headers; None: the working folder of this
    process, so that a source may include files from there.
    """

    def __init__(
        self,
        command: Sequence[str] = _COMMAND,
        cpu_s: float = CPU_S,
        word_s: float = WORD_S,
        stalled_s: float = STALLED_S,
        readable: Iterable[Path] | None = None,
    ):
        self.command, self.cpu_s, self.word_s, self.stalled_s = list(command), cpu_s, word_s, stalled_s
        self.readable = readable
        self._include: set[str] = set()  # folders with headers that the process may read
        self._process: subprocess.Popen | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def ask(
        self,
        text: str,
        config: dict[str, int],
        arch: str,
        name: str,
        include: Sequence[str],
        extra: Sequence[str],
        instances: Sequence[str] = (),
    ) -> Answer:
        """The result of `run_nvrtc` for these arguments; an error that it raised is raised here.

        Raises `Lost` if the process crashed or used more than `cpu_s`, `CompilerStalled` if it got no processor time,
        `MissingDependency` if psutil is not installed.
        """
        _psutil()
        with self._lock:
            if not self._include.issuperset(include):  # a process cannot regain access that it gave up
                self.end()
                self._include.update(include)
            process = self._started()
            question = [text, config, arch, name, list(include), list(extra), list(instances)]
            try:
                return _checked(self._exchange(process, packed(question)))
            except EOFError:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                self.end()
                raise Lost(f"it crashed ({_how(process.returncode)})") from None
            except (CompilerStalled, Lost):
                self.end()
                raise
            except SimulatorError:
                raise
            except BaseException:  # interrupted: a late answer must not be taken for that of the next request
                self.end()
                raise

    def end(self) -> None:
        """Stop the process; the next request starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _exchange(self, process: subprocess.Popen[bytes], question: bytes) -> tuple[Any, bytes]:
        """Send a request and read the answer, while the limits are checked. Raises `EOFError` if there is no answer."""
        answers: queue.SimpleQueue = queue.SimpleQueue()
        to_compiler, from_compiler = process.stdin, process.stdout
        assert to_compiler is not None and from_compiler is not None, "both are pipes"

        def converse() -> None:  # in a thread, because a pipe to a process that does not run blocks
            try:
                to_compiler.write(question)
                to_compiler.flush()
                answers.put(read_message(from_compiler))
            except (OSError, ValueError, EOFError):
                answers.put(None)

        threading.Thread(target=converse, daemon=True).start()
        watch = _Watch(self, process)
        while True:
            try:
                found = answers.get(timeout=watch.step)
            except queue.Empty:
                watch.tick()
                continue
            if found is None:
                raise EOFError
            return found

    def _started(self) -> subprocess.Popen:
        if self._owner != os.getpid():  # a copy made by fork: the pipes are the parent's
            self._process, self._owner = None, os.getpid()
        if self._process is None or self._process.poll() is not None:
            given = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
            paths = os.pathsep.join(dict.fromkeys([str(Path(__file__).resolve().parents[2]), *given]))
            environment = {**os.environ, "PYTHONPATH": paths, "CUDA_CACHE_DISABLE": "1"}
            readable = [str(path) for path in ([Path.cwd()] if self.readable is None else self.readable)]
            readable += sorted(self._include)
            self._process = subprocess.Popen(
                [*self.command, *readable],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                bufsize=0,
            )
        return self._process


class _Watch:
    """Limits on a running process. Time is counted in ticks, so it does not advance while this process is suspended."""

    def __init__(self, owner: CompilerProcess, process: subprocess.Popen):
        self.owner, self.process, self.step = owner, process, min(TICK_S, owner.word_s)
        self.begun = self.last = cpu_seconds(process.pid)
        self.ticks = self.idle = 0

    def tick(self) -> None:
        """Another `step` seconds have passed. Raises `Lost` or `CompilerStalled` if a limit is exceeded."""
        owner, used = self.owner, cpu_seconds(self.process.pid)
        self.ticks += 1
        self.idle = 0 if used > self.last else self.idle + 1
        self.last = used
        if self.ticks == round(owner.word_s / self.step):
            print(
                f"The compiler has been at work for {owner.word_s:.0f} seconds. It is stopped after "
                f"{owner.cpu_s:.0f} seconds of processor time; the stop button stops it now.",
                file=sys.stderr,
                flush=True,
            )
        if used - self.begun > owner.cpu_s:
            raise Lost(f"it had not ended after {owner.cpu_s:g} seconds of processor time")
        if self.idle * self.step > owner.stalled_s:
            raise CompilerStalled(
                f"The compiler's process got no processor time for {owner.stalled_s:g} seconds and "
                "was stopped. The machine is the reason, or a file that it waits for; try again."
            )


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used; 0.0 once it has ended."""
    psutil = _psutil()
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system


def _psutil() -> ModuleType:
    """The package psutil, which only a compilation needs."""
    try:
        import psutil
    except ImportError:
        raise MissingDependency(
            "Compiling needs the package psutil, which is not installed. Install it with: "
            + install_command("compiler", "psutil")
        ) from None
    return psutil


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


# ---- Messages ----


def packed(value: Any, data: bytes = b"") -> bytes:
    """A value that JSON can represent, and bytes, after a mark and their lengths."""
    text = json.dumps(value).encode()
    return _HEAD.pack(_MARK, len(text), len(data)) + text + data


def read_message(pipe: IO[bytes]) -> tuple[Any, bytes]:
    """The value and the bytes of the next message. Raises `EOFError` if the pipe ended or contains anything else."""

    def take(count: int) -> bytes:
        parts = []
        while count:
            part = pipe.read(count)
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    mark, length, more = _HEAD.unpack(take(_HEAD.size))
    if mark != _MARK:
        raise EOFError
    text, data = take(length), take(more)
    try:
        return json.loads(text), data
    except ValueError:
        raise EOFError from None


def _checked(message: tuple[Any, bytes]) -> Answer:
    """The answer in a message. An error that it reports is raised; anything else raises `EOFError`."""
    match message:
        case {"log": str(log), "ptx": str(ptx)}, bytes(cubin):
            return log, ptx, cubin
        case {"log": str(log), "ptx": None}, b"":
            return log, None, None
        case {"error": str(kind), "says": str(says)}, b"":
            raise _ERRORS.get(kind, SimulatorError)(says)
    raise EOFError


# ---- In the process ----


def limit_memory(most: int = MOST_BYTES) -> None:
    """Limit this process to `most` bytes of its own memory. Does nothing on systems without such a limit."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def confine(readable: Iterable[str]) -> None:
    """Give up access to all files but the headers and `readable`, where the system can enforce this.

    NVRTC loads its libraries at its first compilation, so a small kernel is compiled before.
    """
    from gpu_simulator.compiler import nvrtc_library

    with contextlib.suppress(SimulatorError):
        nvrtc_library.run_nvrtc(_PROBE, {}, "sm_75", "probe", [], [])
        headers = list(map(Path, nvrtc_library.toolkit_includes()))
        # Some installers link every file of a package to a folder of their own.
        real = [header.resolve().parent for folder in headers for header in folder.glob("cuda_fp16.h")]
        sandbox.confine([*headers, *real, *map(Path, readable)])


def main() -> None:
    """Answer requests until the pipe ends.

    Standard output is redirected, so that nothing else is printed between the answers.
    """
    from gpu_simulator.compiler.nvrtc_library import run_nvrtc

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is handled by the process that asked
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limit_memory()
    confine(sys.argv[1:])  # last, because from here on no module can be imported
    while True:
        try:
            question, _ = read_message(sys.stdin.buffer)
        except EOFError:
            return
        try:
            log, ptx, cubin = run_nvrtc(*question)
            answer = packed({"log": log, "ptx": ptx}, cubin or b"")
        except Exception as error:
            kind = type(error).__name__
            says = str(error) if kind in _ERRORS else f"The compiler's process failed: {kind}: {error}"
            answer = packed({"error": kind, "says": says})
        answers.write(answer)
        answers.flush()


COMPILER = CompilerProcess()
atexit.register(COMPILER.end)

if __name__ == "__main__":
    main()
