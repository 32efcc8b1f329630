"""Compares three counts of the wavefronts of an access: by the bank model, the simulator and Nsight Compute.

from gemm_lab_lessons.shared.three_counts import three_counts
three_counts("ldmatrix.x4", "128-byte rows, plain, column 0", "128-byte rows, xor, column 0")
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from html import escape

import numpy as np

import gpu_simulator
from gemm_lab import compiling
from gemm_lab_lessons.shared.recorded import FOLDER, ROWS, counted
from gemm_lab_lessons.shared.recordings import Recording, recordings
from gemm_look import theme
from gemm_look.card import card, mark
from gemm_look.table import Table
from gemm_results.errors import LabError
from gemm_results.profile import read_rows
from gpu_simulator.argument_checks import checked, shown
from gpu_simulator.hardware import banks

GPU, ARCH = "h200", "sm_90a"
METRIC = "memory_l1_wavefronts_shared"  # ncu counts it for each instruction; its pipe counters exclude cp.async
MOST_ROWS = 24  # a longer table is shown as a sentence


@dataclass(frozen=True)
class WavefrontCounts:
    """The wavefronts of one instruction of one warp. ideal: without bank conflicts."""

    instruction: str
    pattern: str
    ideal: int
    model: int
    simulator: int
    hardware: int

    @property
    def agree(self) -> bool:
        return self.model == self.simulator == self.hardware


class ThreeCounts:
    """A table of wavefronts; `rows` has a `WavefrontCounts` for each access, in the order of the arguments."""

    def __init__(self, rows: list[WavefrontCounts], source: str):
        self.rows, self.source = rows, source

    @property
    def agreeing(self) -> int:
        return sum(row.agree for row in self.rows)

    @property
    def verdict(self) -> str:
        return f"Model, simulator and {self.source.split(',')[0]} agree on {self.agreeing} of {len(self.rows)}."

    def _table(self) -> list[list[str]]:
        return [
            [row.instruction, row.pattern, *map(str, (row.ideal, row.model, row.simulator, row.hardware))]
            for row in self.rows
        ]

    def __repr__(self) -> str:
        if len(self.rows) > MOST_ROWS:
            return self.verdict
        wide = max(len(row.pattern) for row in self.rows)
        head = f"{'instruction':18} {'addresses':{wide}} {'ideal':>6} {'model':>6} {'simulator':>9} {'hardware':>9}"
        lines = [f"{a:18} {b:{wide}} {c:>6} {d:>6} {e:>9} {f:>9}" for a, b, c, d, e, f in self._table()]
        return "\n".join([head, *lines, self.verdict])

    def _repr_html_(self) -> str:
        colour = theme.GOOD if self.agreeing == len(self.rows) else theme.BAD
        agrees = mark(self.agreeing == len(self.rows))
        if len(self.rows) > MOST_ROWS:
            return card(f"{agrees} <b>{escape(self.verdict)}</b><br>{escape(self.source)}", colour)
        header = ["instruction", "addresses of the lanes", "ideal", "model", "simulator", self.source.split(",")[0]]
        caption = f"Wavefronts of one warp. Recorded: {METRIC}, {self.source}."
        verdict = f"<b>{escape(self.verdict)}</b>"
        return card(f"{agrees} {verdict}{Table(header, self._table(), caption, 2).html()}", colour)


@checked
def three_counts(instruction: str | Iterable[str], *patterns: str) -> ThreeCounts:
    """The wavefronts of recorded one-instruction kernels. The simulator runs each of them now.

    instruction  such as "ld.shared.v4.u32", "ldmatrix.x4" or "cp.async.cg.16", or a list of several
    patterns     such as "stride 3" or "128-byte rows, xor, column 0"; by default all that were recorded

    Raises `LabError` for an instruction or a pattern that was not recorded; the message lists similar names.
    """
    every, hardware = _recordings(), counted()
    names = [instruction] if isinstance(instruction, str) else instruction
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        raise LabError(
            "three_counts needs the name of an instruction, such as “ldmatrix.x4”, or a list of names, not "
            f"{shown(instruction)}."
        )
    rows = []
    for name in names:
        known = [pattern for other, pattern in every if other == name]
        if not known:
            raise LabError(f"No kernel with only “{name}” was recorded; {_near(name, {other for other, _ in every})}")
        for pattern in patterns or known:
            if (name, pattern) not in every:
                raise LabError(f"{name} was not recorded with “{pattern}”; {_near(pattern, known)}")
            found = every[name, pattern]
            simulated = _simulated(found)
            counts = modelled(found), simulated.wavefronts, hardware[found.key]
            rows.append(WavefrontCounts(name, pattern, simulated.ideal_wavefronts, *counts))
    return ThreeCounts(rows, source())


def modelled(recording: Recording) -> int:
    """The wavefronts by the model `hardware.banks` for a recording of ld, st, ldmatrix, stmatrix or cp.async."""
    name, pattern = recording.instruction, recording.pattern
    parts = name.split(".")
    shared, source = pattern.shared.astype(np.int64), pattern.source.astype(np.int64)
    active = np.ones(32, bool) if pattern.lengths is None else pattern.lengths > 0
    if parts[0] in ("ldmatrix", "stmatrix"):
        return int(banks.wavefronts(shared[None], 16, (np.arange(32) < ROWS[parts[1]])[None])[0])
    if name.startswith("cp.async.cg"):
        return banks.cp_async_cg_wavefronts(source, shared, active)
    if name.startswith("cp.async.ca"):
        return banks.cp_async_ca_wavefronts(source, shared, int(parts[3]), active)
    count = banks.load_wavefronts if parts[0] == "ld" else banks.wavefronts
    return int(count(shared[None], 4 * int(parts[2][1:]) if parts[2].startswith("v") else 4)[0])


def _simulated(recording: Recording):
    compiled = compiling.compile(recording.source, arch=ARCH, name="pattern")
    return gpu_simulator.launch(compiled, "gemm", 1, 32, recording.arguments()).totals


@lru_cache(maxsize=1)
def _recordings() -> dict[tuple[str, str], Recording]:
    """The first recording of every (instruction, pattern) for which there is a count from the GPU.

    Without wmma, whose addresses the compiler chooses, and without copies in which some lanes fill with zeros.
    """
    found: dict[tuple[str, str], Recording] = {}
    for recording in recordings():
        name = recording.instruction
        one_count = not name.startswith("wmma") and not name.endswith((".zfill", ".select", ".unless"))
        if recording.key in counted() and one_count:
            found.setdefault((recording.instruction, recording.pattern.name), recording)
    return found


@lru_cache(maxsize=1)
def source() -> str:
    """The GPU, the tools and the date of the recordings, as text for a caption."""
    (about,) = read_rows(FOLDER / "about.csv")
    return f"{about['gpu']}, driver {about['driver']}, Nsight Compute {about['ncu']}, on {about['date']}"


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=4, cutoff=0.3) or sorted(known)[:6]
    return f"there are for example {', '.join(f'“{other}”' for other in near)}."
