"""What a long launch is doing, on one line of a terminal that is written again and again."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, TextIO

from gpu_simulator.launch_progress import progress

if TYPE_CHECKING:
    from gpu_simulator.launching import Launch

FIRST_S, EVERY_S = 2.0, 0.5  # until the line is first shown, and between two times that it is written


class Progress:
    """Context manager that shows where a launch is, if it takes long and the stream is a terminal.

    The launch gets `begin` as its `on_start`. The line is wiped in the end.
    """

    def __init__(self, stream: TextIO | None = None, first_s: float = FIRST_S, every_s: float = EVERY_S):
        self.stream = sys.stderr if stream is None else stream
        self.first_s, self.every_s = first_s, every_s
        self.launch: Launch | None = None
        self.shown = 0  # characters of the line
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def begin(self, launch: Launch) -> None:
        """The launch whose state is shown from now on."""
        self.launch = launch

    def __enter__(self) -> Progress:
        if self.stream.isatty():
            self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()
            self._write("")

    def _show(self) -> None:
        wait = self.first_s
        while not self._ended.wait(wait):
            wait = self.every_s
            if self.launch is not None:
                self._write(progress(self.launch))

    def _write(self, text: str) -> None:
        self.stream.write(f"\r{text.ljust(self.shown)}" if text else f"\r{' ' * self.shown}\r" if self.shown else "")
        self.stream.flush()
        self.shown = len(text)
