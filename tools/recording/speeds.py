"""`python -m tools.recording speeds`: checks and then measures every ladder that this GPU can run.

All rows go into one file and name the conditions of the measurement. Where results/tuned has a choice for the GPU and
the size, it takes part as well, under its rung's name with its own settings. A rung whose result is wrong is reported
and not timed. The file is written after each size, so a run that is stopped keeps the rows it already has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gemm_lab import catalog
from gemm_lab.lab.here import Here
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_lab.lab.ladder import SIZES, Bench, Ladder, measured_ladders
from gemm_lab.lab.measuring import benchmark_kernels, check_kernel
from gemm_lab.lab.tuning import chosen
from gemm_results.errors import LabError
from gemm_results.results import Measurement, append, append_raw, path_for, raw_path
from gpu_simulator.errors import SimulatorError

CHECK_N = 1024  # M, N and K of the check before the timing, rounded up to the multiples that a rung needs


@dataclass(frozen=True)
class Plan:
    """The kernels to measure of one ladder on one architecture. `left_out`: {kernel: why it is not measured}.

    `ceiling` is None if the ladder has none or if it is not written for the architecture.
    """

    ladder: Ladder
    kernels: tuple[Kernel, ...]
    ceiling: Kernel | None
    left_out: dict[str, str]


@dataclass
class Recorded:
    """The outcome of a recording: the file, and the number of rows added to it.

    `wrong`: {rung that failed its check: why}; `skipped`: {what was not timed: why}.
    """

    path: Path
    rows: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.rows > 0 and not self.wrong

    def __str__(self) -> str:
        lines = [f"wrong, not timed: {name}: {why}" for name, why in self.wrong.items()]
        lines += [f"not timed: {what}: {why}" for what, why in self.skipped.items()]
        if not self.rows:
            return "\n".join([*lines, "Nothing was recorded."])
        return "\n".join(
            [
                *lines,
                f"{self.rows} rows → {self.path}, samples → {raw_path(self.path)}. To share them: "
                "docs/CONTRIBUTING.md, “Record your GPU”.",
            ]
        )


def plans(names: Iterable[str], arch: str, gpu: str = "this GPU") -> list[Plan]:
    """What to measure on an architecture such as "sm_75": one plan for each ladder.

    Without `names`, these are the `measured_ladders` with at least one rung that is written for `arch`. Raises
    `LabError` if there is none, or if a named ladder has no such rung; the message then lists the ladders that have.
    `gpu` is the GPU's name for messages.
    """
    names = list(names)
    found = [_plan(name, arch) for name in names or measured_ladders()]
    without = [plan for plan in found if not plan.kernels]
    if names and without:
        able = [name for name in measured_ladders() if _plan(name, arch).kernels]
        raise LabError(
            f"{without[0].ladder.name} has no kernel for {gpu} ({arch}). "
            + (f"Ladders that run here: {', '.join(able)}." if able else "No ladder runs here.")
        )
    found = [plan for plan in found if plan.kernels]
    if not found:
        raise LabError(f"No ladder has a kernel for {gpu} ({arch}).")
    return found


def _plan(name: str, arch: str) -> Plan:
    spec = catalog.ladder(name)
    exists = {k.name: k.written_for(arch) for k in spec.kernels}
    left_out = {k.name: f"it {k.not_for(arch)}" for k in spec.kernels if not exists[k.name]}
    ceiling = kernel(spec.ceiling) if spec.ceiling else None
    if ceiling is not None and not ceiling.spec.written_for(arch):
        left_out[ceiling.name] = f"it {ceiling.spec.not_for(arch)}"
        ceiling = None
    return Plan(Ladder(spec), tuple(kernel(key) for key, there in exists.items() if there), ceiling, left_out)


def record(
    where: Here,
    names: Iterable[str] = (),
    *,
    sizes: Iterable[int] | None = None,
    regimes: Iterable[str] = ("sustained", "burst"),
    rounds: int | None = None,
    baselines: Iterable[str] | None = None,
    only: Collection[str] = (),
    into: Path | None = None,
    say: Callable[[str], None] = print,
) -> Recorded:
    """Check and measure on the GPU of `where`; the rows go to `into`/<gpu>.csv (default: results/measured).

    only: names of rungs, such as "08_ping_pong"; the others are not measured.
    Each row names the GPU, driver, CUDA version, clock, power, commit and date. `say` is called with a text about each
    result as soon as it is known. Raises `LabError` if there is no GPU or no ladder for it.
    """
    if not where.usable:
        raise LabError(f"Nothing can be recorded here: {where.reason}")
    found = plans(names, where.arch, where.present.name)
    sizes, done = list(sizes or SIZES), Recorded(path_for(where.present, into))
    gpu = where.present.gpu.key if where.present.gpu else None
    for plan in found:
        done.skipped |= plan.left_out
        asked = [rung for rung in plan.kernels if not only or rung.spec.short in only]
        right = [rung for rung in asked if _passes(rung, done.wrong, say)]
        tuned = {n: kernel for n in sizes if gpu and (kernel := chosen(plan.ladder.name, n, gpu))}
        tuned = {n: kernel for n, kernel in tuned.items() if _passes(kernel, done.wrong, say)}
        for rows, skipped in _benches(plan, right, tuned, sizes, regimes, rounds, baselines):
            done.skipped |= skipped
            if rows:
                append(rows, done.path)
                append_raw(rows, raw_path(done.path))
                done.rows += len(rows)
                say(f"{Bench(plan.ladder, rows)}\n{len(rows)} rows → {done.path}")
    return done


def _passes(rung: Kernel, wrong: dict[str, str], say: Callable[[str], None]) -> bool:
    """Whether the rung passes the checks of `check_kernel`; if it does not, its reason is added to `wrong`."""
    size = [math.ceil(CHECK_N / step) * step for step in rung.spec.size_multiples(rung.config).values()]
    try:
        verdict = check_kernel(rung, rung.compile(), *size)[-1]
        why = "" if verdict else verdict.message
    except SimulatorError as error:  # it does not compile here, or it faults or hangs
        why = str(error)
    if why:
        wrong[rung.label] = why
    say(f"{'FAIL' if why else 'PASS'}  {rung.label}  {'×'.join(map(str, size))}" + (f"  {why}" if why else ""))
    return not why


def _benches(
    plan: Plan,
    rungs: list[Kernel],
    tuned: Mapping[int, Kernel],
    sizes: list[int],
    regimes: Iterable[str],
    rounds: int | None,
    baselines: Iterable[str] | None,
) -> Iterator[tuple[list, dict[str, str]]]:
    """Yields, for each regime and size, the rows and {what was not timed: why}."""
    wanted = tuple(plan.ladder.spec.baselines if baselines is None else baselines)
    for regime in regimes if rungs else ():
        for n in sizes:
            fit, skipped = [], {}
            own = [rung.config for rung in rungs if n in tuned and rung.name == tuned[n].name]
            for rung in [*rungs, tuned[n]] if n in tuned and tuned[n].config not in own else rungs:
                try:
                    rung.spec.require_size(rung.config, n, n, n)
                    fit.append(rung)
                except SimulatorError as error:
                    skipped[f"{rung.name} at {n}"] = str(error)
            if not fit:
                yield [], skipped
                continue
            try:
                rows = benchmark_kernels(
                    fit, [n], baselines=wanted, ceiling=plan.ceiling, regime=regime, rounds=rounds, progress=True
                )
                yield [_named(row) for row in rows], skipped | rows.skipped
            except SimulatorError as error:  # another size may still succeed, for example if the memory was too small
                yield [], skipped | {f"{plan.ladder.name} at {n}, {regime}": str(error)}


def _named(row: Measurement) -> Measurement:
    """The row under the rung's name: a benchmark names the settings of a tuned kernel, and so do the row's settings."""
    return replace(row, kernel=row.kernel.split(" (")[0])
