"""When the lanes of each warp have met: bar.warp.sync (`__syncwarp`), with masks that may name a part of the warp."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

EVERYBODY = 2**32 - 1


class WarpMeetings:
    """The meetings of the lanes of one group of resident blocks; lanes are numbered from 0.

    synced: by lane, the event of its last meeting with all other lanes of its warp that were left.
    apart[l, o]: the last event of lane o of its warp that lane l may rely on after meetings of a part of the warp; None
    before the first of these.
    """

    def __init__(self, lanes: int, always: int, account: Callable[[int], None]):
        self.synced = np.full(lanes, always, np.int64)
        self.apart: np.ndarray | None = None
        self.account, self.always = account, always

    def of(self, lanes: np.ndarray) -> np.ndarray:
        """(n, 32): the last events of each lane of its warp that each of some lanes may rely on."""
        both = np.minimum(self.synced[lanes][:, None], self.synced.reshape(-1, 32)[lanes >> 5])
        return both if self.apart is None else np.maximum(both, self.apart[lanes])

    def pairs(self, lanes: np.ndarray, others: np.ndarray) -> np.ndarray:
        """(n,): the last events of other lanes of the same warps that some lanes may rely on."""
        both = np.minimum(self.synced[lanes], self.synced[others])
        return both if self.apart is None else np.maximum(both, self.apart[lanes, others & 31])

    def latest(self, lanes: np.ndarray) -> np.ndarray:
        """(n,): the last meeting of each lane with any other."""
        if self.apart is None:
            return self.synced[lanes]
        return np.maximum(self.synced[lanes], self.apart[lanes].max(1))

    def meet(self, numbers: np.ndarray, members, event: int) -> Iterator[np.ndarray]:
        """Some lanes meet those of their warp that give the same mask. Yields the lanes of each mask, all at one event.

        numbers: ascending.   members: (n,) or a scalar, None for whole warps.
        """
        if members is None or (np.asarray(members) == EVERYBODY).all():
            self.synced[numbers] = event
            yield numbers
            return
        if self.apart is None:
            self.account(32 * self.synced.nbytes)
            self.apart = np.full((len(self.synced), 32), self.always, np.int64)
        members = np.broadcast_to(members, len(numbers))
        for mask in np.unique(members).tolist():
            some = numbers[members == mask]
            warps, place = np.unique(some >> 5, return_inverse=True)
            joined = np.zeros((len(warps), 32), np.int64)
            np.maximum.at(joined, place, self.of(some))
            joined[place, some & 31] = event
            self.apart[some] = joined[place]
            yield some
