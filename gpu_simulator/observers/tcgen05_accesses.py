"""What the search for hazards keeps of tensor memory: accesses, who knows of their end, and by cell the last ones."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass

import numpy as np

from gpu_simulator.hardware.tensor_memory_layout import COLUMNS

GROUPS = 8  # of 16 lanes: what an access covers is told by group and column


@dataclass(eq=False)
class Touch:
    """An access to tensor memory. kind: "mma", "ld" or "st".   lane: the first that executed it.

    issued, done, fenced: events; 0 where that has not been.   product: of an mma.
    commit: the first behind a product, a `transfers.Load`.
    """

    kind: str
    site: int
    lane: int
    issued: int
    done: int = 0
    fenced: int = 0
    product: object = None
    commit: object = None

    @property
    def warp(self) -> int:
        return self.lane >> 5


class Progress:
    """Of the products of one thread: who knows how many of them are done.

    waiting: touches of those of which nobody knows.   uncommitted: of those that no commit follows.
    counts, events: by the lane of a thread that has waited, ascending.
    """

    def __init__(self):
        self.waiting, self.uncommitted = deque(), []
        self.counts: dict[int, list[int]] = {}
        self.events: dict[int, list[int]] = {}

    def witnesses(self, number: int):
        """(event, lane) of each thread that knows the end of a product: the first time that it learnt of it."""
        for lane, counts in self.counts.items():
            at = bisect_left(counts, number)
            if at < len(counts):
                yield self.events[lane][at], lane


class Cells:
    """Of one block: numbers of the last touches, 0 for none, by group of 16 lanes and column."""

    def __init__(self):
        self.writer, self.reader, self.other = (np.zeros((GROUPS, COLUMNS), np.int32) for _ in range(3))
