"""What each instruction cost: wavefronts, sectors, bytes. Patterns of addresses are counted once and remembered."""

from __future__ import annotations

import numpy as np

from gemm_lab.model.banks import (
    cp_async_ca_wavefronts,
    cp_async_cg_wavefronts,
    ideal_wavefronts,
    joined_phases,
    load_wavefronts,
    sectors,
    wavefronts,
)

_NOT_ACTIVE = np.int64(-(1 << 40))
_HASH = np.random.default_rng(20260101).integers(1, 1 << 62, 96, dtype=np.int64) | 1


class SiteCounts:
    """Counters of one instruction, and what it remembers of its last addresses.

    below, above: how far the wavefronts may lie under and over the count, where the rule is not exact.
    """

    __slots__ = ("wavefronts", "below", "above", "ideal", "sectors", "requests", "bytes", "cache", "executed")

    def __init__(self):
        self.wavefronts = self.below = self.above = 0
        self.ideal = self.sectors = self.requests = self.bytes = self.executed = 0
        self.cache: dict = {}


class Patterns:
    """Remembers the cost of every pattern of addresses, relative to where it begins."""

    def __init__(self):
        self.known: dict = {}

    def total(self, kind: str, width: int, relative: np.ndarray, active: np.ndarray | None):
        """The sum over warps: an int, of cp.async a list [low, likely, high].

        relative: (warps, lanes) int64 from a base that keeps the cost the same.
        """
        rows = relative if active is None else np.where(active, relative, _NOT_ACTIVE)
        hashes = rows @ _HASH[: rows.shape[1]]
        known = self.known.setdefault((kind, width, rows.shape[1]), {})
        if (hashes == hashes[0]).all():
            unique, first, counts = hashes[:1], np.zeros(1, np.int64), (len(hashes),)
        else:
            unique, first, counts = np.unique(hashes, return_index=True, return_counts=True)
        missing = [n for n, h in enumerate(unique.tolist()) if h not in known]
        if missing:
            chosen = rows[first[missing]]
            here = chosen != _NOT_ACTIVE
            for n, cost in zip(missing, _COST[kind](chosen, width, here).tolist(), strict=True):
                known[int(unique[n])] = cost
        if kind in _RANGES:
            return np.dot(counts, [known[h] for h in unique.tolist()]).tolist()
        return sum(known[h] * int(c) for h, c in zip(unique.tolist(), counts, strict=True))


def _copies(rule):
    """The cost of cp.async: a row holds the source, the destination and perhaps (1 or 0) whether each lane reads."""

    def cost(rows: np.ndarray, width: int, here: np.ndarray) -> np.ndarray:
        found = []
        for row, use in zip(rows, here, strict=True):
            source, to, *reads = row.reshape(-1, 32)
            found.append(rule(source, to, width, use[:32], reads[0] > 0 if reads else None))
        return np.array(found)

    return cost


def _cg(source, destination, width, active, reads):
    exact = cp_async_cg_wavefronts(source, destination, active)
    return exact, exact, exact


def _cg_zfill(source, destination, width, active, reads):
    """Nsight Compute counts the copy with ZFILL both as one that passes L1 by and as one that does not."""
    both = cp_async_cg_wavefronts(source, destination, active)
    return [both + count for count in cp_async_ca_wavefronts(source, destination, width, active)]


def _ca_zfill(source, destination, width, active, reads):
    """Between the count in which lanes that fill with zeros want no bank of the source, and that in which they do."""
    without, with_ = (cp_async_ca_wavefronts(source, destination, width, active, r) for r in (reads, None))
    return without.low, without.likely, max(with_.high, without.high)


def _ideal_load(rows: np.ndarray, width: int, here: np.ndarray) -> np.ndarray:
    plain = ideal_wavefronts(here.sum(1), width)
    if width < 8:
        return plain
    joined = joined_phases(rows, width, here)
    return np.minimum(plain, ideal_wavefronts(32, width) - joined.sum(1))


def _ideal_cg(rows: np.ndarray, width: int, here: np.ndarray) -> np.ndarray:
    written = (row[32:64][use[32:64]] for row, use in zip(rows, here, strict=True))
    return np.array([-(-len(np.unique(places)) * width // 128) for places in written])


_COST = {
    "shared": lambda rows, width, here: wavefronts(rows, width, here),
    "load": lambda rows, width, here: load_wavefronts(rows, width, here),
    "ideal load": _ideal_load,
    "ideal cg": _ideal_cg,
    "ca": _copies(cp_async_ca_wavefronts),
    "ca zfill": _copies(_ca_zfill),
    "cg": _copies(_cg),
    "cg zfill": _copies(_cg_zfill),
    "sectors": lambda rows, width, here: sectors(rows, width, here),
}
_RANGES = ("ca", "ca zfill", "cg", "cg zfill")


def based(addresses: np.ndarray, active: np.ndarray | None, unit: int) -> np.ndarray:
    """(warps, lanes) addresses relative to the first active lane's address, cut to a multiple of `unit` bytes."""
    known = addresses[:, :1] if active is None else np.where(active, addresses, np.int64(1 << 62))
    base = known.min(1, keepdims=True)
    return addresses - (base & np.int64(-unit))


def count_shared(chunk, site: SiteCounts, L, address, active, width: int, kind: str = "shared") -> None:
    """Add one shared-memory request a warp. address: (lanes,) or scalar; active: (lanes,) bool or None."""
    rows = np.broadcast_to(address, L.n).astype(np.int64).reshape(L.warps, 32)
    use = None if active is None else active.reshape(L.warps, 32)
    per_warp = np.full(L.warps, 32) if use is None else use.sum(1)
    patterns, relative = chunk.launch.patterns, based(rows, use, 4)
    site.wavefronts += patterns.total(kind, width, relative, use)
    site.ideal += (
        patterns.total("ideal load", width, relative, use)
        if kind == "load" and width > 4
        else int(ideal_wavefronts(per_warp, width).sum())
    )
    site.requests += int((per_warp > 0).sum())
    site.bytes += int(per_warp.sum()) * width


def sectors_of(chunk, L, address, active, width: int) -> tuple[int, int, int]:
    """(sectors, requests, bytes) of one global-memory request a warp."""
    rows = np.broadcast_to(address, L.n).astype(np.int64).reshape(L.warps, 32)
    use = None if active is None else active.reshape(L.warps, 32)
    per_warp = np.full(L.warps, 32) if use is None else use.sum(1)
    total = chunk.launch.patterns.total("sectors", width, based(rows, use, 32), use)
    return total, int((per_warp > 0).sum()), int(per_warp.sum()) * width
