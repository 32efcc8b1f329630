"""Races on shared memory, uninitialised reads and missing waits, found by what happens before what.

Every warp of a block keeps a vector clock; a barrier joins the clocks of those who meet at it. Every granule of shared
memory (the narrowest access of the kernel) remembers its last write and each warp's last read. An access that is not
ordered after the others' is a race, whichever way it came out here. A cp.async is an agent of its own: what it writes
may be touched by nobody until the thread that issued it has waited.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gemm_lab.emulator.declarations import BYTES
from gemm_lab.emulator.ir import Vector

_ORDERED = {"volatile", "relaxed", "acquire", "release", "acq_rel"}


@dataclass(frozen=True)
class Hazard:
    """One finding. kind: "race", "uninitialised read", "missing wait" or "divergent barrier"; `line`: of the PTX."""

    kind: str
    message: str
    line: int

    def __str__(self) -> str:
        return self.message


class Hazards:
    """The findings of a launch, one for each kind and pair of instructions."""

    def __init__(self, launch):
        self.launch, self.found, self._seen = launch, [], set()
        self.granule = granule_of(launch.program)

    def chunk(self, chunk):
        return ChunkHazards(chunk, self)

    def add(self, kind: str, k: int, other: int, sentence) -> None:
        key = (kind, k, other)
        if key not in self._seen:
            self._seen.add(key)
            self.found.append(Hazard(kind, sentence(), self.launch.program.sites[k].line))


def granule_of(program) -> int:
    """The narrowest access to shared memory that the kernel may make, in bytes, 1 to 16."""
    narrowest = 16
    for item in program.sites:
        if item.family in ("ld", "st", "atom", "red"):
            if not {"global", "const", "local", "param"} & set(item.parts):
                count = max([len(o.items) for o in item.operands if type(o) is Vector] or [1])
                count = 1 if item.family in ("atom", "red") else count
                narrowest = min(narrowest, BYTES[item.parts[-1]] * count)
        elif item.family == "wmma":
            narrowest = min(narrowest, BYTES[item.parts[-1]])
        elif item.family == "cp" and item.operands and len(item.operands) > 2:
            narrowest = min(narrowest, int(item.operands[2].text, 0))
    return narrowest


class ChunkHazards:
    """Clocks and last accesses of the blocks of one chunk."""

    def __init__(self, chunk, report: Hazards):
        self.chunk, self.report, self.granule = chunk, report, report.granule
        self.own = chunk.warps_per_block
        count = len(chunk.shared.data) // self.granule
        self.vc = np.zeros((chunk.warps, self.own), np.int32)
        self.local = np.arange(chunk.warps) % self.own
        self.vc[np.arange(chunk.warps), self.local] = 1
        self.write_warp = np.zeros(count, np.int32)
        self.write_clock = np.zeros(count, np.int32)
        self.write_site = np.zeros(count, np.int32)
        self.read_clock = np.zeros((count, self.own), np.int32)
        self.read_site = np.zeros(count, np.int32)
        self.atomic_write = np.zeros(count, bool)
        self.pending = np.zeros(count, bool)
        self.any_pending = self.any_atomic = False
        self.copies: list = []
        # With one warp a block nothing races; only uninitialised reads and missing waits are left.
        self.single = self.own == 1
        self.ordered = [bool(_ORDERED & set(item.parts)) for item in chunk.program.sites]

    # ---- Accesses ----

    def _cells(self, L, index, picked, width: int):
        """(granules (lanes, parts), warps (lanes, 1)) of an access."""
        lanes = L.lane_numbers()
        lanes = lanes if picked is None else lanes[picked]
        parts = width // self.granule
        cells = np.broadcast_to(index, len(lanes))[:, None] * parts
        if parts > 1:
            cells = cells + np.arange(parts)
        return cells, (lanes >> 5)[:, None]

    def _report(self, kind, k, bad, cells, warps, other_sites, sentence):
        at = np.argwhere(bad)[0]
        cell = int(cells[tuple(at)])
        other = int(other_sites[cell]) if other_sites is not None else -1
        chunk, describe, sites = self.chunk, self.chunk.launch.describe, self.chunk.program.sites
        warp = int(warps[at[0], 0])
        block = chunk.name_lane(warp * 32).split(", thread")[0]
        offset = cell * self.granule % chunk.shared_stride
        self.report.add(
            kind,
            k,
            other,
            lambda: sentence.format(
                here=describe(sites[k]),
                other=describe(sites[other]) if other >= 0 else "",
                block=block,
                warp=warp % self.own,
                address=offset,
                other_warp=int(self.write_warp[cell]) % self.own,
            ),
        )

    def _check_pending(self, k, cells, warps):
        if self.any_pending:
            bad = self.pending[cells]
            if bad.any():
                self._report(
                    "missing wait",
                    k,
                    bad,
                    cells,
                    warps,
                    self.write_site,
                    "{here}: {block}, warp {warp} touches shared address {address} "
                    "while a cp.async may still be writing it "
                    "({other}); it needs commit_group and wait_group before the barrier.",
                )

    def _check_write_order(self, k, cells, warps, verb: str):
        clock = self.write_clock[cells]
        known = self.vc[warps, self.write_warp[cells] % self.own]
        bad = (clock > known) & (self.write_warp[cells] != warps)
        if bad.any():
            self._report(
                "race",
                k,
                bad,
                cells,
                warps,
                self.write_site,
                "{here}: {block}, warp {warp} "
                + verb
                + " shared address {address}, which warp {other_warp} wrote at {other} "
                "with no barrier between them.",
            )

    def _check_read_order(self, k, cells, warps):
        bad = (self.read_clock[cells] > self.vc[warps]).any(2)
        if bad.any():
            self._report(
                "race",
                k,
                bad,
                cells,
                warps,
                self.read_site,
                "{here}: {block}, warp {warp} writes shared address {address}, which another warp read at {other} "
                "with no barrier between them.",
            )

    def read(self, L, k: int, index, picked, width: int) -> None:
        cells, warps = self._cells(L, index, picked, width)
        fresh = self.write_clock[cells] == 0
        self._check_pending(k, cells, warps)
        if fresh.any():
            self._report(
                "uninitialised read",
                k,
                fresh,
                cells,
                warps,
                None,
                "{here}: {block}, warp {warp} reads shared address {address}, which nothing has written.",
            )
        if self.single or self.ordered[k]:
            return
        self._check_write_order(k, cells, warps, "reads")
        self.read_clock[cells, self.local[warps]] = self.vc[warps, self.local[warps]]
        self.read_site[cells] = k

    def write(self, L, k: int, index, picked, width: int) -> None:
        cells, warps = self._cells(L, index, picked, width)
        self._check_pending(k, cells, warps)
        if not self.single and not self.ordered[k]:
            self._check_write_order(k, cells, warps, "writes")
            self._check_read_order(k, cells, warps)
        self._written(k, cells, warps)

    def _written(self, k, cells, warps):
        self.write_warp[cells] = warps
        self.write_clock[cells] = 1 if self.ordered[k] else self.vc[warps, self.local[warps]]
        self.write_site[cells] = k
        if self.any_atomic:
            self.atomic_write[cells] = False

    def atomic(self, L, k: int, index, picked, width: int) -> None:
        """Atomics are ordered among themselves, and race with plain accesses."""
        cells, warps = self._cells(L, index, picked, width)
        self._check_pending(k, cells, warps)
        fresh = self.write_clock[cells] == 0
        if fresh.any():
            self._report(
                "uninitialised read",
                k,
                fresh,
                cells,
                warps,
                None,
                "{here}: {block}, warp {warp} updates shared address {address}, which nothing has written.",
            )
        if not self.single:
            plain = ~self.atomic_write[cells]
            clock = np.where(plain, self.write_clock[cells], 0)
            bad = (clock > self.vc[warps, self.write_warp[cells] % self.own]) & (self.write_warp[cells] != warps)
            if bad.any():
                self._report(
                    "race",
                    k,
                    bad,
                    cells,
                    warps,
                    self.write_site,
                    "{here}: {block}, warp {warp} updates shared address {address}, "
                    "which warp {other_warp} wrote at {other} "
                    "with no barrier between them.",
                )
            self._check_read_order(k, cells, warps)
        self._written(k, cells, warps)
        self.atomic_write[cells] = True
        self.any_atomic = True

    # ---- cp.async ----

    def copy(self, L, k: int, index, picked, width: int) -> None:
        cells, warps = self._cells(L, index, picked, width)
        self._check_pending(k, cells, warps)
        if not self.single:
            self._check_write_order(k, cells, warps, "writes")
            self._check_read_order(k, cells, warps)
        self._written(k, cells, warps)
        self.pending[cells] = True
        self.any_pending = True
        lanes = L.lane_numbers()
        lanes = lanes if picked is None else lanes[picked]
        self.copies.append((lanes, cells, self.chunk.groups.committed[lanes].copy()))

    def wait(self, bound: np.ndarray) -> None:
        """Copies of groups before `bound` (by lane) have landed."""
        left = []
        for lanes, cells, group in self.copies:
            done = group < bound[lanes]
            if done.any():
                landed, warps = cells[done], (lanes[done] >> 5)[:, None]
                self.pending[landed] = False
                self.write_clock[landed] = self.vc[warps, self.local[warps]]
            if not done.all():
                left.append((lanes[~done], cells[~done], group[~done]))
        self.copies = left
        self.any_pending = bool(left)

    # ---- Barriers ----

    def everyone(self) -> None:
        """All threads of all blocks of the chunk met."""
        rows = self.vc.reshape(-1, self.own, self.own)
        rows[:] = rows.max(1, keepdims=True)
        self.vc[np.arange(len(self.vc)), self.local] += 1

    def met(self, entries: list, counted: bool) -> None:
        """Some threads of a block met. entries: (lanes, …, code block that follows or None for bar.arrive, site, …)."""
        arrived = np.unique(np.concatenate([e[0] for e in entries]) >> 5)
        waited = np.unique(np.concatenate([e[0] for e in entries if e[2] is not None] or [np.zeros(0, np.int64)]) >> 5)
        joined = self.vc[arrived].max(0)
        self.vc[waited] = np.maximum(self.vc[waited], joined)
        self.vc[arrived, self.local[arrived]] += 1
        sites = sorted({e[3] for e in entries})
        if not counted and len(sites) > 1:
            describe, code = self.chunk.launch.describe, self.chunk.program.sites
            self.report.add(
                "divergent barrier",
                sites[1],
                sites[0],
                lambda: (
                    f"{describe(code[sites[1]])}: threads of one block met at different __syncthreads(); "
                    f"the others stood at "
                    f"{describe(code[sites[0]])}. Every thread of the block must reach the same one."
                ),
            )
