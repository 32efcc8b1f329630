"""Protects a notebook session from its own cells: from endless output, and from ending it with exit()."""

from __future__ import annotations

import sys
import threading

from gpu_simulator.errors import LabError

LIMIT = 1_000_000  # characters that a cell may print; a browser becomes slow with more
AFTERWARDS = 20_000  # characters that are still shown after the limit


class OutputFlood(LabError):
    """A cell printed more than `LIMIT` characters."""


class StaysOpen(LabError):
    """A cell called exit() or quit()."""


class Meter:
    """Counts the characters written to a stream; `write` raises `OutputFlood` when a cell exceeds the limit."""

    def __init__(self, stream, limit: int = LIMIT):
        self.stream, self.limit, self.count = stream, limit, 0
        self._write = stream.write
        stream.write = self.write

    def write(self, text: str) -> int:
        before, self.count = self.count, self.count + len(text)
        if before > self.limit:  # after the error has been raised, only a short text such as its message is shown
            return self._write(text) if before <= self.limit + AFTERWARDS else len(text)
        if self.count > self.limit and threading.current_thread() is threading.main_thread():
            raise OutputFlood(
                f"This cell printed more than {self.limit:,} characters and was stopped. Print a summary, such as a "
                "slice or a count; in a loop, print only every thousandth time."
            )
        return self._write(text)


class Exit:
    """Replaces exit() and quit() in a notebook, and says what to do instead."""

    def __call__(self, *_) -> None:
        raise StaysOpen(str(self))

    def __repr__(self) -> str:
        return (
            "exit() would end this session and lose its variables. To stop a cell, use the stop button; to end the "
            "session, choose Kernel, Shut Down Kernel."
        )


def install(ipython) -> None:
    """Limit the output of a notebook's cells and replace exit() and quit(). In a terminal this does nothing."""
    if "ipykernel" not in sys.modules or not hasattr(ipython, "kernel"):
        return
    ipython.events.register("pre_run_cell", meter_streams)
    meter_streams()
    ipython.user_ns.update(exit=Exit(), quit=Exit())


def meter_streams(*_) -> None:
    """Count from 0 again at the beginning of a cell.

    IPython may replace the streams' `write` for each cell; then a new `Meter` is put around it.
    """
    for stream in (sys.stdout, sys.stderr):
        meter = getattr(stream.write, "__self__", None)
        if isinstance(meter, Meter):
            meter.count = 0
        else:
            Meter(stream)
