"""Counts the wavefronts that a warp's access to shared memory takes. Pure NumPy, vectorised over warps.

The model: each 4-byte word lies in bank (address / 4) mod 32. One wavefront serves one word of each bank, to any number
of lanes. Accesses of 4, 8 and 16 bytes per lane take 1, 2 and 4 phases of 32, 16 and 8 lanes; `ldmatrix` and `stmatrix`
take one phase for each 8 × 8 matrix. Two phases of a load become one if all pairs of lanes i and i xor 1 (or all pairs
i and i xor 2) use the same address; this was seen on an H200 for `ld.shared`, not for stores.

`cp.async` follows different rules, given below. They reproduce what Nsight Compute shows for the instruction
(memory_l1_wavefronts_shared). The counter of the whole kernel, l1tex__data_pipe_lsu_wavefronts_mem_shared, counts it
differently: on an H200, 4 for every recorded `cp.async.cg` without a length, whatever its addresses, and the same for a
copy with ZFILL as for one with a predicate.

Addresses are bytes, int64 arrays of shape (warps, lanes); `active` is a bool array of the same shape, or None for all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

BANKS = 32
BANK_BYTES = 4
LINE_BYTES = BANKS * BANK_BYTES
SECTOR_BYTES = 32
LANES_OF_A_PHASE = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}


def wavefronts(addresses: np.ndarray, width: int, active: np.ndarray | None = None, merge: bool = True) -> np.ndarray:
    """Wavefronts of each warp's access: shape (warps,).

    width: bytes per lane, 1 to 16.   merge: lanes that use the same word share it; for `cp.async.ca` they do not.
    For ldmatrix and stmatrix pass the row addresses, 8 for each matrix, and width 16. Raises `ValueError` for a width
    that does not exist.
    """
    if width not in LANES_OF_A_PHASE:
        raise ValueError(f"a lane accesses {width} bytes, but only 1, 2, 4, 8 and 16 exist")
    addresses = np.asarray(addresses, np.int64)
    warps, lanes = addresses.shape
    each = min(LANES_OF_A_PHASE[width], lanes)
    words = addresses[..., None] // BANK_BYTES + np.arange(max(width // BANK_BYTES, 1))
    use = np.broadcast_to(True if active is None else np.asarray(active, bool)[..., None], words.shape)
    words = words.reshape(warps * lanes // each, -1)
    use = use.reshape(words.shape)
    if merge:
        order = np.argsort(np.where(use, words, -1), axis=1, kind="stable")
        words = np.take_along_axis(words, order, 1)
        use = np.take_along_axis(use, order, 1).copy()
        use[:, 1:] &= (words[:, 1:] != words[:, :-1]) | ~use[:, :-1]
    slot = np.arange(len(words))[:, None] * BANKS + words % BANKS
    depth = np.bincount(slot[use], minlength=len(words) * BANKS).reshape(-1, BANKS).max(1)
    return depth.reshape(warps, -1).sum(1)


def load_wavefronts(addresses: np.ndarray, width: int, active: np.ndarray | None = None) -> np.ndarray:
    """Wavefronts of `ld.shared`: `wavefronts`, with phases joined where neighbouring lanes read the same address."""
    addresses = np.asarray(addresses, np.int64)
    counts = wavefronts(addresses, width, active)
    if width >= 8:
        use = np.ones(addresses.shape, bool) if active is None else np.asarray(active, bool)
        counts = counts - joined_phases(addresses, width, use).sum(1)
    return counts


def joined_phases(addresses: np.ndarray, width: int, use: np.ndarray) -> np.ndarray:
    """Which pairs of phases of a load run as one wavefront: (warps, 1) for 8 bytes per lane, (warps, 2) for 16.

    In all pairs of lanes i and i xor 1 (or all pairs i and i xor 2), both lanes use the same address or one is idle;
    the words of the two phases have no bank conflict; and both phases have active lanes.
    """
    lane, lanes = np.arange(addresses.shape[1]), 256 // width
    found = np.zeros((len(addresses), addresses.shape[1] // lanes), bool)
    for distance in (1, 2):
        other = lane ^ distance
        same = (addresses == addresses[:, other]) | ~use | ~use[:, other]
        found |= same.reshape(len(addresses), -1, lanes).all(2)
    found &= np.all(use.reshape(len(addresses), -1, 2, lanes // 2).any(3), axis=2)
    for row, part in np.argwhere(found):
        chosen = slice(part * lanes, (part + 1) * lanes)
        words = np.unique(
            addresses[row, chosen][use[row, chosen]][:, None] // BANK_BYTES + np.arange(width // BANK_BYTES)
        )
        found[row, part] = np.bincount(words % BANKS).max() == 1
    return found


def cp_async_ca_wavefronts(
    source: np.ndarray,
    destination: np.ndarray,
    width: int,
    active: np.ndarray | None = None,
    reads: np.ndarray | None = None,
) -> int:
    """Wavefronts of one warp's `cp.async.ca`. Addresses in bytes, multiples of width, shape (lanes,).

    reads: lanes that copy something; the others fill with zeros and use no bank of the source.

    A rule found by measurement on an H200, documented nowhere. In each phase of 32, 16 or 8 lanes, two lanes contend if
    they use the same banks of the source (global address / 4 mod 32) or the same banks of the destination; equal words
    are not merged. For each lane, count the lanes that contend with it, itself included; the phase takes as many
    wavefronts as the largest of these counts. An ideal arbiter could need fewer: lanes that contend with the same lane,
    but not with one another, are not served together.

    Fitted to the 80 recorded patterns `crossing …` of 3 and 4 lanes. The other 898 recordings without zero fill (tiles,
    scattered addresses, crossings of more lanes) and the 72 with it were not used to find it; all 1,050 are exact.
    """
    each, banks = LANES_OF_A_PHASE[width], LINE_BYTES // width
    use = np.ones(len(source), bool) if active is None else np.asarray(active, bool)
    reading = use if reads is None else use & np.asarray(reads, bool)
    to, of = (np.asarray(a, np.int64).reshape(-1, each) // width % banks for a in (destination, source))

    def both(lanes: np.ndarray) -> np.ndarray:
        lanes = lanes.reshape(-1, each)
        return lanes[:, :, None] & lanes[:, None]

    contend = (to[:, :, None] == to[:, None]) & both(use) | (of[:, :, None] == of[:, None]) & both(reading)
    return int(contend.sum(2).max(1).sum())


def ideal_wavefronts(active_lanes: ArrayLike, width: int) -> np.ndarray | np.int64:
    """Wavefronts without bank conflicts: the bytes of the active lanes in passes of 128."""
    return -(-np.asarray(active_lanes) * width // LINE_BYTES)


def sectors(addresses: np.ndarray, width: int, active: np.ndarray | None = None) -> np.ndarray:
    """Number of different 32-byte sectors of global memory that each warp's access touches: shape (warps,)."""
    addresses = np.asarray(addresses, np.int64)
    parts = -(-width // SECTOR_BYTES)
    touched = (addresses[..., None] // SECTOR_BYTES + np.arange(parts)).reshape(len(addresses), -1)
    use = np.ones(touched.shape, bool) if active is None else np.repeat(np.asarray(active, bool), parts, axis=1)
    none = np.iinfo(np.int64).max
    touched = np.sort(np.where(use, touched, none), axis=1)
    new = np.ones(touched.shape, bool)
    new[:, 1:] = touched[:, 1:] != touched[:, :-1]
    return (new & (touched != none)).sum(1)


def cp_async_cg_wavefronts(source: np.ndarray, destination: np.ndarray, active: np.ndarray | None = None) -> int:
    """Wavefronts of one warp's `cp.async.cg` (16 bytes per lane). source, destination: byte addresses, shape (lanes,).

    A rule found by measurement on an H200, documented nowhere. A wavefront moves sectors (32 bytes) from one 128-byte
    line of the source to one of shared memory by one of the eight symmetries of a square with the four sectors at its
    corners: a rotation, d = s + c mod 4, or a reflection, d = c - s mod 4 (XOR by a constant is always one of these).
    Either all its sectors swap their 16-byte halves, or none does, and all move the same halves: the lower, the upper
    or both. Lanes whose destination was already written cost nothing. Each sector joins the first wavefront that it
    fits.

    Copies that may fill with zeros: `cp_async_cg_zfill_wavefronts`, `cp_async_cg_predicated_wavefronts`.
    """
    seen: set[int] = set()
    halves: dict[tuple[int, int, int, int, int], int] = {}  # the sectors' halves: bit 0 lower, bit 1 upper
    lanes = range(len(source)) if active is None else np.flatnonzero(active)
    for lane in lanes:
        s, d = int(source[lane]) // 16, int(destination[lane]) // 16
        if d not in seen:
            seen.add(d)
            move = s // 8, d // 8, (s ^ d) & 1, s // 2 % 4, d // 2 % 4
            halves[move] = halves.get(move, 0) | 1 << (s & 1)
    groups: dict[tuple[int, int, int, int], list[set[int]]] = {}
    for (from_line, to_line, swap, from_sector, to_sector), half in halves.items():
        able = {(to_sector - from_sector) % 4, 4 + (to_sector + from_sector) % 4}
        wavefronts_ = groups.setdefault((from_line, to_line, swap, half), [])
        for kept in wavefronts_:
            if kept & able:
                kept &= able
                break
        else:
            wavefronts_.append(able)
    return sum(map(len, groups.values()))


def cp_async_cg_zfill_wavefronts(source: np.ndarray, destination: np.ndarray, active: np.ndarray | None = None) -> int:
    """Wavefronts of one warp's `cp.async.cg` with a source length that ptxas does not know to be 0 or 16 (ZFILL).

    Nsight Compute counts it twice, as a copy that bypasses L1 and as one that does not, whatever the lengths are.
    Fitted to 27 recordings of tiles on an H200; 9 more, held out, are exact. No scattered addresses were recorded.
    """
    return cp_async_cg_wavefronts(source, destination, active) + cp_async_ca_wavefronts(source, destination, 16, active)


def cp_async_cg_predicated_wavefronts(
    source: np.ndarray, destination: np.ndarray, marked: np.ndarray, active: np.ndarray | None = None
) -> int:
    """Wavefronts of one warp's `cp.async.cg` of 0 or 16 bytes per lane, chosen by a predicate.

    marked: lanes in which the predicate register is set, as it stands; the machine code may use it negated.

    Nsight Compute counts a store of 16 bytes per lane if any lane is marked, else a copy without a predicate. Fitted to
    36 recordings of tiles on an H200 that copy where P is set, and to ampere/11_any_size, which copies where P is not
    set: it is counted as a store only where nothing is read. Nothing is held out. That the sign of the predicate makes
    the difference is inferred from these two kernels, which differ in their L2 hint as well.
    """
    use = np.ones(len(destination), bool) if active is None else np.asarray(active, bool)
    if (use & np.asarray(marked, bool)).any():
        return int(wavefronts(np.asarray(destination)[None], 16, use[None])[0])
    return cp_async_cg_wavefronts(source, destination, use)


def conflict_degree(wavefronts_: float | None, ideal: float | None) -> float | None:
    """Wavefronts divided by the ideal number; 1.0 without conflicts, None without accesses or if none were counted."""
    return wavefronts_ / ideal if wavefronts_ is not None and ideal else None
