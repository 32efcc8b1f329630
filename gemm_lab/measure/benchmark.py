"""Times kernels, baselines and ceilings in turn on the GPU, and returns rows for the results table."""

from __future__ import annotations

import datetime
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gemm_lab import config as settings
from gemm_lab.measure.bounds import bound, element_limits
from gemm_lab.measure.check import wire_problem
from gemm_lab.measure.inputs import scales
from gemm_lab.problem import SCALE_BLOCK, SCALES, Problem
from gemm_results.results import Measurement
from gemm_results.statistics import rate, ratio
from gpu_simulator.errors import ConfigError

REGIMES = ("sustained", "burst")
ROUNDS = {"sustained": 30, "burst": 10}  # a burst sample follows a pause of 0.15 s, so burst samples vary little
SILENCE_S, PREPARE_S = 60.0, 600.0  # compiling Inductor's candidates can take minutes
Size = tuple[int, int, int]


@dataclass(frozen=True)
class Entry:
    """One thing to time. kind: see `gpu_runner.timing.rounds.benchmark`.

    Kernels and ceilings need `compiled` and `grid` (a triple or a function of m, n, k). `arguments` are names of
    operands or values, by default those of the problem; ("buffer", bytes) is scratch memory. `flops`: operations of one
    launch, by default 2·M·N·K; a ceiling has to give it. `block` is (BLOCK_M, BLOCK_N), for reports. `multiplied` is
    the type in which this kernel multiplies, if it is not the problem's. `problem`: the entry's own, if it differs from
    the benchmark's in scales or promotion.
    """

    label: str
    kind: str = "kernel"
    compiled: Any = None
    grid: tuple[int, int, int] | Callable[[int, int, int], tuple[int, int, int]] | None = None
    cluster: tuple[int, int, int] = (1, 1, 1)
    arguments: tuple[Any, ...] | None = None
    block: tuple[int, int] | None = None
    flops: float | None = None
    ladder: str = ""
    config: str = ""
    multiplied: str | None = None
    problem: Problem | None = None

    def message(self, problem: Problem, m: int, n: int, k: int) -> dict[str, Any]:
        """The entry for one size, as `gpu_runner.timing.rounds.benchmark` takes it."""
        own = self.problem or problem
        facts = {
            "label": self.label,
            "kind": self.kind,
            "flops": self.work(m, n, k),
            "block": self.block,
            "multiplied": self.multiplied or problem.multiplied,
            "scaled": own.scaled,
            "limits": element_limits(own, k, scales(own)[0]),
        }
        if self.kind in ("kernel", "ceiling"):
            import gpu_runner as device

            grid = self.grid(m, n, k) if callable(self.grid) else self.grid
            facts |= {
                "compiled": device.payload(self.compiled),
                "grid": tuple(grid),
                "cluster": tuple(self.cluster),
                "arguments": list(problem.tokens if self.arguments is None else self.arguments),
            }
        return facts

    def work(self, m: int, n: int, k: int) -> float:
        if self.flops is None and self.kind == "ceiling":
            raise ConfigError(f"The ceiling {self.label} has to say how many operations one launch does (flops).")
        return float(self.flops) if self.flops is not None else 2.0 * m * n * k


class Measurements(list):
    """A list of Measurement.

    skipped: {label and size of what was not timed: the reason}.   raw: the worker's answers, one for each size.
    """

    def __init__(self, rows: Sequence[Measurement] = ()):
        super().__init__(rows)
        self.skipped: dict[str, str] = {}
        self.raw: list[dict[str, Any]] = []


def benchmark(
    entries: Sequence[Entry],
    sizes: Sequence[int | Size],
    problem: Problem,
    regime: str = "sustained",
    rounds: int | None = None,
    *,
    seed: int = 0,
    progress: Callable[[dict[str, Any]], None] | None = None,
    session: Any = None,
) -> Measurements:
    """Check `entries` at each size (a number, or (m, n, k)), then time them in turn within one run.

    Every kernel's output is checked first. A kernel with a wrong result is not timed, and `.skipped` says why. Ratios
    refer to the first entry of the kinds cublas and ceiling, and of the kind of cuBLASLt that computes the same
    (`best_library`); without it, they are None.
    rounds: samples of each entry, by default 30, or 10 in the burst regime, whose samples vary less.
    session: where requests go, by default that of this process; tests pass their own.

    Needs a GPU. Raises `ConfigError` for an unknown regime or two entries with the same label, and `KernelHang` if the
    worker is silent for too long.
    """
    import gpu_runner as device

    if regime not in REGIMES:
        raise ConfigError(f"There is no regime {regime!r}; choose sustained or burst.")
    rounds = ROUNDS[regime] if rounds is None else rounds
    if len({entry.label for entry in entries}) != len(entries):
        raise ConfigError("Two entries of the benchmark have the same label; give each its own.")
    found = Measurements()
    alpha, beta = scales(problem)
    wire = wire_problem(problem) | {"scaled": any((entry.problem or problem).scaled for entry in entries)}
    for size in sizes:
        m, n, k = (size, size, size) if isinstance(size, int) else size
        try:
            answer = (session or device.session()).request(
                "benchmark",
                timeout_s=SILENCE_S,
                patience_s=PREPARE_S,
                progress=progress,
                problem=wire,
                m=m,
                n=n,
                k=k,
                entries=[entry.message(problem, m, n, k) for entry in entries],
                regime=regime,
                rounds=rounds,
                limits=element_limits(problem, k, alpha),
                error_bounds={entry.label: bound(entry.problem or problem, k) for entry in entries},
                alpha=alpha,
                beta=beta,
                seed=seed,
            )
        except device.Silence as silence:
            raise device.KernelHang(
                silence.seconds,
                f"It was being timed at {m}×{n}×{k}; run each kernel alone to find its line.",
                output=silence.output,
            ) from None
        found.extend(rows(answer, entries, problem))
        found.raw.append(answer)
        found.skipped |= _skipped(answer)
    return found


def best_library(problem: Problem) -> str:
    """The kind of cuBLASLt's products that adds as this problem says."""
    if problem.multiplied != "e4m3":
        return "cublaslt_best"
    return "cublaslt_fp8_blocks" if problem.scaled else "cublaslt_fp8" if problem.promotion else "cublaslt_fp8_fast"


def library_problem(kind: str, problem: Problem) -> Problem:
    """What a library computes in place of `problem`: products of 8 bits with the sums and scales of its kind."""
    if not kind.startswith("cublaslt_fp8"):
        return problem
    arguments = tuple(name for name in problem.arguments if name not in SCALES)
    return replace(
        problem,
        promotion=0 if kind == "cublaslt_fp8_fast" else SCALE_BLOCK,
        arguments=arguments + SCALES * (kind == "cublaslt_fp8_blocks"),
    )


def _skipped(answer: Mapping[str, Any]) -> dict[str, str]:
    """{label at size: reason} for what was not timed, including single tiles of a baseline with several tiles."""
    m, n, k = answer["m"], answer["n"], answer["k"]
    found = {}
    for report in answer["entries"]:
        reasons = {"": report["skipped"], **{f" {tile}": why for tile, why in report.get("left_out", {}).items()}}
        found |= {at_size(report["label"] + what, m, n, k): why for what, why in reasons.items() if why}
    return found


def at_size(label: str, m: int, n: int, k: int) -> str:
    """The key of an entry in `Measurements.skipped`, such as "cuBLAS at 64×64×64"."""
    return f"{label} at {m}×{n}×{k}"


def rows(answer: Mapping[str, Any], entries: Sequence[Entry], problem: Problem) -> list[Measurement]:
    """The measurements in the worker's answer for one size, one for each entry that was timed."""
    m, n, k = answer["m"], answer["n"], answer["k"]
    timed = {report["label"]: report["samples_ms"] for report in answer["entries"] if report["samples_ms"]}
    chosen = {report["label"]: report["config"] for report in answer["entries"] if report.get("config")}
    by_label = {entry.label: entry for entry in entries}
    first = {by_label[label].kind: label for label in reversed(timed)}
    conditions = {name: _median(answer["readings"], name) for name in ("sm_clock_mhz", "power_w")}
    conditions |= {name: str(answer.get(name, "unknown")) for name in ("gpu", "driver", "cuda")}
    conditions |= {"commit": commit(), "date": datetime.date.today().isoformat()}

    def against(name: str, kind: str, label: str) -> dict[str, float | None]:
        other = first.get(kind)
        if other is None:
            return {f"{name}_tflops": None, f"ratio_{name}": None}
        work, others = by_label[label].work(m, n, k), by_label[other].work(m, n, k)
        compared = ratio(timed[label], work, timed[other], others)
        return {f"{name}_tflops": rate(timed[other], others).median, f"ratio_{name}": compared}

    found = []
    for label, samples in timed.items():
        entry = by_label[label]
        speed = rate(samples, entry.work(m, n, k))
        row = Measurement(
            kernel=label,
            ladder=entry.ladder,
            config=chosen.get(label, entry.config),
            regime=answer["regime"],
            m=m,
            n=n,
            k=k,
            dtype=f"{entry.multiplied or problem.multiplied}/{problem.dtype_acc}",
            tflops=speed.median,
            tflops_low=speed.low,
            tflops_high=speed.high,
            **against("cublas", "cublas", label),
            **against("cublaslt", best_library(entry.problem or problem), label),
            **against("ceiling", "ceiling", label),
            rounds=len(samples),
            samples_ms=tuple(samples),
            **conditions,
        )
        found.append(row)
    return found


def _median(readings: Sequence[Mapping[str, float]], name: str) -> float:
    values = [reading[name] for reading in readings if name in reading]
    return float(np.median(values)) if values else float("nan")


def commit() -> str:
    """The commit to record: GEMM_LAB_COMMIT if it is set, else the checkout's in 7 digits, else "none".

    A "+" follows the commit of a checkout in which tracked files differ from it.
    """
    if named := os.environ.get("GEMM_LAB_COMMIT", "").strip():
        return named
    git = ["git", "-C", str(settings.PACKAGE.parent), "describe", "--always", "--exclude=*", "--abbrev=7", "--dirty=+"]
    try:
        return subprocess.run(git, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "none"
