"""Counts the wavefronts, sectors and bytes of each instruction. The cost of each address pattern is computed once."""

from __future__ import annotations

import numpy as np

from gpu_simulator.hardware.banks import (
    cp_async_ca_wavefronts,
    cp_async_cg_predicated_wavefronts,
    cp_async_cg_wavefronts,
    cp_async_cg_zfill_wavefronts,
    ideal_wavefronts,
    joined_phases,
    load_wavefronts,
    sectors,
    wavefronts,
)

NOT_ACTIVE = np.int64(-(1 << 40))  # the address of a lane that takes no part
_HASH = np.random.default_rng(20260101).integers(1, 1 << 62, 96, dtype=np.int64) | 1


class SiteCounts:
    """Counters of one instruction, and a cache of its last addresses."""

    __slots__ = ("wavefronts", "ideal", "sectors", "requests", "bytes", "cache", "executed")

    def __init__(self):
        self.wavefronts = self.ideal = self.sectors = self.requests = self.bytes = self.executed = 0
        self.cache: dict = {}


class Patterns:
    """A cache of the cost of every pattern of addresses, relative to its first address."""

    def __init__(self):
        self.known: dict = {}

    def total(self, kind: str, width: int, relative: np.ndarray, active: np.ndarray | None) -> int:
        """The cost, summed over warps. kind: a key of `_COST`.   active: (warps, lanes), or None for all.

        relative: (warps, lanes) int64 addresses, relative to a base that does not change the cost.
        """
        rows = relative if active is None else np.where(active, relative, NOT_ACTIVE)
        hashes = row_hashes(rows)
        known = self.known.setdefault((kind, width, rows.shape[1]), {})
        if (hashes == hashes[0]).all():
            unique, first, counts = hashes[:1], np.zeros(1, np.int64), (len(hashes),)
        else:
            unique, first, counts = np.unique(hashes, return_index=True, return_counts=True)
        missing = [n for n, h in enumerate(unique.tolist()) if h not in known]
        if missing:
            chosen = rows[first[missing]]
            for n, cost in zip(missing, row_costs(kind, width, chosen).tolist(), strict=True):
                known[int(unique[n])] = cost
        return sum(known[h] * int(c) for h, c in zip(unique.tolist(), counts, strict=True))


def _copies(rule):
    """The cost function of cp.async. A row holds sources, destinations and perhaps (1 or 0) whether each lane reads."""

    def cost(rows: np.ndarray, width: int, here: np.ndarray) -> np.ndarray:
        found = []
        for row, use in zip(rows, here, strict=True):
            source, to, *reads = row.reshape(-1, 32)
            found.append(rule(source, to, width, use[:32], reads[0] > 0 if reads else use[:32]))
        return np.array(found)

    return cost


def _ideal_load(rows: np.ndarray, width: int, here: np.ndarray) -> np.ndarray:
    plain = ideal_wavefronts(here.sum(1), width)
    if width < 8:
        return plain
    joined = joined_phases(rows, width, here)
    return np.minimum(plain, ideal_wavefronts(32, width) - joined.sum(1))


def _ideal_cg(rows: np.ndarray, width: int, here: np.ndarray) -> np.ndarray:
    written = (row[32:64][use[32:64]] for row, use in zip(rows, here, strict=True))
    return np.array([-(-len(np.unique(places)) * width // 128) for places in written])


def _copy_sectors(rows: np.ndarray, width: int, here: np.ndarray) -> np.ndarray:
    """32-byte sectors of cp.async.cg; a sector that goes to two 128-byte lines of shared memory is requested twice.

    Measured on an H200 for whole kernels: ampere/03_padded, whose rows of 144 bytes split every other row's sectors.
    """
    found = []
    for row, use in zip(rows, here, strict=True):
        source, to, *reads = row.reshape(-1, 32)
        read = use[:32] & (reads[0] > 0) if reads else use[:32]
        found.append(len(set(zip((source[read] // 32).tolist(), (to[read] // 128).tolist(), strict=True))))
    return np.array(found)


_COST = {
    "copy sectors": _copy_sectors,
    "shared": lambda rows, width, here: wavefronts(rows, width, here),
    "load": lambda rows, width, here: load_wavefronts(rows, width, here),
    "ideal load": _ideal_load,
    "ideal cg": _ideal_cg,
    "ca": _copies(cp_async_ca_wavefronts),
    "cg": _copies(lambda of, to, width, use, reads: cp_async_cg_wavefronts(of, to, use)),
    "cg zfill": _copies(lambda of, to, width, use, reads: cp_async_cg_zfill_wavefronts(of, to, use)),
    "cg if": _copies(lambda of, to, width, use, reads: cp_async_cg_predicated_wavefronts(of, to, reads, use)),
    "cg unless": _copies(lambda of, to, width, use, reads: cp_async_cg_predicated_wavefronts(of, to, ~reads, use)),
    "sectors": lambda rows, width, here: sectors(rows, width, here),
}


def row_hashes(rows: np.ndarray) -> np.ndarray:
    """(rows,) a hash of each row of int64 numbers, at most 96 in a row."""
    return rows @ _HASH[: rows.shape[1]]


def row_costs(kind: str, width: int, rows: np.ndarray) -> np.ndarray:
    """(rows,) the cost of each row of addresses. kind: a key of `_COST`; inactive lanes have the address NOT_ACTIVE."""
    return _COST[kind](rows, width, rows != NOT_ACTIVE)


def based(addresses: np.ndarray, active: np.ndarray | None, unit: int) -> np.ndarray:
    """(warps, lanes) addresses relative to the first active lane's address, cut to a multiple of `unit` bytes."""
    known = addresses[:, :1] if active is None else np.where(active, addresses, np.int64(1 << 62))
    base = known.min(1, keepdims=True)
    return addresses - (base & np.int64(-unit))


def count_shared(resident, counts: SiteCounts, lanes, address, active, width: int, kind: str = "shared") -> None:
    """Count one shared-memory request of each warp. address: (lanes,) or scalar; active: (lanes,) bool or None."""
    rows = np.broadcast_to(address, lanes.n).astype(np.int64).reshape(lanes.warps, 32)
    use = None if active is None else active.reshape(lanes.warps, 32)
    per_warp = np.full(lanes.warps, 32) if use is None else use.sum(1)
    patterns, relative = resident.launch.patterns, based(rows, use, 4)
    counts.wavefronts += patterns.total(kind, width, relative, use)
    counts.ideal += (
        patterns.total("ideal load", width, relative, use)
        if kind == "load" and width > 4
        else int(ideal_wavefronts(per_warp, width).sum())
    )
    counts.requests += int((per_warp > 0).sum())
    counts.bytes += int(per_warp.sum()) * width


def sectors_of(resident, lanes, address, active, width: int) -> tuple[int, int, int]:
    """(sectors, requests, bytes) of one global-memory request of each warp."""
    rows = np.broadcast_to(address, lanes.n).astype(np.int64).reshape(lanes.warps, 32)
    use = None if active is None else active.reshape(lanes.warps, 32)
    per_warp = np.full(lanes.warps, 32) if use is None else use.sum(1)
    total = resident.launch.patterns.total("sectors", width, based(rows, use, 32), use)
    return total, int((per_warp > 0).sum()), int(per_warp.sum()) * width
