"""`Lanes`: the lanes for which a generated function runs, of all resident blocks or of some warps."""

from __future__ import annotations

import numpy as np


def at_lane(value, position: int) -> int:
    """A register's value on one lane; uniform values are scalars."""
    return int(value if value.ndim == 0 else value[position])


class Lanes:
    """Whole warps of the resident blocks; `mask`, (n,) Boolean, gives the lanes that execute (None: all of them).

    `n`: number of lanes, 32 for each warp.  `warps`: number of warps.  `chosen`: numbers of the warps, or None for all.
    `picked`: positions of the lanes that execute, or None for all. Special registers such as `tid_x` are attributes,
    computed when first read.
    """

    def __init__(self, resident, chosen: np.ndarray | None, mask: np.ndarray | None):
        self.resident, self.chosen, self.mask = resident, chosen, mask
        self.warps = resident.warps if chosen is None else len(chosen)
        self.n = 32 * self.warps
        self.full = chosen is None and mask is None
        self.nobody = np.zeros(self.n, bool)
        self.picked = None if mask is None else np.flatnonzero(mask)
        self._rows = None if chosen is None else chosen

    def get(self, value):
        """A register's values on these lanes; uniform values stay scalars."""
        if value.ndim == 0 or self._rows is None:
            return value
        return value.reshape(-1, 32)[self._rows].reshape(-1)

    def lane_numbers(self) -> np.ndarray:
        """Lane numbers among the resident blocks."""
        return self.get(self.resident.all_lanes)

    def active(self) -> np.ndarray:
        return np.ones(self.n, bool) if self.mask is None else self.mask

    def positions(self, mask) -> np.ndarray:
        """Positions of the lanes that execute an instruction. mask: (n,) Boolean, or None for all."""
        return np.arange(self.n) if mask is None else np.flatnonzero(mask)

    def one_by_one(self, mask):
        """Yield (position, lane number) of each lane that executes an instruction. mask: as for `positions`."""
        positions = self.positions(mask)
        return zip(positions.tolist(), self.lane_numbers()[positions].tolist(), strict=True)

    # ---- Offsets into the resident blocks' memories, in bytes, int64 ----

    def offsets(self, space: str) -> np.ndarray:
        name = f"_offsets_{space}"
        found = self.__dict__.get(name)
        if found is None:
            resident = self.resident
            if space == "shared":
                found = self.get(resident.block_of_lane * resident.shared_stride)
            else:
                found = self.get(resident.all_lanes * resident.local_stride)
            self.__dict__[name] = found
        return found

    # ---- Special registers ----

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        value = self.resident.special(name)
        value = self.get(value) if isinstance(value, np.ndarray) else value
        self.__dict__[name] = value
        return value
