"""Leaves each idea of a rung out in turn: checked and counted on the simulator, timed on a GPU or read from a file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gemm_lab import catalog
from gemm_lab.ablations import Idea
from gemm_lab.catalog import LadderSpec
from gemm_lab.config import data_dir
from gemm_lab.lab.here import RECORDED_ON, resolve_backend
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_lab.lab.measuring import benchmark_kernels
from gemm_lab.lab.on_simulator import check_on_simulator, smallest_size
from gemm_lab.source_text import parse_settings
from gemm_look.table import ShownAsTable, Table
from gemm_results.ablation import Gain, gain
from gemm_results.errors import LabError
from gemm_results.results import Measurement, path_of, read, with_samples
from gpu_simulator.hardware import data_sheets as hardware


@dataclass(frozen=True)
class Variant:
    """A rung, or the rung without one idea. registers: of a thread. report: the simulator's, at the ablation's size."""

    idea: Idea | None
    kernel: Kernel
    registers: int
    report: Any

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """(registers a thread, warp instructions, shared-memory wavefronts, sectors of global memory)."""
        return self.registers, self.report.instructions, self.report.totals.wavefronts, self.report.totals.sectors


@dataclass(frozen=True, repr=False)
class Ablation(ShownAsTable):
    """The ideas of a rung, each left out in turn. It is displayed as a table.

    variants: the rung first.   size: (m, n, k) of the counts.   gains: {idea: how many times as fast the rung is as the
    rung without it}, empty without a GPU and without a record.   source: where the gains come from.
    """

    name: str
    variants: tuple[Variant, ...]
    size: tuple[int, int, int]
    gains: dict[str, Gain]
    source: str

    def _table(self) -> Table:
        header = ["without", "times as slow", "registers", "instructions", "wavefronts", "sectors"]
        body = []
        for variant in self.variants:
            found = self.gains.get(variant.idea.idea) if variant.idea else None
            body.append(
                [
                    variant.idea.idea if variant.idea else f"nothing: {self.name}",
                    f"{found.ratio:.3f} ({found.low:.3f} to {found.high:.3f})" if found else "",
                    *(f"{count:,}" if count else "unknown" for count in variant.counts[:1]),
                    *(f"{count:,}" for count in variant.counts[1:]),
                ]
            )
        m, n, k = self.size
        settings = ", ".join(f"{name} {value}" for name, value in self.variants[0].kernel.config.items())
        counted = f"Counts are the simulator's at {m} × {n} × {k}, of a launch with a right result, for {settings}."
        return Table(header, body, f"{counted} {self.source}")


def rung_of(ladder: LadderSpec, name: str) -> tuple[Kernel, list[Idea]]:
    """A rung of the ladder and its ideas. Raises `LabError` if it is no rung of it or has none."""
    spec = catalog.kernel(name if "/" in name else f"{ladder.name}/{name}")
    found = [idea for idea in ladder.ideas if f"{ladder.name}/{idea.rung}" == spec.name]
    if not found:
        able = sorted({idea.rung for idea in ladder.ideas})
        raise LabError(
            f"{spec.name} has no ablations in {ladder.name}/ladder.toml; "
            + (f"{', '.join(able)} have some." if able else "no rung of this ladder has one.")
        )
    return kernel(spec.name), found


def without(rung: Kernel, idea: Idea) -> Kernel:
    """The rung without the idea, under a name that says so: changed, or another rung with the settings of this one."""
    alias = f"without {idea.idea}"
    if idea.instead:
        other = kernel(idea.instead)
        changed = other(**{name: value for name, value in rung.config.items() if name in other.config})
        return changed.rewrite(other.source, file=other.spec.file, alias=alias)
    changed = rung(**idea.without) if idea.without else rung
    return changed.rewrite(idea.source_without(rung.source), file=rung.spec.file, alias=alias)


def ablate(ladder: LadderSpec, name: str, n: int, regime: str, rounds: int | None) -> Ablation:
    """Implements `Ladder.ablate`."""
    rung, ideas = rung_of(ladder, name)
    if resolve_backend(None, timing=True) == "gpu":
        gains, arch = _gains(rung, ideas, time(rung, ideas, n, regime, rounds)), None
    else:
        gains, arch = recorded_gains(rung, ideas, n, regime, RECORDED_ON), hardware.gpu(RECORDED_ON).arch
    row = next(iter(gains.values())).after if gains else None
    source = (
        f"Times are of {n}³, {regime}, on {row.gpu}, CUDA {row.cuda}, {row.rounds} rounds, commit {row.commit}: median "
        "and quartiles over the rounds, in which all take turns."
        if row
        else f"No {regime} run at {n} is recorded."
    )
    variants, size = count(rung, ideas, row.config if row else "", arch)
    return Ablation(rung.name, variants, size, gains, source)


def count(
    rung: Kernel, ideas: list[Idea], timed: str = "", arch: str | None = None
) -> tuple[tuple[Variant, ...], tuple[int, int, int]]:
    """The variants with their counts, at the smallest size that all of them multiply.

    timed: the rung's settings in a timed row, "" without one. Counts and times stand in one row of the table, so the
    settings are then these, and the registers are those for `arch`, by default the GPU here; without a row both are
    those of the ladder's reference GPU. Raises `LabError` if a variant gives a wrong result.
    """
    taught = replace(rung, config=parse_settings(timed.split()) if timed else rung.spec.configure())
    made = [(None, taught), *((idea, without(taught, idea)) for idea in ideas)]
    m, n, k = (math.lcm(*sizes) for sizes in zip(*(smallest_size(each) for _, each in made), strict=True))
    found = []
    for idea, each in made:
        compiled = each.compile_as_taught()
        verdicts, report = check_on_simulator(each, compiled, m, n, k)
        if not all(verdicts):
            raise LabError(f"{each.label} gives a wrong result: {verdicts[-1].message}")
        there = each.compile(arch) if timed else compiled
        found.append(Variant(idea, each, there.registers, report))
    return tuple(found), (m, n, k)


def time(rung: Kernel, ideas: list[Idea], n: int, regime: str, rounds: int | None) -> list[Measurement]:
    """The rows of one run of the rung's ladder in which the rung and all variants take turns. Needs a GPU."""
    kernels = [rung, *(without(rung, idea) for idea in ideas)]
    found = benchmark_kernels(kernels, [n], baselines=(), ceiling=None, regime=regime, rounds=rounds, progress=True)
    if found.skipped:
        raise LabError("Not everything could be timed: " + "; ".join(f"{k}: {why}" for k, why in found.skipped.items()))
    return [replace(row, ladder=rung.spec.ladder) for row in found]


def recorded_gains(rung: Kernel, ideas: list[Idea], n: int, regime: str, gpu: str) -> dict[str, Gain]:
    """{idea: what it is worth} in the recorded run of a GPU; ideas that it lacks are missing."""
    path = path_for(gpu)
    rows = [row for row in read(path) if (row.n, row.regime) == (n, regime)]
    return _gains(rung, ideas, with_samples(rows, path))


def path_for(gpu: str) -> Path:
    """The file of the recorded ablations of a GPU: rows as in results/measured, `kernel` is the variant's label."""
    return data_dir("results") / "ablations" / path_of(gpu).name


def _gains(rung: Kernel, ideas: list[Idea], rows: list[Measurement]) -> dict[str, Gain]:
    by_label = {_name(row.kernel): row for row in rows}
    whole = by_label.get(rung.name)
    pairs = (
        [(idea, by_label.get(f"{idea.instead or rung.name} without {idea.idea}")) for idea in ideas] if whole else []
    )
    samples = {row: row.samples_ms for row in rows}
    return {idea.idea: gain(row, whole, samples) for idea, row in pairs if row and whole}


def _name(label: str) -> str:
    """The label of a variant without what depends on its settings and on whether its text differs."""
    return label.replace(" edited as ", " ").replace(" as without ", " without ").split(" (")[0]
