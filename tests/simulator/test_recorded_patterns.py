"""Shared-memory wavefronts of one-instruction kernels: the simulator beside Nsight Compute on an H200.

results/profiles/h200/patterns.csv holds what ncu counted for every pattern of `tools.recording.wmma_patterns.all_recordings`. All must agree.
The tests that count them all launch thousands of kernels, which takes long; the quick ones look at every 16th.
"""

import csv
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest

import gpu_simulator
from gemm_lab import compiling
from gemm_lab.config import data_dir
from gemm_lab_lessons.shared import copy_patterns, patterns
from gemm_lab_lessons.shared.recordings import Recording
from gpu_simulator import compiler
from gpu_simulator.hardware import banks
from tools.recording.wmma_patterns import all_recordings

COUNTS = "wavefronts", "ideal_wavefronts", "hardware_wavefronts"


class Row(NamedTuple):
    """A pattern, what the simulator counted and what the H200 did: for the instruction and for the whole kernel."""

    recording: Recording
    counted: gpu_simulator.report.Totals
    wavefronts: int
    ideal: int
    whole_kernel: int

    @property
    def is_tile(self) -> bool:
        return "rows," in self.recording.pattern.name


@lru_cache
def rows(every: int = 1) -> list[Row]:
    with (data_dir("results") / "profiles" / "h200" / "patterns.csv").open(newline="") as file:
        recorded = {(row["instruction"], row["pattern"], row["seed"]): row for row in csv.DictReader(file)}
    found, made = [], [(recording, row) for recording in all_recordings() if (row := recorded.pop(recording.key, None))]
    assert not recorded, "every recorded pattern can be made again"
    for recording, row in made[::every]:
        compiled = compiling.compile(recording.source, arch="sm_90a", name="pattern")
        totals = gpu_simulator.launch(compiled, "gemm", 1, 32, recording.arguments()).totals
        found.append(Row(recording, totals, *(int(row[name]) for name in COUNTS)))
    return found


def instruction(*names: str, but: str = "-") -> list[Row]:
    return [
        row for row in rows() if row.recording.instruction.startswith(names) and but not in row.recording.instruction
    ]


def exact(row: Row) -> bool:
    return row.counted.wavefronts == row.wavefronts and row.counted.ideal_wavefronts == row.ideal


def test_a_sample_of_the_patterns_is_exact():
    chosen = rows(every=16)
    assert [row.recording.key for row in chosen if not exact(row)] == []
    for kind in ("ld.shared", "st.shared", "ldmatrix", "wmma", "cp.async.cg", "cp.async.ca"):
        assert sum(row.recording.instruction.startswith(kind) for row in chosen) >= 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("names", "at_least"),
    [
        (("ld.shared", "st.shared"), 570),
        (("ldmatrix", "stmatrix"), 570),
        (("wmma",), 148),
        (("cp.async.cg.16",), 543),
        (("cp.async.ca",), 1050),
    ],
)
def test_every_pattern_is_exact(names, at_least):
    chosen = instruction(*names)
    assert [row.recording.key for row in chosen if not exact(row)] == []
    assert len(chosen) >= at_least


@pytest.mark.long
def test_every_kind_of_copy_is_recorded():
    """Tiles, scattered addresses, and each form that may fill with zeros."""
    copies = instruction("cp.async")
    assert sum(row.is_tile for row in copies) >= 694
    assert sum(not row.is_tile for row in instruction("cp.async.ca")) >= 610
    for form in (".zfill", ".select"):
        assert (
            min(
                sum(row.recording.instruction == f"cp.async.{kind}.16{form}" for row in copies) for kind in ("ca", "cg")
            )
            >= 36
        )
    assert len(rows()) >= 2881


COPY = "cp.async.cg.shared.global [%0], [%1], 16"
SELECT = "{{.reg .pred p; .reg .b32 s; setp.{0} p, %2, {1}; selp.b32 s, {2}, p; " + COPY + ", s;}}"
IGNORE = "{{.reg .pred p; setp.{0} p, %2, {1}; " + COPY + ", p;}}"
TWO = (
    "{{.reg .pred p, q; .reg .b32 s; setp.lt.s32 p, %2, {1}; setp.{0} q, %2, {1}00, p; selp.b32 s, {2}, q; "
    + COPY
    + ", s;}}"
)
COMPARISONS = ("ne.s32", "eq.s32", "lt.s32", "le.s32", "gt.u32", "ge.u32", "lt.u32", "lo.u32", "hs.u32")
WAVEFRONTS = {"plain": 15, "as a store": 8, "zfill": 27}  # of rows of 80 bytes, as recorded


def copies_of_every_form() -> list[str]:
    """PTX of copies whose length is a register, a constant, ignore-src, or chosen by selp after a comparison."""
    found = [f"{COPY}, {length};" for length in ("%2", "16", "8", "0")]
    made = [
        (form, compare, order)
        for compare in COMPARISONS
        for form in (SELECT, IGNORE)
        for order in ("16, 0", "0, 16")[: 2 if form is SELECT else 1]
    ]
    made += [(TWO, compare, order) for compare in ("lt.and.s32", "ge.or.u32") for order in ("16, 0", "0, 16")]
    # Every comparison with another number, or ptxas would compute two of them at once.
    return found + [form.format(compare, 3 + n, order) for n, (form, compare, order) in enumerate(made)]


def test_the_simulator_knows_what_ptxas_makes_of_a_length():
    """ZFILL, or a predicate that is or is not set where lanes copy: Nsight Compute counts each in another way."""
    every, source = copies_of_every_form(), patterns.kernel_source("cp.async.cg.16.zfill")
    line = next(line for line in source.split("\n") if COPY in line)
    source = source.replace(line, "\n".join(line.replace(f"{COPY}, %2;", copy) for copy in every))
    compiled = compiling.compile(source, arch="sm_90a", name="pattern")
    sass = [line.text for line in compiler.disassemble(compiled) if "LDGSTS" in line.text]
    shared, global_ = copy_patterns.tile(16, 64, 16, "padded", 1024)
    arguments = [
        shared.astype(np.uint32),
        global_.astype(np.uint32),
        np.ones(1 << 15, np.uint8),
        np.zeros(32, np.uint32),
        np.full(32, 16, np.uint32),
    ]
    report = gpu_simulator.launch(compiled, "gemm", 1, 32, arguments)
    forms = []
    for copy, text, site in zip(
        every, sass, [s for s in report.sites if s.opcode.startswith("cp.async.cg")], strict=True
    ):
        predicate = text.rstrip(" ;").rsplit(", ")[-1]
        forms.append("zfill" if "ZFILL" in text else "plain")
        if forms[-1] == "plain" and "P" in predicate and (site.sectors == 0) == predicate.startswith("!"):
            forms[-1] = "as a store"
        assert site.wavefronts == WAVEFRONTS[forms[-1]], (copy, text)
    assert forms.count("zfill") == 2 and min(forms.count("plain"), forms.count("as a store")) > 8


def disagreements(rule, chosen: list[Row]) -> int:
    return sum(rule(row.recording.pattern) != row.wavefronts for row in chosen)


def stores(pattern) -> int:
    return banks.wavefronts(pattern.shared[None].astype(int), 16)[0]


@pytest.mark.long
def test_other_models_of_cg_would_be_noticed():
    """The bank model of stores, and the rules that were believed before, fail on many recordings."""

    def lines(pattern):
        return len(set(zip(pattern.source // 128, pattern.shared // 128, strict=True)))

    def by_xor(pattern):
        return len(
            set(
                zip(
                    pattern.source // 128,
                    pattern.shared // 128,
                    (pattern.source // 16 ^ pattern.shared // 16) % 8,
                    strict=True,
                )
            )
        )

    cg = [row for row in instruction("cp.async.cg.16", but=".16.")]
    assert min(disagreements(rule, cg) for rule in (stores, lines, by_xor)) > 50


@pytest.mark.long
def test_other_models_of_ca_would_be_noticed():
    """Stores, queues at the banks of both sides, one queue in the order of the lanes, an arbiter that wastes nothing."""

    def sides(pattern):
        return np.array([pattern.source, pattern.shared]).astype(int).reshape(2, 4, 8) // 16 % 8

    def both_queues(pattern):
        return sum(max(np.bincount(side).max() for side in phase) for phase in sides(pattern).transpose(1, 0, 2))

    def one_after_the_other(pattern):
        return sum(sum(np.bincount(side).max() for side in phase) - 1 for phase in sides(pattern).transpose(1, 0, 2))

    def in_order(pattern):
        total = 0
        for of, to in sides(pattern).transpose(1, 0, 2):
            turns = []
            for lane in range(8):
                rivals = (turns[n] for n in range(lane) if of[n] == of[lane] or to[n] == to[lane])
                turns.append(max(rivals, default=-1) + 1)
            total += max(turns) + 1
        return total

    def first_fit(pattern):
        total = 0
        for of, to in sides(pattern).transpose(1, 0, 2):
            turns = []
            for lane in range(8):
                taken = {turns[n] for n in range(lane) if of[n] == of[lane] or to[n] == to[lane]}
                turns.append(min(set(range(8)) - taken))
            total += max(turns) + 1
        return total

    ca = [row for row in instruction("cp.async.ca.16", but=".16.")]
    wrong = {
        rule.__name__: disagreements(rule, ca)
        for rule in (stores, both_queues, one_after_the_other, in_order, first_fit)
    }
    assert min(wrong.values()) > 40, wrong


@pytest.mark.long
def test_other_models_of_copies_that_may_fill_with_zeros_would_be_noticed():
    """Counted as the same copy without a length, both forms of .cg fail; .ca fails if lanes that fill want the source."""

    def plain(row):
        p = row.recording.pattern
        return banks.cp_async_cg_wavefronts(p.source, p.shared) != row.wavefronts

    def reading(row):
        p = row.recording.pattern
        return banks.cp_async_ca_wavefronts(p.source, p.shared, 16) != row.wavefronts

    assert sum(map(plain, instruction("cp.async.cg.16.select"))) >= 17
    assert sum(map(plain, instruction("cp.async.cg.16.zfill"))) == len(instruction("cp.async.cg.16.zfill"))
    assert sum(map(reading, instruction("cp.async.ca.16.zfill", "cp.async.ca.16.select"))) >= 8


@pytest.mark.long
def test_the_counter_of_the_whole_kernel_says_something_else_of_copies():
    """It does not depend on the addresses of .cg, nor on ZFILL: Nsight Compute's count of an instruction does."""
    cg = instruction("cp.async.cg.16", but=".16.")
    assert {row.whole_kernel for row in cg} == {4} and len({row.wavefronts for row in cg}) > 10
    for kind in ("ca", "cg"):
        counts = [
            {row.recording.pattern.name: row.whole_kernel for row in instruction(f"cp.async.{kind}.16.{form}")}
            for form in ("zfill", "select")
        ]
        shared = counts[0].keys() & counts[1].keys()
        assert len(shared) >= 36 and all(counts[0][name] == counts[1][name] for name in shared)


@pytest.mark.long
def test_other_models_of_reads_and_writes_would_be_noticed():
    matrices = instruction("ldmatrix.x4")
    assert sum(row.wavefronts != 4 for row in matrices) > 50
    assert len({row.wavefronts for row in matrices}) >= 5, "the recordings tell layouts apart"
    loads = instruction("ld.shared.v4")
    unjoined = [banks.wavefronts(row.recording.pattern.shared[None].astype(int), 16)[0] for row in loads]
    assert sum(a != row.wavefronts for a, row in zip(unjoined, loads, strict=True)) >= 3
