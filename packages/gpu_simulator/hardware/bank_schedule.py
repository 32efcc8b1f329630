"""Assigns the words of an access to wavefronts, so that the counts of `banks` can be drawn.

    schedule("ldmatrix", addresses, 16).wavefront      the wavefront of every word of every lane

In each phase, words of the same bank are served one after the other, in the order of their lanes. The order that the
hardware uses within a phase is not documented; the number of wavefronts is known (see `banks`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gpu_simulator.hardware import banks as bank_model

KINDS = ("load", "store", "ldmatrix", "cp.async.ca", "cp.async.cg")


@dataclass(frozen=True)
class Schedule:
    """The wavefronts of one warp's access.

    wavefront: int (lanes, words of a lane), -1 where idle.   phase: the phase of each wavefront, from 0.
    """

    wavefront: np.ndarray
    phase: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of wavefronts."""
        return len(self.phase)

    def lanes(self, wavefront: int) -> np.ndarray:
        """The lanes that have a word in this wavefront."""
        return np.flatnonzero((self.wavefront == wavefront).any(1))


def ideal_wavefronts(active_lanes: int, width: int, banks: int = bank_model.BANKS) -> int:
    """Wavefronts without bank conflicts."""
    return -(-active_lanes * width // (banks * bank_model.BANK_BYTES))


def schedule(
    kind: str,
    addresses: ArrayLike,
    width: int,
    active: ArrayLike | None = None,
    source: ArrayLike | None = None,
    banks: int = bank_model.BANKS,
) -> Schedule:
    """The wavefronts of one warp's access; their number is what `banks` gives for the same access.

    addresses: bytes, one per lane (row addresses for ldmatrix, 8 for each matrix).   width: bytes per lane.
    source: addresses in global memory, for cp.async.   banks: 32, or fewer for a small example.
    Raises `ValueError` for a kind that is not in `KINDS`.
    """
    addresses = np.asarray(addresses, np.int64)
    use = np.ones(len(addresses), bool) if active is None else np.asarray(active, bool)
    if kind not in KINDS:
        raise ValueError(f"there is no kind of access “{kind}”; there are {', '.join(KINDS)}")
    if kind == "cp.async.cg":
        return _cp_async_cg(np.asarray(source, np.int64), addresses, use)
    if kind == "cp.async.ca":
        return _cp_async_ca(np.asarray(source, np.int64), addresses, width, use)
    words = addresses[:, None] // bank_model.BANK_BYTES + np.arange(max(width // bank_model.BANK_BYTES, 1))
    each = max(banks * bank_model.BANK_BYTES // max(width, bank_model.BANK_BYTES), 1)
    found = [[-1] * words.shape[1] for _ in words]
    phase: list[int] = []
    groups = [range(start, min(start + each, len(words))) for start in range(0, len(words), each)]
    if kind == "load" and width >= 8 and banks == bank_model.BANKS:
        joined = bank_model.joined_phases(np.where(use, addresses, 0)[None], width, use[None])[0]
        pairs = zip(joined, groups[::2], groups[1::2], strict=True)
        groups = [part for join, a, b in pairs for part in ([range(a.start, b.stop)] if join else [a, b])]
    wanted, active_lanes = words.tolist(), use.tolist()
    for number, lanes in enumerate(groups):
        first, depth, where = len(phase), [0] * banks, {}
        for lane in lanes:
            for place, word in enumerate(wanted[lane] if active_lanes[lane] else ()):
                if word not in where:
                    where[word] = first + depth[word % banks]
                    depth[word % banks] += 1
                found[lane][place] = where[word]
        phase += [number] * max(depth)
    return Schedule(np.array(found), tuple(phase))


def _cp_async_ca(source: np.ndarray, destination: np.ndarray, width: int, use: np.ndarray) -> Schedule:
    """As many wavefronts as `banks.cp_async_ca_wavefronts` counts, in one possible order.

    The most contended lane and the lanes that contend with it are served one after the other; every other lane is
    served in the first wavefront that has none of the lanes that contend with it.
    """
    found = np.full((len(use), max(width // bank_model.BANK_BYTES, 1)), -1)
    phase: list[int] = []
    banks, each = bank_model.LINE_BYTES // width, bank_model.LANES_OF_A_PHASE[width]
    to, of = (destination // width % banks).tolist(), (source // width % banks).tolist()
    for number, start in enumerate(range(0, len(use), each)):
        lanes = (start + np.flatnonzero(use[start : start + each])).tolist()
        rivals = {a: [b for b in lanes if to[a] == to[b] or of[a] == of[b]] for a in lanes}
        queue = max(rivals.values(), key=len, default=[])
        turns = {lane: turn for turn, lane in enumerate(queue)}
        for lane in lanes:
            if lane not in turns:
                taken = {turns[other] for other in rivals[lane] if other in turns}
                turns[lane] = next(turn for turn in range(len(queue)) if turn not in taken)
            found[lane] = len(phase) + turns[lane]
        phase += [number] * len(queue)
    return Schedule(found, tuple(phase))


def _cp_async_cg(source: np.ndarray, destination: np.ndarray, use: np.ndarray) -> Schedule:
    """The wavefronts of `banks.cp_async_cg_wavefronts`; each pair of a source line and a shared line is a phase."""
    move_of, first = {}, {}
    halves: dict[tuple, int] = {}
    for lane in np.flatnonzero(use):
        s, d = int(source[lane]) // 16, int(destination[lane]) // 16
        if d not in first:
            first[d] = lane
            move_of[lane] = move = (s // 8, d // 8, (s ^ d) & 1, s // 2 % 4, d // 2 % 4)
            halves[move] = halves.get(move, 0) | 1 << (s & 1)
        else:
            move_of[lane] = move_of[first[d]]
    groups: dict[tuple, list[set[int]]] = {}
    served = {}
    for move, half in halves.items():
        lines, swap, (start, end) = move[:2], move[2], move[3:]
        able = {(end - start) % 4, 4 + (end + start) % 4}
        kept = groups.setdefault((*lines, swap, half), [])
        number = next((n for n, other in enumerate(kept) if other & able), len(kept))
        if number == len(kept):
            kept.append(able)
        else:
            kept[number] &= able
        served[move] = (lines, swap, half, number)
    wavefronts = dict.fromkeys(served.values())  # without repeats, in the order of their lanes
    pairs = list(dict.fromkeys(wavefront[0] for wavefront in wavefronts))
    order = sorted(wavefronts, key=lambda wavefront: pairs.index(wavefront[0]))
    found = np.full((len(source), 4), -1)
    for lane, move in move_of.items():
        found[lane] = order.index(served[move])
    return Schedule(found, tuple(pairs.index(wavefront[0]) for wavefront in order))
