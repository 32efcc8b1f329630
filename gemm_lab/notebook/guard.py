"""What a Python cell must not do to its session: flood the page, or end the session with exit()."""

from __future__ import annotations

import sys
import threading

from gpu_simulator.errors import LabError

LIMIT = 1_000_000  # characters that a cell may print; a browser shows them all and grows slow
AFTERWARDS = 20_000  # that are still shown after the limit


class OutputFlood(LabError):
    """A cell printed more than `LIMIT` characters."""


class StaysOpen(LabError):
    """A cell called exit() or quit()."""


class Meter:
    """Counts what a stream is given; `write` raises `OutputFlood` in the cell that passes the limit."""

    def __init__(self, stream, limit: int = LIMIT):
        self.stream, self.limit, self.count = stream, limit, 0
        self._write = stream.write
        stream.write = self.write

    def write(self, text: str) -> int:
        before, self.count = self.count, self.count + len(text)
        if before > self.limit:  # the cell goes on all the same: what tells of the error is shown, no more
            return self._write(text) if before <= self.limit + AFTERWARDS else len(text)
        if self.count > self.limit and threading.current_thread() is threading.main_thread():
            raise OutputFlood(
                f"This cell printed more than {self.limit:,} characters and was stopped. Print a summary, such as a "
                "slice or a count; what a loop prints, print every thousandth time."
            )
        return self._write(text)


class Exit:
    """Stands for exit and quit in a notebook: says what to do in their place."""

    def __call__(self, *_) -> None:
        raise StaysOpen(str(self))

    def __repr__(self) -> str:
        return (
            "exit() would end this session and lose its variables. To stop a cell, use the stop button; to end the "
            "session, choose Kernel, Shut Down Kernel."
        )


def install(ipython) -> None:
    """Meter the output of a notebook's cells and keep exit() from ending it; in a terminal nothing changes."""
    if "ipykernel" not in sys.modules or not hasattr(ipython, "kernel"):
        return
    ipython.events.register("pre_run_cell", meter_streams)
    meter_streams()
    ipython.user_ns.update(exit=Exit(), quit=Exit())


def meter_streams(*_) -> None:
    """A cell begins: count from 0. IPython replaces the streams' `write` for each cell, so ours is put on top of it."""
    for stream in (sys.stdout, sys.stderr):
        meter = getattr(stream.write, "__self__", None)
        if isinstance(meter, Meter):
            meter.count = 0
        else:
            Meter(stream)
