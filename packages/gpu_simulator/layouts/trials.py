"""Tries layouts of the shared arrays of a launch: all recorded accesses to an array, moved, and counted anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_simulator.argument_checks import as_whole, shown
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware.banks import LINE_BYTES
from gpu_simulator.layouts.candidates import Layout, candidates
from gpu_simulator.layouts.recorded_accesses import RecordedAccesses, SharedAccess
from gpu_simulator.layouts.shared_arrays import SharedArray, shared_arrays
from gpu_simulator.machine.counting import NOT_ACTIVE

SHOWN = 5  # layouts that are kept
STRIDES = 3  # distances between lanes that are taken for rows
MOST_WORK = 400_000  # rows of addresses that are counted for one array


@dataclass(frozen=True)
class Trial:
    """A layout and what the accesses to its array would cost. wavefronts: by instruction, as in `Report.sites`."""

    layout: Layout
    wavefronts: Mapping[int, int]

    @property
    def total(self) -> int:
        """Wavefronts of all accesses to the array."""
        return sum(self.wavefronts.values())


@dataclass(frozen=True)
class ArrayStudy:
    """One shared array: its cost as it is, and the layouts that would cost least.

    wavefronts, least: by instruction, as recorded and without bank conflicts.   accesses: to this array.
    best: cheapest first; empty if none costs less.   tried: number of layouts.   why_not: why none was tried, or "".
    """

    array: SharedArray
    wavefronts: Mapping[int, int]
    least: Mapping[int, int]
    accesses: Sequence[SharedAccess] = field(repr=False)
    best: Sequence[Trial] = ()
    tried: int = 0
    why_not: str = ""

    @property
    def total(self) -> int:
        """Wavefronts of all accesses to the array."""
        return sum(self.wavefronts.values())

    @property
    def excess(self) -> int:
        """Wavefronts beyond the least possible."""
        return sum(max(self.wavefronts[site] - self.least[site], 0) for site in self.wavefronts)


def studies(
    report: Any,
    program: Any,
    smem_bytes: int,
    recorded: RecordedAccesses,
    source: str,
    defines: Mapping[str, object] | None = None,
    rows: Mapping[str, int] | None = None,
) -> list[ArrayStudy]:
    """A study of each shared array of a launch, the one with the most excess wavefronts first.

    report: of a launch that `recorded` has observed.   program: its `codegen.program.Program`.   smem_bytes: shared
    memory of a block.   source, defines: the text that declares the arrays.   rows: array -> elements of a row,
    where the declaration does not say it or other rows are meant. Raises `ConfigError` for rows that do not exist.
    """
    accesses = list(recorded.shared())
    arrays = shared_arrays(program, smem_bytes, recorded, source, defines)
    _check_rows(rows or {}, arrays)
    found = [_study(report, array, accesses, (rows or {}).get(array.name), recorded) for array in arrays]
    return sorted(found, key=lambda study: -study.excess)


def _check_rows(rows: Mapping[str, int], arrays: Sequence[SharedArray]) -> None:
    names = list(dict.fromkeys(array.name for array in arrays))
    for name, count in rows.items():
        if name not in names:
            raise ConfigError(f"rows names {shown(name)}; the shared arrays are {', '.join(names) or 'none'}.")
        if (as_whole(count) or 0) < 1:
            raise ConfigError(f"The row of {name} has a positive whole number of elements, not {shown(count)}.")


def _study(
    report: Any, array: SharedArray, every: Sequence[SharedAccess], row: int | None, recorded: RecordedAccesses
) -> ArrayStudy:
    accesses = [access for access in every if ((access.rows >= array.start) & (access.rows < array.end)).any()]
    own = {access.site for access in accesses}
    wavefronts = {site: report.sites[site].wavefronts for site in sorted(own)}
    least = {site: report.sites[site].ideal_wavefronts for site in sorted(own)}
    study = ArrayStudy(array, wavefronts, least, accesses)
    counted = Counter[int]()
    for access in every:
        if access.site in own:
            counted[access.site] += access.wavefronts()
    why = _obstacle(array, accesses, counted == Counter(wavefronts))
    if why or not study.excess:
        return ArrayStudy(array, wavefronts, least, accesses, why_not=why)
    tried, better = 0, []
    work = sum(len(access.rows) for access in accesses)
    for layout in candidates(array, max(access.width for access in accesses), _rows(array, accesses, row)):
        if tried * work > MOST_WORK:
            break
        tried += 1
        trial = _trial(layout, accesses, study.total)
        if trial is not None:
            better.append(trial)
    return ArrayStudy(array, wavefronts, least, accesses, _shortened(better), tried)


def _obstacle(array: SharedArray, accesses: Sequence[SharedAccess], exact: bool) -> str:
    """Why no other layout of an array can be tried, or ""."""
    if array.kept:
        return array.kept
    if any(access.full for access in accesses):
        return "it is accessed in too many different patterns to try others"
    if not exact:
        return "some of its accesses are not those of single addresses, so other layouts cannot be counted here"
    return ""


def _trial(layout: Layout, accesses: Sequence[SharedAccess], limit: int) -> Trial | None:
    """What the accesses cost in another layout; None if that is not less than `limit`."""
    found: Counter[int] = Counter()
    for access in accesses:
        found[access.site] += access.wavefronts(moved(layout, access.rows))
        if found.total() >= limit:
            return None
    return Trial(layout, dict(found))


def moved(layout: Layout, rows: np.ndarray) -> np.ndarray:
    """Shared addresses with those of the layout's array in their new places; what lies behind it moves up."""
    array = layout.array
    inside = (rows >= array.start) & (rows < array.end)
    growth = -(-(layout.bytes - array.size) // LINE_BYTES) * LINE_BYTES
    behind = np.where(rows >= array.end, rows + growth, rows)
    return np.where(inside, array.start + layout.place(rows - array.start), np.where(rows < 0, NOT_ACTIVE, behind))


def _rows(array: SharedArray, accesses: Sequence[SharedAccess], given: int | None) -> list[int]:
    """Bytes of the rows after which padding is tried: as given, or declared, or else what the lanes' distances tell.

    given: elements of a row, or None.
    """
    known = given * array.element_bytes if given else array.row_bytes
    if known:
        return [known]
    distances: Counter[int] = Counter()
    for access in accesses:
        active = (access.rows[:, 1:] >= 0) & (access.rows[:, :-1] >= 0)
        steps = np.where(active, np.abs(np.diff(access.rows, axis=1)), 0)
        for row, count in zip(steps, access.counts.tolist(), strict=True):
            for step, often in Counter(row[row > access.width].tolist()).items():
                distances[step] += often * count
    return [*(step for step, _ in distances.most_common(STRIDES)), LINE_BYTES]


def _shortened(trials: list[Trial]) -> list[Trial]:
    """The best trials: of one kind with equal wavefronts, only the one with the fewest bytes, or the simplest.

    The best padding and the best swizzle are among them.
    """
    ordered = sorted(trials, key=lambda trial: (trial.total, trial.layout.bytes, *trial.layout.order))
    kinds: dict[tuple[int, type], Trial] = {}
    for trial in ordered:
        kinds.setdefault((trial.total, type(trial.layout)), trial)
    best = list(kinds.values())
    first = {type(trial.layout): trial for trial in reversed(best)}.values()
    kept = [*first, *(trial for trial in best if not any(trial is one for one in first))][:SHOWN]
    return [trial for trial in best if any(trial is one for one in kept)]
