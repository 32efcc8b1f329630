"""Which lanes are served in which wavefront: the counts of `banks`, unrolled so that they can be drawn.

    schedule("ldmatrix", addresses, 16).wavefront      the wavefront of every word of every lane

In each phase the words that want one bank are served one after the other, in the order of their lanes. The hardware's
own order within a phase is not documented; how many wavefronts it takes is (see `banks`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import banks as bank_model

KINDS = ("load", "store", "ldmatrix", "cp.async.ca", "cp.async.cg")


@dataclass(frozen=True)
class Schedule:
    """wavefront: int (lanes, words of a lane), -1 where idle.   phase: the phase of each wavefront, from 0."""

    wavefront: np.ndarray
    phase: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.phase)

    def lanes(self, wavefront: int) -> np.ndarray:
        """The lanes with a word in this wavefront."""
        return np.flatnonzero((self.wavefront == wavefront).any(1))


def ideal_wavefronts(active_lanes: int, width: int, banks: int = bank_model.BANKS) -> int:
    """Wavefronts if no banks collided."""
    return -(-active_lanes * width // (banks * bank_model.BANK_BYTES))


def schedule(kind: str, addresses, width: int, active=None, source=None, banks: int = bank_model.BANKS) -> Schedule:
    """The wavefronts of one warp's access; `count` equals what `banks` gives for the same access.

    addresses: bytes, one a lane (row addresses for ldmatrix, 8 for each matrix).   width: bytes a lane.
    source: addresses in global memory, for cp.async.   banks: 32, or fewer for a toy.
    """
    addresses = np.asarray(addresses, np.int64)
    use = np.ones(len(addresses), bool) if active is None else np.asarray(active, bool)
    if kind not in KINDS:
        raise ValueError(f"there is no kind of access “{kind}”; there are {', '.join(KINDS)}")
    if kind == "cp.async.cg":
        return _cp_async_cg(np.asarray(source, np.int64), addresses, use)
    words = addresses[:, None] // bank_model.BANK_BYTES + np.arange(max(width // bank_model.BANK_BYTES, 1))
    each = max(banks * bank_model.BANK_BYTES // max(width, bank_model.BANK_BYTES), 1)
    if kind == "cp.async.ca":
        return _cp_async_ca(np.asarray(source, np.int64), words, use, each)
    found, phase = np.full(words.shape, -1), []
    groups = [range(start, min(start + each, len(words))) for start in range(0, len(words), each)]
    if kind == "load" and width >= 8 and banks == bank_model.BANKS:
        joined = bank_model.joined_phases(np.where(use, addresses, 0)[None], width, use[None])[0]
        pairs = zip(joined, groups[::2], groups[1::2], strict=True)
        groups = [part for join, a, b in pairs for part in ([range(a.start, b.stop)] if join else [a, b])]
    for number, lanes in enumerate(groups):
        first, depth, where = len(phase), [0] * banks, {}
        for lane in lanes:
            for place in range(words.shape[1]) if use[lane] else ():
                word = int(words[lane, place])
                if word not in where:
                    where[word] = first + depth[word % banks]
                    depth[word % banks] += 1
                found[lane, place] = where[word]
        phase += [number] * max(depth)
    return Schedule(found, tuple(phase))


def _cp_async_ca(source: np.ndarray, words: np.ndarray, use: np.ndarray, each: int) -> Schedule:
    """The rounds of `banks.cp_async_ca_wavefronts`: turns at the destination's banks, then the source's banks."""
    found, phase = np.full(words.shape, -1), []
    for number, start in enumerate(range(0, len(words), each)):
        turns, rounds = {}, {}
        for lane in range(start, min(start + each, len(words))):
            if use[lane]:
                places = [int(word) % bank_model.BANKS for word in words[lane]]
                turn = max(turns.get(bank, 0) for bank in places)
                turns.update((bank, turn + 1) for bank in places)
                rounds.setdefault(turn, []).append(lane)
        for lanes in rounds.values():
            first, depth = len(phase), [0] * bank_model.BANKS
            for lane in lanes:
                for place in range(words.shape[1]):
                    bank = (int(source[lane]) // bank_model.BANK_BYTES + place) % bank_model.BANKS
                    found[lane, place] = first + depth[bank]
                    depth[bank] += 1
            phase += [number] * max(depth)
    return Schedule(found, tuple(phase))


def _cp_async_cg(source: np.ndarray, destination: np.ndarray, use: np.ndarray) -> Schedule:
    """The moves of `banks.cp_async_cg_wavefronts`; the phase is the group of one source line and one shared line."""
    moves, of_lane, seen = {}, {}, {}
    for lane in np.flatnonzero(use):
        s, d = int(source[lane]) // 16, int(destination[lane]) // 16
        if d in seen:
            of_lane[lane] = of_lane[seen[d]]
            continue
        seen[d] = lane
        swap, start, end = (s ^ d) & 1, s // 2 % 4, d // 2 % 4
        xor, rotation = start ^ end, (end - start) % 4
        group = moves.setdefault((s // 8, d // 8), [])
        for move in group:
            same_xor, same_rotation = move[1] == xor, move[2] == rotation
            if move[0] == swap and (same_xor or same_rotation):
                move[1:] = xor if same_xor else None, rotation if same_rotation else None
                break
        else:
            move = [swap, xor, rotation]
            group.append(move)
        of_lane[lane] = move
    order = [(number, move) for number, group in enumerate(moves.values()) for move in group]
    found = np.full((len(source), 4), -1)
    for lane, move in of_lane.items():
        found[lane] = next(i for i, (_, other) in enumerate(order) if other is move)
    return Schedule(found, tuple(number for number, _ in order))
