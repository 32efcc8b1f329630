"""`Access`: one access of some lanes to one memory, in the form that the race detector uses."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from gpu_simulator.machine.address_space import GLOBAL_BASE
from gpu_simulator.observers.shadow_memory import Shadow


@dataclass(frozen=True)
class Access:
    """One access of some lanes to shared memory, or to one allocation of global memory.

    site: of its instruction.   verb: "reads", "writes", "updates" or "overwrites", for messages.
    shadow, name: of the memory; name is None for shared memory.   lanes: (n, 1) numbers in the launch, ascending.
    cells: (n, parts) of the shadow.   now, old: (n, width) bytes stored, and the bytes before; None if not known.
    """

    site: int
    verb: str
    shadow: Shadow
    name: str | None
    lanes: np.ndarray
    cells: np.ndarray
    now: np.ndarray | None = None
    old: np.ndarray | None = None

    def unchanged(self) -> np.ndarray:
        """(n, 1) Boolean: the lanes that store what memory already holds."""
        if self.now is None:
            return np.zeros((len(self.lanes), 1), bool)
        return (self.now == self.old).all(1, keepdims=True)

    def equal(self, one, other) -> np.ndarray:
        """(pairs,) Boolean: whether both lanes of a pair, given by their positions, store the same value."""
        return np.zeros(len(one), bool) if self.now is None else (self.now[one] == self.now[other]).all(1)


def bytes_of(values, count: int, width: int) -> np.ndarray:
    """(count, width) bytes of `values`: one value for each lane, or one for all."""
    return np.ascontiguousarray(np.broadcast_to(values, count)).view(np.uint8).reshape(count, width)


def by_array(memory, index, width: int):
    """Split an access to global memory by allocation.

    Yields (number of the allocation, positions of its lanes or None for all, index within it).
    index: in elements of `width` bytes from GLOBAL_BASE.
    """
    low, high = (index, index) if index.ndim == 0 else (index.min(), index.max())
    first = bisect_right(memory.starts, int(low) * width + GLOBAL_BASE) - 1
    if int(high) * width + GLOBAL_BASE < memory.ends[first]:
        parts = [(first, None)]
    else:
        numbers = np.searchsorted(np.array(memory.starts), index * width + GLOBAL_BASE, side="right") - 1
        parts = [(number, np.flatnonzero(numbers == number)) for number in np.unique(numbers).tolist()]
    for number, positions in parts:
        start = (memory.starts[number] - GLOBAL_BASE) // width
        yield number, positions, (index if positions is None else index[positions]) - start
