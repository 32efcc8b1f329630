"""A block of threads as Python functions that can pause: `yield` is the barrier at which all of them meet.

    def thread(row, col, A, B, D, a, b): …    what one thread does; a and b are shared by all threads of the block
    run_block(thread, 4, 4, A, B, D, a, b)

A thread runs to its next `yield`, then the next thread does, in an order that is drawn anew each time. When all have
paused, all go on. Two accesses to one place of a `SharedTile`, one of them a store, by different threads and with no
barrier between them, are a race, whatever the order: on a GPU nobody knows which comes first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gemm_lab_lessons.ch02.counted_matrix import TileError
from gpu_simulator.argument_checks import as_whole, shown


class Race(TileError):
    """Two threads use one place, one of them stores there, and no barrier lies between them."""


class SharedTile:
    """A tile in shared memory that all threads of a block read and write, element by element."""

    def __init__(self, name: str, rows: int, cols: int):
        self.name, self.rows, self.cols = name, rows, cols
        self.thread, self.phase = (0, 0), 0  # who runs, and how many barriers have passed
        self.reads = 0
        self._values: dict[tuple[int, int], Any] = {}
        self._stored: dict[tuple[int, int], tuple[int, tuple[int, int]]] = {}  # place: last phase and thread
        self._read: dict[tuple[int, int], tuple[int, set[tuple[int, int]]]] = {}  # place: last phase and its threads

    def __getitem__(self, index: Any) -> Any:
        place = self._place(index)
        phase, writer = self._stored.get(place, (-1, self.thread))
        if phase == self.phase and writer != self.thread:
            raise Race(self._between("read", place, "stored there", writer))
        before, readers = self._read.get(place, (-1, set()))
        self._read[place] = self.phase, (readers if before == self.phase else set()) | {self.thread}
        self.reads += 1
        return self._values.get(place, 0)

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._place(index)
        phase, writer = self._stored.get(place, (-1, self.thread))
        if phase == self.phase and writer != self.thread:
            raise Race(self._between("stored to", place, "stored there too", writer))
        phase, readers = self._read.get(place, (-1, set()))
        others = sorted(readers - {self.thread})
        if phase == self.phase and others:
            raise Race(self._between("stored to", place, "read it", others[0]))
        self._values[place], self._stored[place] = value, (self.phase, self.thread)

    def _between(self, did: str, place: tuple[int, int], other: str, thread: tuple[int, int]) -> str:
        return (
            f"Thread {self.thread} {did} {self.name}[{place[0]}, {place[1]}], and thread {thread} {other}, with no "
            "yield between the two. On a GPU either may come first."
        )

    def _place(self, index: Any) -> tuple[int, int]:
        row, col = (as_whole(at) for at in index) if isinstance(index, tuple) and len(index) == 2 else (None, None)
        if row is None or col is None:
            raise TileError(f"A thread uses one element at a time, such as {self.name}[0, 0].")
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise TileError(f"There is no {self.name}[{row}, {col}]; the tile is {self.rows} × {self.cols}.")
        return row, col

    def __repr__(self) -> str:
        return f"{self.name}[0:{self.rows}, 0:{self.cols}]"


def run_block(
    thread: Callable[..., Any], rows: int, cols: int, *args: Any, seed: int = 0, most_barriers: int = 1000
) -> int:
    """Run `thread(row, col, *args)` for each of rows × cols threads; returns how many barriers they passed.

    Raises `Race`, and `TileError` if some threads have ended where others wait, or if they never end.
    """
    rng = np.random.default_rng(seed)
    tiles = [arg for arg in args if isinstance(arg, SharedTile)]
    running: dict[tuple[int, int], Any] = {}
    places = [(row, col) for row in range(rows) for col in range(cols)]
    for number in rng.permutation(len(places)):
        _turn(tiles, places[number], 0)
        made = thread(*places[number], *args)
        if inspect.isgenerator(made):
            running[places[number]] = made
        elif made is not None:
            raise TileError(f"A thread stores its sum in D and returns nothing; this one returned {shown(made)}.")
    for phase in range(most_barriers):
        waiting = dict(running)
        for number in rng.permutation(len(running)):
            place = list(running)[number]
            _turn(tiles, place, phase)
            try:
                next(running[place])
            except StopIteration:
                del waiting[place]
        if not waiting:
            return phase
        if len(waiting) < len(running):
            ended = next(place for place in running if place not in waiting)
            raise TileError(
                f"Thread {ended} has ended, and thread {next(iter(waiting))} still waits at a yield. All threads of a "
                "block have to pass the same barriers."
            )
    raise TileError(f"The threads passed {most_barriers:,} barriers and did not come to an end.")


def _turn(tiles: list[SharedTile], thread: tuple[int, int], phase: int) -> None:
    for tile in tiles:
        tile.thread, tile.phase = thread, phase
