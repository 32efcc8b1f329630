"""Records of tensor memory for `Tcgen05Checker`: accesses, which threads know that they are done, the last by cell."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass

import numpy as np

from gpu_simulator.hardware.tensor_memory_layout import COLUMNS

GROUPS = 8  # of 16 lanes; accesses are tracked by group and column


@dataclass(eq=False)
class Touch:
    """An access to tensor memory. kind: "mma", "cp", "shift", "ld", "st" or "dealloc".   lane: the first to execute it.

    issued, done, fenced: events; 0 if that has not happened.   product: the operation of an mma, cp or shift.
    commit: the first tcgen05.commit after it, a `transfers.Load`.
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


class Completions:
    """Which threads know how many of the products, copies and shifts (tcgen05.mma, cp, shift) of one thread are done.

    waiting: numbers of the products that no thread knows to be done.   uncommitted: those that no commit follows.
    counts, events: by the lane of a thread that has waited, the numbers of products done and when it knew, ascending.
    """

    def __init__(self):
        self.waiting, self.uncommitted = deque(), []
        self.counts: dict[int, list[int]] = {}
        self.events: dict[int, list[int]] = {}

    def witnesses(self, number: int):
        """Yield (event, lane) for each thread that knows that a product is done; event: when it first knew."""
        for lane, counts in self.counts.items():
            at = bisect_left(counts, number)
            if at < len(counts):
                yield self.events[lane][at], lane


class Cells:
    """The last accesses to the tensor memory of one block: their numbers, 0 for none, by group of 16 lanes and column.

    other: an earlier reader than `reader`.
    """

    def __init__(self):
        self.writer, self.reader, self.other = (np.zeros((GROUPS, COLUMNS), np.int32) for _ in range(3))
