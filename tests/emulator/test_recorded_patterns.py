"""Shared-memory wavefronts of one-instruction kernels: the emulator beside Nsight Compute on an H200.

results/profiles/h200/patterns.csv holds what ncu counted for every pattern of `measure.recordings`. All must agree,
but for cp.async.ca with scattered addresses or zero fill, where the report gives a range.
"""

import csv
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest

from gemm_lab import compiler, emulator
from gemm_lab.config import data_dir
from gemm_lab.measure import patterns
from gemm_lab.measure.recordings import Recording, recordings
from gemm_lab.model import banks


class Row(NamedTuple):
    """A pattern, what the emulator counted and what the H200 did."""

    recording: Recording
    counted: emulator.report.Totals
    wavefronts: int
    ideal: int

    @property
    def is_tile(self) -> bool:
        return "rows," in self.recording.pattern.name


@lru_cache(maxsize=1)
def rows() -> list[Row]:
    with (data_dir("results") / "profiles" / "h200" / "patterns.csv").open(newline="") as file:
        recorded = {(row["instruction"], row["pattern"], row["seed"]): row for row in csv.DictReader(file)}
    found = []
    for recording in recordings():
        row = recorded.pop(recording.key, None)
        if row is None:
            continue
        compiled = compiler.compile(recording.source, arch="sm_90a", name="pattern")
        totals = emulator.launch(compiled, "gemm", 1, 32, recording.arguments()).totals
        found.append(Row(recording, totals, int(row["wavefronts"]), int(row["ideal_wavefronts"])))
    assert not recorded, "every recorded pattern can be made again"
    return found


def instruction(*names: str, but: str = "-") -> list[Row]:
    return [row for row in rows() if row.recording.instruction.startswith(names)
            and but not in row.recording.instruction]


def exact(row: Row) -> bool:
    t = row.counted
    return t.wavefronts_low == t.wavefronts == t.wavefronts_high == row.wavefronts and t.ideal_wavefronts == row.ideal


@pytest.mark.parametrize(("names", "at_least"), [
    (("ld.shared", "st.shared"), 570), (("ldmatrix", "stmatrix"), 570), (("wmma",), 148), (("cp.async.cg.16",), 471),
])
def test_every_pattern_is_exact(names, at_least):
    chosen = instruction(*names)
    if names[0].startswith("cp.async"):
        chosen = [row for row in chosen if not row.recording.instruction.endswith("zfill")]
    assert [row.recording.key for row in chosen if not exact(row)] == []
    assert len(chosen) >= at_least


def test_tiles_are_exact_and_said_to_be():
    chosen = [row for row in instruction("cp.async", but="zfill") if row.is_tile]
    assert [row.recording.key for row in chosen if not exact(row)] == []
    assert len(chosen) >= 480


def in_range(row: Row) -> bool:
    return row.counted.wavefronts_low <= row.wavefronts <= row.counted.wavefronts_high


def test_scattered_ca_lies_in_its_range():
    chosen = [row for row in instruction("cp.async.ca", but="zfill") if not row.is_tile]
    assert np.mean([in_range(row) for row in chosen]) >= 0.95 and len(chosen) >= 300
    width = [row.counted.wavefronts_high - row.counted.wavefronts_low for row in chosen]
    assert np.mean(width) < 0.15 * np.mean([row.wavefronts for row in chosen]), "a range that says something"
    assert all(row.counted.ideal_wavefronts == row.ideal for row in chosen)


def test_zero_fill():
    """With a length that ptxas does not know, .cg is exact; .ca lies in its range."""
    for row in instruction("cp.async.cg.16.zfill"):
        assert in_range(row) and row.counted.wavefronts == row.wavefronts and row.counted.ideal_wavefronts == row.ideal
    ca = instruction("cp.async.ca.16.zfill")
    assert all(in_range(row) and row.counted.ideal_wavefronts == row.ideal for row in ca) and len(ca) >= 27


@pytest.mark.parametrize("instruction_", ["cp.async.cg.16.zfill", "cp.async.cg.16.select"])
def test_the_emulator_knows_when_ptxas_sets_zfill(instruction_):
    """The ideal of ZFILL is 8, that of a plain copy of 16 bytes a lane 4."""
    compiled = compiler.compile(patterns.kernel_source(instruction_), arch="sm_90a", name="pattern")
    zfill = any("ZFILL" in line.opcode for line in compiler.disassemble(compiled))
    assert zfill == instruction_.endswith("zfill")
    lane = np.arange(32, dtype=np.uint32) * 16
    arguments = [lane, lane, np.zeros(512, np.uint8), np.zeros(32, np.uint32), np.full(32, 16, np.uint32)]
    assert emulator.launch(compiled, "gemm", 1, 32, arguments).totals.ideal_wavefronts == (8 if zfill else 4)


def disagreements(rule, chosen: list[Row]) -> int:
    return sum(rule(row.recording.pattern) != row.wavefronts for row in chosen)


def test_other_models_of_the_copies_would_be_noticed():
    """The bank model of stores, and the rules that were believed before, fail on many recordings."""
    def stores(pattern):
        return banks.wavefronts(pattern.shared[None].astype(int), 16)[0]

    def lines(pattern):
        return len(set(zip(pattern.source // 128, pattern.shared // 128, strict=True)))

    def by_xor(pattern):
        return len(set(zip(pattern.source // 128, pattern.shared // 128,
                           (pattern.source // 16 ^ pattern.shared // 16) % 8, strict=True)))

    cg = [row for row in instruction("cp.async.cg.16", but=".16.")]
    assert min(disagreements(rule, cg) for rule in (stores, lines, by_xor)) > 50
    ca = [row for row in instruction("cp.async.ca.16", but=".16.")]
    assert disagreements(stores, ca) > 80


def test_other_models_of_reads_and_writes_would_be_noticed():
    matrices = instruction("ldmatrix.x4")
    assert sum(row.wavefronts != 4 for row in matrices) > 50
    assert len({row.wavefronts for row in matrices}) >= 5, "the recordings tell layouts apart"
    loads = instruction("ld.shared.v4")
    unjoined = [banks.wavefronts(row.recording.pattern.shared[None].astype(int), 16)[0] for row in loads]
    assert sum(a != row.wavefronts for a, row in zip(unjoined, loads, strict=True)) >= 3
