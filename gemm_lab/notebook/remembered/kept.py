"""What the lab remembers of a learner from one session to the next: small JSON files in the state folder."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from gemm_lab.config import state_dir
from gpu_simulator.errors import LabError


class Kept:
    """A dictionary in a file of the state folder.

    Nothing here raises an error: what cannot be saved is remembered until the session ends, and `problem` says why. A
    damaged file counts as empty.
    """

    def __init__(self, name: str):
        self.name = name
        self.problem = ""
        self._unsaved: dict[str, Any] = {}  # of this session, because the file could not be written

    def load(self) -> dict[str, Any]:
        """What is in the file, with what could not be saved."""
        try:
            stored = json.loads((state_dir() / self.name).read_text(encoding="utf-8"))
        except (OSError, ValueError, LabError):
            stored = {}
        return {**(stored if isinstance(stored, dict) else {}), **self._unsaved}

    def unwritable(self) -> str:
        """Why nothing could be saved now; "" if it could."""
        try:
            with tempfile.TemporaryDirectory(dir=state_dir()):
                return ""
        except (OSError, LabError) as error:
            return str(error)

    def store(self, key: str, value: Any) -> None:
        """Save a value, and with it all that could not be saved before."""
        stored = {**self.load(), key: value}
        try:
            file = state_dir() / self.name
            with tempfile.TemporaryDirectory(dir=file.parent) as folder:  # is removed even if the disk is full
                partial = Path(folder) / self.name
                partial.write_text(json.dumps(stored), encoding="utf-8")
                partial.replace(file)
            self._unsaved.clear()
            self.problem = ""
        except (OSError, LabError) as error:
            self._unsaved[key] = value
            self.problem = str(error)
