"""Bulk copies in flight: loads that an mbarrier waits for, stores that their thread's groups wait for.

With timing "early" a copy is done when it is issued. With "late" a load lands when every thread that could go on has
gone as far as it can without it, and a store when its thread waits or ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(eq=False)
class Load:
    """A copy that an mbarrier counts. move: writes the bytes.   size: bytes, as the barrier counts them; 0 where it
    counts an arrival instead, for the cp.async of a thread.

    index: what it fills of shared memory, in units of `width` bytes.   phase: of the barrier when it was issued.
    source: 16-byte chunks of shared memory that it reads, for copies from block to block.
    proxy: whether it goes through the async proxy, as all do but st.async and red.async.
    """

    site: int
    lane: int
    key: tuple[int, int]
    size: int
    move: Callable[[], None]
    index: np.ndarray
    phase: int = 0
    width: int = 16
    source: np.ndarray | None = None
    proxy: bool = True
    products: int | None = None  # of a tcgen05.commit: how many its thread has issued before it


@dataclass(eq=False)
class Store:
    """A copy out of shared memory, in a group of its thread."""

    site: int
    lane: int
    group: int
    move: Callable[[], None]
    index: np.ndarray
    done: bool = False


class Transfers:
    """Those of one group of resident blocks."""

    def __init__(self, resident):
        self.resident = resident
        self.late = resident.launch.timing == "late"
        self.loads: dict[tuple[int, int], list[Load]] = {}
        self.on_the_way = 0  # bytes of `loads`
        self.stores: list[Store] = []
        self.committed: dict[int, int] = {}  # lane -> bulk groups so far

    # ---- Loads ----

    def load(self, load: Load) -> None:
        """Issue a load: it lands now, or when it has to."""
        if self.late:
            self.loads.setdefault(load.key, []).append(load)
            self.on_the_way += load.size
            self.resident.launch.most_on_the_way = max(self.resident.launch.most_on_the_way, self.on_the_way)
        else:
            self.land(load)

    def land(self, load: Load) -> None:
        resident = self.resident
        load.move()
        for observer in resident.observers:
            observer.load_landed(load, resident.mbarriers.known.get(load.key))
        if load.size:
            resident.mbarriers.expect(load.site, load.lane, load.key, -load.size)
        else:
            resident.mbarriers.arrive(load.site, load.lane, load.key, 1)

    def land_wanted(self, keys) -> bool:
        """Land what the barriers `keys` wait for; True if there was anything."""
        some = False
        for key in sorted(keys & set(self.loads)):
            for load in self.loads.pop(key):
                self.on_the_way -= load.size
                self.land(load)
                some = True
        return some

    # ---- Stores ----

    def store(self, site: int, lane: int, move, index) -> None:
        store = Store(site, lane, self.committed.get(lane, 0), move, index)
        if not self.late:
            move()
            store.done = True
        if self.late or self.resident.observers:
            self.stores.append(store)

    def commit(self, lanes, mask) -> None:
        for lane in lanes.lane_numbers()[lanes.active() if mask is None else mask].tolist():
            self.committed[lane] = self.committed.get(lane, 0) + 1
        for observer in self.resident.observers:
            observer.stores_committed(lanes, mask)

    def wait(self, lanes, mask, newest) -> None:
        """All but the `newest` groups of each thread have been read (and, as nobody can tell, written)."""
        if not self.stores:
            return
        active = lanes.active() if mask is None else mask
        numbers = lanes.lane_numbers()[active].tolist()
        left = np.broadcast_to(newest, lanes.n)[active].tolist()
        bound = {lane: self.committed.get(lane, 0) - n for lane, n in zip(numbers, left, strict=True)}
        remaining = []
        for store in self.stores:
            if store.group < bound.get(store.lane, -1):
                self.finish_store(store)
                for observer in self.resident.observers:
                    observer.store_waited(store)
            else:
                remaining.append(store)
        self.stores = remaining

    def finish_store(self, store: Store) -> None:
        if not store.done:
            store.move()
            store.done = True

    # ---- The end ----

    def finish(self) -> None:
        """Every thread has ended: what is still in flight lands."""
        for loads in self.loads.values():
            for load in loads:
                load.move()
        for store in self.stores:
            self.finish_store(store)
