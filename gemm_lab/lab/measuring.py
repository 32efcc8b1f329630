"""From a Kernel to what `measure` takes: one checked and timed run, a ladder's benchmark, a recorded row."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import gpu_runner as device
from gemm_lab import catalog
from gemm_lab.lab.here import RECORDED_ON, here
from gemm_lab.lab.launchable import Launchable
from gemm_lab.measure.benchmark import Entry, Measurement, Measurements, at_size, benchmark
from gemm_lab.measure.check import Launch, Verdict, check
from gemm_lab.measure.results import recorded
from gpu_simulator.errors import ConfigError, LabError, SizeError

if TYPE_CHECKING:
    from gpu_simulator.compiler import Compiled

BASELINES = ("cublas", "inductor", "cutlass_sm75", "cutlass_sm80")
QUICK_ROUNDS = 4
SPEED_EDGE = 2048  # a smaller product is over before it fills a GPU: its speed, and its share of cuBLAS, say little


def check_twice(
    kernel: Launchable,
    compiled: Compiled,
    m: int,
    n: int,
    k: int,
    seed: int = 0,
    launch: Launch | None = None,
    sms: int | None = None,
) -> list[Verdict]:
    """Small integers, which must be exact; then, if they are, normal numbers within their bound.

    `launch` is the machine to run on, by default the GPU (see `measure.check.check`); sms: see `Kernel.grid`.
    """
    verdicts = []
    for kind in ("integers", "normal"):
        verdicts.append(
            check(
                compiled,
                kernel.problem,
                grid=kernel.grid(m, n, k, sms),
                m=m,
                n=n,
                k=k,
                block=kernel.block,
                kind=kind,
                seed=seed,
                cluster=kernel.spec.cluster,
                launch=launch,
            )
        )
        if not verdicts[-1]:
            break
    return verdicts


def entry_of(kernel: Launchable, compiled: Compiled, label: str | None = None, sms: int | None = None) -> Entry:
    """A kernel, or a ceiling with its own count of operations, for the benchmark."""
    spec = kernel.spec
    settings = " ".join(f"{name}={value}" for name, value in kernel.config.items())
    if not spec.ceiling:
        return Entry(
            label or spec.name,
            "kernel",
            compiled,
            partial(kernel.grid, sms=sms),
            spec.cluster,
            block=kernel.block,
            ladder=spec.ladder,
            config=settings,
            multiplied=spec.problem.multiplied,
            arguments=tuple(kernel.problem.tokens),
        )
    grid = kernel.grid(1, 1, 1)
    threads = grid[0] * grid[1] * grid[2] * compiled.threads
    per_thread = catalog.evaluate(spec.flops_per_thread, kernel.config)
    return Entry(
        spec.name,
        "ceiling",
        compiled,
        grid,
        spec.cluster,
        arguments=(("buffer", 4 * threads), 1),
        flops=float(threads * per_thread),
        ladder=spec.ladder,
        config=settings,
    )


def benchmark_kernels(
    kernels: Iterable[Launchable],
    sizes: Iterable[int],
    *,
    baselines: Iterable[str],
    ceiling: Launchable | None,
    regime: str,
    rounds: int | None,
    progress: bool | Callable,
) -> Measurements:
    """Kernels, baselines and ceiling interleaved in one run at each size."""
    kernels = list(kernels)
    unknown = set(baselines) - set(BASELINES)
    if unknown:
        raise ConfigError(f"Unknown baselines {catalog.listed(sorted(unknown))}; there are {', '.join(BASELINES)}.")
    # A label is the name, with every setting that is not the default and the learner's own name.
    arch = here().arch  # of this GPU: a kernel that is not written for it is refused
    entries = [entry_of(kernel, kernel.compile(arch), kernel.label) for kernel in kernels]
    ladder = kernels[0].spec.ladder
    entries += [Entry(name, name, ladder=ladder) for name in baselines]
    if ceiling is not None:
        entries.append(entry_of(ceiling, ceiling.compile(arch)))
    report = progress if callable(progress) else _Bar() if progress else None
    try:
        return benchmark(entries, list(sizes), kernels[0].spec.problem, regime, rounds, progress=report)
    finally:
        if isinstance(report, _Bar):
            report.close()


def speed_size(kernel: Launchable, m: int = 1, n: int = 1, k: int = 1) -> tuple[int, int, int]:
    """The size at which one run is timed: its own, but in each direction at least `SPEED_EDGE`, in whole tiles.

    Its own where the larger one is no multiple of the kernel's cluster.
    """
    steps = kernel.spec.size_multiples(kernel.config).values()
    size = tuple(max(own, -(-SPEED_EDGE // step) * step) for own, step in zip((m, n, k), steps, strict=True))
    try:
        kernel.grid(*size)
    except SizeError:
        return m, n, k
    return size


def quick_speed(
    kernel: Launchable, compiled: Compiled, m: int, n: int, k: int, sms: int | None = None
) -> dict[str, Any]:
    """`tflops` and `cublas_tflops` of a short interleaved run at `timed_at`, for the card of one `run` at m × n × k.

    `untimed` says why there is no speed: a kernel may be right at its own size and wrong at the larger one.
    """
    entries = [entry_of(kernel, compiled, sms=sms), Entry("cublas", "cublas", ladder=kernel.spec.ladder)]
    size = speed_size(kernel, m, n, k)
    try:
        found = benchmark(entries, [size], kernel.spec.problem, "burst", QUICK_ROUNDS)
    except LabError as error:  # a fault or a hang at that size, a GPU without memory for it
        return {"timed_at": size, "untimed": f"not timed: {error}"}
    rows = {row.kernel: row for row in found}
    if mine := rows.get(kernel.spec.name):
        return {"timed_at": size, "tflops": mine.tflops, "cublas_tflops": mine.cublas_tflops}
    return {"timed_at": size, "untimed": found.skipped.get(at_size(kernel.spec.name, *size), "not timed")}


def printed() -> str:
    """What the kernels of the last request printed with printf."""
    return device.session().output


def recorded_row(name: str, n: int, regime: str = "sustained") -> Measurement | None:
    """The recorded row of a kernel at the size nearest to n, or None."""
    rows = [row for row in recorded(RECORDED_ON) if row.kernel == name and row.regime == regime]
    return min(rows, key=lambda row: abs(row.n - n)) if rows else None


class _Bar:
    """A progress bar fed with the worker's reports."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self.bar = tqdm(total=1.0, file=sys.stderr, leave=False, disable=None, bar_format="{desc} {bar} {elapsed}")

    def __call__(self, facts: dict[str, Any]) -> None:
        done, total = facts.get("done", 0), facts.get("total") or 1
        self.bar.set_description_str(str(facts.get("stage", "timing")))
        self.bar.n = min(1.0, done / total)
        self.bar.refresh()

    def close(self) -> None:
        self.bar.close()
