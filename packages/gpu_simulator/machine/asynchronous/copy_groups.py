"""The groups of cp.async: copies that a thread has issued and not yet waited for."""

from __future__ import annotations

import numpy as np


class Groups:
    """The cp.async groups of each thread. With timing "late" a copy moves its bytes only when it is waited for."""

    def __init__(self, resident):
        self.resident = resident
        self.late = resident.launch.timing == "late"
        self.committed = np.zeros(resident.lanes, np.int64)
        self.pending: list = []

    def copy(self, lanes, positions, index_to, index_from, size, kept) -> None:
        entry = [lanes.lane_numbers()[positions], index_to, index_from, size, kept]
        if not self.late:
            self.land(entry)
        else:
            self.pending.append([*entry, self.committed[entry[0]].copy()])

    def land(self, entry) -> None:
        _, index_to, index_from, size, kept = entry[:5]
        view = self.resident.memory.views[size]
        data = view[np.maximum(index_from, 0)]
        if kept is not None:
            raw = np.ascontiguousarray(data).view(np.uint8).reshape(-1, size).copy()
            raw[np.arange(size) >= kept[:, None]] = 0
            data = raw.view(view.dtype)[:, 0]
        self.resident.shared.views[size][index_to] = data

    def taken(self, lane: int):
        """Remove a lane's copies from its groups, so `wait` ignores them; returns a function that completes them."""
        mine = []
        for number, entry in enumerate(self.pending):
            own = entry[0] == lane
            if own.any():
                mine.append([x[own] if isinstance(x, np.ndarray) else x for x in entry])
                self.pending[number] = [x[~own] if isinstance(x, np.ndarray) else x for x in entry]
        return lambda: [self.land(entry) for entry in mine]

    def commit(self, lanes, site, mask) -> None:
        active = lanes.active() if mask is None else mask
        self.committed[lanes.lane_numbers()[active]] += 1
        for observer in self.resident.observers:
            observer.copies_committed(lanes, site, mask)

    def wait(self, lanes, site, mask, left) -> None:
        """wait_group `left` (None: wait_all): complete the copies that are older than the newest `left` groups."""
        active = lanes.active() if mask is None else mask
        numbers = lanes.lane_numbers()[active]
        bound = np.full(self.resident.lanes, -1, np.int64)
        if left is None:
            bound[numbers] = self.committed[numbers] + 1
        else:
            newest = np.broadcast_to(left, lanes.n)[active].astype(np.int64)
            bound[numbers] = np.maximum(self.committed[numbers] - newest, 0)
        for observer in self.resident.observers:
            observer.copies_waited(bound)
        remaining = []
        for entry in self.pending:
            done = entry[5] < bound[entry[0]]
            if done.any():
                self.land([x[done] if isinstance(x, np.ndarray) else x for x in entry[:5]])
            if not done.all():
                remaining.append([x[~done] if isinstance(x, np.ndarray) else x for x in entry])
        self.pending = remaining
