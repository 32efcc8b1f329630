"""Bulk copies in flight: loads that report to an mbarrier, and stores that belong to groups of their thread.

With timing "early" a copy is done when it is issued. With "late" a load is done when no thread can continue without it,
and a store when its thread waits or ends. With "staggered" the loads that blocks of odd rank in a cluster issue are
late, and all other copies are early: then bytes that several blocks send to one barrier come at different times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(eq=False)
class Load:
    """A copy that an mbarrier counts. move: function that writes the bytes.   size: bytes that the barrier counts; 0 if
    it counts an arrival instead (for the cp.async of a thread, and for tcgen05.commit).

    index: positions that it writes in shared memory, in units of `width` bytes.   phase: of the barrier at the issue.
    source: 16-byte chunks of shared memory that it reads, for copies from block to block.
    proxy: whether it uses the async proxy, as all do except st.async and red.async.
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
    """A copy out of shared memory, in a group of its thread. index: chunks of 16 bytes that it reads."""

    site: int
    lane: int
    group: int
    move: Callable[[], None]
    index: np.ndarray
    done: bool = False


class Transfers:
    """The bulk copies of one group of resident blocks."""

    def __init__(self, resident):
        self.resident = resident
        self.late, self.staggered = (resident.launch.timing == name for name in ("late", "staggered"))
        self.loads: dict[tuple[int, int], list[Load]] = {}
        self.on_the_way = 0  # bytes of `loads`
        self.stores: list[Store] = []
        self.committed: dict[int, int] = {}  # lane -> bulk groups so far

    # ---- Loads ----

    def load(self, load: Load) -> None:
        """Issue a load. It is done now or, if the timing makes it late, when no thread can continue without it."""
        if self.late or (self.staggered and self.resident.block_of_lane[load.lane] % self.resident.cluster_size % 2):
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
        """Complete the loads that the barriers `keys` wait for; True if there were any."""
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

    def wait(self, lanes, mask, newest, written: bool) -> None:
        """Complete all but the `newest` groups of each thread. written: it is not wait_group.read.

        For wait_group.read it would be enough to read their sources; observers tell a thread that relies on more.
        """
        if not self.stores and not self.resident.observers:
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
        for observer in self.resident.observers:
            observer.stores_waited(bound, written)

    def finish_store(self, store: Store) -> None:
        if not store.done:
            store.move()
            store.done = True

    # ---- The end ----

    def finish(self) -> None:
        """Complete what is still in flight; called when every thread has ended."""
        for loads in self.loads.values():
            for load in loads:
                load.move()
        for store in self.stores:
            self.finish_store(store)
