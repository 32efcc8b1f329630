"""What the lab remembers of a learner from one session to the next: small JSON files in the state folder."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gemm_lab.config import state_dir
from gpu_simulator.errors import SimulatorError

try:
    import fcntl
except ImportError:  # Windows, where notebooks take no turns
    fcntl = None

WAIT_S, POLL_S = 5.0, 0.005  # another notebook holds the lock while it writes one small file


class Kept:
    """A dictionary in a file of the state folder, to which several notebooks may add at once.

    Nothing here raises an error: what cannot be saved is remembered until the session ends, and `problem` says why. A
    damaged file is renamed, so that nothing overwrites what is left of it, and counts as empty.
    """

    def __init__(self, name: str):
        self.name = name
        self.problem = ""
        self._unsaved: dict[str, Any] = {}  # of this session, because the file could not be written

    def load(self) -> dict[str, Any]:
        """What is in the file, with what could not be saved."""
        try:
            file = state_dir() / self.name
            with _alone(file):
                stored = self._read(file)
        except (OSError, SimulatorError):
            stored = {}
        return {**stored, **self._unsaved}

    def unwritable(self) -> str:
        """Why nothing could be saved now; "" if it could."""
        try:
            with tempfile.TemporaryDirectory(dir=state_dir()):
                return ""
        except (OSError, SimulatorError) as error:
            return str(error)

    def store(self, key: str, value: Any) -> None:
        """Save a value, and with it all that could not be saved before. What other notebooks have saved stays."""
        self._unsaved[key] = value
        try:
            file = state_dir() / self.name
            with _alone(file), tempfile.TemporaryDirectory(dir=file.parent) as folder:  # removed even on a full disk
                partial = Path(folder) / self.name
                partial.write_text(json.dumps({**self._read(file), **self._unsaved}), encoding="utf-8")
                partial.replace(file)
            self._unsaved.clear()
            self.problem = ""
        except (OSError, SimulatorError) as error:
            self.problem = str(error)

    def _read(self, file: Path) -> dict[str, Any]:
        """The content of the file; {} if there is none. A file with anything else is set aside, with a sentence."""
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):
            stored = None
        if isinstance(stored, dict):
            return stored
        names = (f"{self.name}.damaged{number or ''}" for number in range(1000))
        aside = next(path for path in map(file.with_name, names) if not path.exists())
        file.rename(aside)
        print(f"{file} is damaged, so what it remembered is not counted. It is kept as {aside.name}.", file=sys.stderr)
        return {}


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Context manager: no other notebook of this machine reads or writes the file.

    Where a folder takes no lock, or another process does not give it back, the notebook goes on without.
    """
    fd = -1
    try:
        with contextlib.suppress(OSError):
            fd, begun = os.open(file.with_name(f"{file.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600), time.monotonic()
            while not locked(fd) and time.monotonic() < begun + WAIT_S:
                time.sleep(POLL_S)
        yield
    finally:
        if fd >= 0:
            os.close(fd)


def locked(fd: int) -> bool:
    """Lock an open file for this process if no other has locked it; whether it is ours now."""
    if fcntl is not None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
