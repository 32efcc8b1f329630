"""Lets the programs of one machine that share a GPU use it in turn, first come, first served.

Each GPU has a folder, named by its UUID, in `settings.lock_dir()`. A program that wants the GPU creates a ticket there:
a file whose name is the time, and which the program keeps locked. The program with the oldest ticket takes the lock of
the file `turn`, writes into it what it is doing, and holds the lock for one request. The locks are those of flock
(Linux, flock(2)): they end with the process that holds them. So a program that was killed blocks nobody, and its ticket
is ignored and removed. A worker inherits the lock of `turn`: if a notebook is killed while its kernel runs, the GPU is
not free until this kernel has stopped.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gpu_runner import settings
from gpu_runner.faults import GpuBusy
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware import data_sheets as hardware

try:
    import fcntl
except ImportError:  # Windows, where no GPU is used
    fcntl = None

FIRST_POLL_S, LAST_POLL_S, QUIET_S = 0.002, 0.05, 1.0
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


class Turns:
    """The queue of one GPU, for one session. `show` is called with the line to display while waiting, "" at the end."""

    def __init__(self, folder: Path, show: Callable[[str], None] | None = None):
        self.folder, self._show = Path(folder), show or Waiting()
        self._fd, self._pid = -1, 0

    # ---- Taking turns ----

    @contextlib.contextmanager
    def turn(self, what: str, wait_s: float | None = None) -> Iterator[None]:
        """Context manager: wait for the GPU and hold it. `what` tells others what for, such as "measuring 4 kernels".

        Raises `GpuBusy` after `wait_s` seconds (default: GEMM_LAB_WAIT_S).
        """
        limit, fd = settings.wait_s() if wait_s is None else wait_s, self.fd
        ticket = Ticket(self.folder)
        try:
            ticket.draw()
            self._wait(ticket, limit)
            note = {"who": me(), "what": what, "since": time.time()}
            os.ftruncate(fd, 0)
            os.pwrite(fd, json.dumps(note).encode(), 0)
            ticket.remove()
            yield
        finally:
            # An interrupt can come between any two lines above, so this does not ask how far they came.
            fcntl.flock(fd, fcntl.LOCK_UN)
            ticket.close()

    def holder(self) -> str:
        """Who is using the GPU and for how long, such as "ada is measuring 4 kernels, 12 s"; "" if nobody is."""
        probe = self._open()
        try:
            fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return in_words(os.pread(probe, 4096, 0))
        finally:
            os.close(probe)
        return ""

    def _wait(self, ticket: Ticket, limit: float) -> None:
        begun, pause, shown = time.monotonic(), FIRST_POLL_S, False
        try:
            while True:
                before = self._before(ticket)
                if not before and locked(self.fd):
                    return
                waited = time.monotonic() - begun
                if waited >= limit:
                    raise GpuBusy(waited, self.holder() or "another program has it", before)
                if waited >= QUIET_S:
                    shown = True
                    others = f"; {before} before you" if before else ""
                    self._show(f"waiting for the GPU: {self.holder() or 'its turn is passing on'}{others}")
                time.sleep(min(pause, max(limit - waited, 0.0)))
                pause = min(2 * pause, LAST_POLL_S)
        finally:
            if shown:
                self._show("")

    def _before(self, mine: Ticket) -> int:
        """The number of tickets that are older than `mine` and whose owners are still running."""
        count = 0
        for name in sorted(os.listdir(self.folder)):
            if not name.startswith("t"):
                continue
            if name >= mine.path.name:
                break
            path = self.folder / name
            try:
                fd = os.open(path, os.O_RDONLY)
            except OSError:  # its owner got its turn or gave up
                continue
            try:
                if locked(fd):
                    with contextlib.suppress(OSError):
                        os.unlink(path)
                else:
                    count += 1
            finally:
                os.close(fd)
        return count

    # ---- Files ----

    @property
    def fd(self) -> int:
        """The file descriptor of `turn`, which the worker inherits.

        Each process opens its own, because a descriptor that is copied by a fork shares its lock with the parent's.
        """
        if self._pid != os.getpid():
            self._fd, self._pid = self._open(), os.getpid()
        return self._fd

    def _open(self) -> int:
        path = self.folder / "turn"
        try:
            if not path.exists():
                _shared_folder(self.folder.parent)
                _shared_folder(self.folder)
                with contextlib.suppress(FileExistsError):
                    fd = os.open(path, _NEW)
                    os.fchmod(fd, 0o666)
                    os.close(fd)
            return os.open(path, os.O_RDWR)
        except OSError as error:
            raise ConfigError(
                f"The programs on this GPU take turns by files in {self.folder}, which cannot be used "
                f"({error.strerror}); set GEMM_LAB_LOCKS to a folder that everyone here can write to."
            ) from error


class Ticket:
    """A place in the queue: a file that is already locked when it is renamed to the name that counts.

    The object is made before its file, so that whoever is interrupted while drawing it can still `close` it.
    """

    def __init__(self, folder: Path):
        self._fd = -1
        self._draft = self.path = folder / f"draft-{secrets.token_hex(4)}"

    def draw(self) -> None:
        """Take the last place in the queue."""
        self._fd = os.open(self._draft, _NEW, 0o644)
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        self.path = self._draft.with_name(f"t{time.time_ns():020d}-{self._draft.name}")
        os.rename(self._draft, self.path)

    def remove(self) -> None:
        """Remove the file, in whichever of its two forms it is there."""
        for path in (self._draft, self.path):
            with contextlib.suppress(OSError):
                os.unlink(path)

    def close(self) -> None:
        """Leave the queue."""
        self.remove()
        if self._fd >= 0:
            os.close(self._fd)


class Waiting:
    """Prints a line that replaces the one before, in a terminal or a notebook; into a log, only the first line."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, text: str) -> None:
        live = sys.stderr.isatty() or "ipykernel" in sys.modules
        if text == self._last or (not live and (self._last or not text)):
            self._last = text
            return
        width, self._last = len(self._last), text
        print(f"\r{text:<{width}}" + ("\r" if not text else ""), end="" if live else "\n", file=sys.stderr, flush=True)


def of_gpu() -> Turns | None:
    """The queue of the GPU that this process uses; None if there is no GPU."""
    present = hardware.detect()
    if present is None or fcntl is None:
        return None
    name = present.uuid or f"{present.name}-{os.environ.get('CUDA_VISIBLE_DEVICES', '0')}"
    return Turns(settings.lock_dir() / "".join(c if c.isalnum() or c == "-" else "_" for c in name))


def gpu_for(what: str) -> contextlib.AbstractContextManager[None]:
    """Context manager: hold this machine's GPU in a program without a `Session`, such as a profiler.

    `what` tells others what for. Without a GPU it does nothing.
    """
    queue = of_gpu()
    return contextlib.nullcontext() if queue is None else queue.turn(what)


def me() -> str:
    """The user's name, with the notebook's name in brackets where Jupyter gives it."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):
        user = "someone"
    notebook = Path(os.environ.get("JPY_SESSION_NAME", "")).stem
    return f"{user} ({notebook})" if notebook else user


def in_words(note: bytes) -> str:
    """The contents of `turn` as a phrase. If they cannot be read, because they are being changed, a general one."""
    try:
        facts = json.loads(note)
        return f"{facts['who']} is {facts['what']}, {max(0.0, time.time() - facts['since']):.0f} s"
    except (ValueError, KeyError, TypeError):
        return "another program has it"


def activity(op: str, payload: dict[str, Any]) -> str:
    """A phrase that says what a request does, such as "running t4/03_swizzled", for the programs that wait."""
    if op == "benchmark":
        size = "×".join(str(payload.get(axis, "?")) for axis in "mnk")
        return f"measuring {len(payload.get('entries', ()))} kernels at {size}"
    name = (payload.get("compiled") or {}).get("name", "a kernel")
    doing = {"launch": "running", "verify": "checking"}
    return f"{doing[op]} {name}" if op in doing else "looking at the GPU"


def locked(fd: int) -> bool:
    """Lock an open file for this process if no other has locked it; whether it is ours now."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _shared_folder(folder: Path) -> None:
    """Create a folder in which every user can create files and remove their own."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return
    folder.chmod(0o1777)
