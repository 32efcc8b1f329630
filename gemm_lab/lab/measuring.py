"""Checks and times a Kernel with the functions of `gemm_lab.measure`, and finds its recorded rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from gemm_lab import catalog, source_text
from gemm_lab.lab.here import RECORDED_ON, here
from gemm_lab.lab.launchable import Launchable
from gemm_lab.measure.benchmark import Entry, Measurements, at_size, benchmark, best_library, library_problem
from gemm_lab.measure.check import Launch, Verdict, check
from gemm_lab.source_text import parse_settings
from gemm_results.results import Measurement, recorded
from gpu_simulator.errors import ConfigError, SimulatorError, SizeError

if TYPE_CHECKING:
    from gpu_simulator.compiler import Compiled

BASELINES = (
    "cublas", "cublaslt_best", "cublaslt_fp8_fast", "cublaslt_fp8", "cublaslt_fp8_blocks", "inductor", "cutlass_sm75",
    "cutlass_sm80",
)  # fmt: skip
QUICK_ROUNDS = 4
FEW_PRODUCTS = 128**3  # a check of so many takes no time beside compiling
SPEED_EDGE = 2048  # a smaller product does not fill a GPU, so its speed and its share of cuBLAS say little


def check_kernel(
    kernel: Launchable,
    compiled: Compiled,
    m: int,
    n: int,
    k: int,
    seed: int = 0,
    launch: Launch | None = None,
    sms: int | None = None,
) -> list[Verdict]:
    """Check a kernel with small integers, then with sums that cancel, then with normally distributed numbers.

    Returns the verdicts up to the first that failed. The second check shows whether the sums are kept in the type that
    the ladder names; one block tile is enough for that (`sum_size`). A kernel that does not work at one block tile is
    checked at m × n × k, for which it may be made, and the verdict says so.
    `launch` runs the kernel, by default on the GPU (see `measure.check.check`). sms: see `Kernel.grid`.
    """

    def checked(kind: str, size: tuple[int, int, int]) -> Verdict:
        return check(
            compiled,
            kernel.problem,
            grid=kernel.grid(*size, sms),
            **dict(zip("mnk", size, strict=True)),
            block=kernel.block and (*kernel.block, kernel.config.get("BLOCK_K", 0)),
            kind=kind,
            seed=seed,
            cluster=kernel.spec.cluster,
            launch=launch,
        )

    asked, least = (m, n, k), sum_size(kernel, m, n, k)

    def checked_sums() -> Verdict:
        if least == asked:
            return checked("cancelling", asked)
        where = " × ".join(map(str, least))
        try:
            verdict = checked("cancelling", least)
            if verdict:
                return verdict
            plain = checked("integers", least)
            if plain:
                return replace(verdict, message=f"Small integers give the exact result. At {where}: {verdict.message}")
            why = plain.message
        except SimulatorError as error:
            why = str(error)
        verdict = checked("cancelling", asked)
        said = f"sums that cancel are exact too; one block tile alone, {where}, does not work: {why.rstrip('.')}"
        return replace(verdict, message=said) if verdict else verdict

    verdicts = []
    for one in (lambda: checked("integers", asked), checked_sums, lambda: checked("normal", asked)):
        verdicts.append(one())
        if not verdicts[-1]:
            break
    return verdicts


def smallest_size(kernel: Launchable) -> tuple[int, int, int]:
    """(m, n, k) of one block tile along m and n and two along k.

    A kernel that accepts any size also gets whole tiles; without a block tile, 32 is used in its place.
    """
    steps, config = kernel.spec.size_multiples(kernel.config), kernel.config
    m, n, k = (max(steps[axis], config.get(f"BLOCK_{axis.upper()}", 32 if steps[axis] == 1 else 1)) for axis in "mnk")
    return m, n, 2 * k


def sum_size(kernel: Launchable, m: int, n: int, k: int) -> tuple[int, int, int]:
    """(m, n, k) at which cancelling sums are checked: `smallest_size` with four promotions.

    It is m × n × k itself if that costs little and is deep enough, or if a block tile is no whole cluster.
    """
    rows, columns, depth = smallest_size(kernel)
    size = rows, columns, max(depth, 4 * kernel.problem.promotion)
    if k >= 4 * kernel.problem.promotion and m * n * k <= max(prod(size), FEW_PRODUCTS):
        return m, n, k
    try:
        kernel.grid(*size)
    except SizeError:
        return m, n, k
    return size


def entry_of(kernel: Launchable, compiled: Compiled, label: str | None = None, sms: int | None = None) -> Entry:
    """The benchmark entry of a compiled kernel. A ceiling's entry has its own count of operations.

    label: the name of a kernel's entry, if not that of the rung. sms: see `Kernel.grid`.
    """
    spec = kernel.spec
    settings = " ".join(f"{name}={value}" for name, value in kernel.config.items())
    own = {"compiled": compiled, "cluster": spec.cluster, "ladder": spec.ladder, "config": settings}
    if not spec.ceiling:
        return Entry(
            label or spec.name,
            "kernel",
            grid=partial(kernel.grid, sms=sms),
            block=kernel.block,
            multiplied=spec.problem.multiplied,
            arguments=tuple(kernel.problem.tokens),
            problem=kernel.problem,
            **own,
        )
    grid = kernel.grid(1, 1, 1)
    threads = prod(grid) * compiled.threads
    flops = float(threads * catalog.evaluate(spec.flops_per_thread, kernel.config))
    return Entry(spec.name, "ceiling", grid=grid, arguments=(("buffer", 4 * threads), 1), flops=flops, **own)


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
    """Time kernels, baselines and the ceiling in interleaved rounds, in one run for each size.

    Raises `ConfigError` for an unknown baseline, and for a kernel that is not written for the GPU here. progress: a
    function that is called with the worker's reports, or whether to show a progress bar.
    """
    kernels = list(kernels)
    unknown = set(baselines) - set(BASELINES)
    if unknown:
        raise ConfigError(f"Unknown baselines {source_text.listed(sorted(unknown))}; there are {', '.join(BASELINES)}.")
    arch = here().arch  # compile() raises an error for a kernel that is not written for this GPU
    entries = [entry_of(kernel, kernel.compile(arch), kernel.label) for kernel in kernels]
    ladder = kernels[0].spec.ladder
    problem = kernels[0].spec.problem
    entries += [Entry(name, name, ladder=ladder, problem=library_problem(name, problem)) for name in baselines]
    if ceiling is not None:
        entries.append(entry_of(ceiling, ceiling.compile(arch)))
    report = progress if callable(progress) else _Bar() if progress else None
    try:
        return benchmark(entries, list(sizes), problem, regime, rounds, progress=report)
    finally:
        if isinstance(report, _Bar):
            report.close()


def speed_size(kernel: Launchable, m: int = 1, n: int = 1, k: int = 1) -> tuple[int, int, int]:
    """(m, n, k) at which a run at m × n × k is timed: each is at least `SPEED_EDGE`, rounded up to whole tiles.

    The size is not changed if the larger grid would not consist of whole clusters.
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
    """Time a kernel and cuBLAS in a few interleaved rounds; returns fields of `Run` for a run at m × n × k.

    Products of 8 bits are compared with the kind of cuBLASLt's that adds in the same way. The fields are `timed_at`,
    the size of the timing, with either `tflops` and `cublas_tflops`, or `untimed`, which says why there is no speed: a
    kernel may be right at its own size and wrong at the larger one.
    """
    problem = kernel.spec.problem
    library = best_library(problem) if problem.multiplied == "e4m3" else "cublas"
    other = Entry(library, library, ladder=kernel.spec.ladder, problem=problem)
    entries = [entry_of(kernel, compiled, sms=sms), other]
    size = speed_size(kernel, m, n, k)
    try:
        found = benchmark(entries, [size], problem, "burst", QUICK_ROUNDS)
    except SimulatorError as error:  # such as a fault or a hang at this size, or too little memory on the GPU
        return {"timed_at": size, "untimed": f"not timed: {error}"}
    rows = {row.kernel: row for row in found}
    if mine := rows.get(kernel.spec.name):
        return {"timed_at": size, "tflops": mine.tflops, "cublas_tflops": mine.cublas_tflops or mine.cublaslt_tflops}
    return {"timed_at": size, "untimed": found.skipped.get(at_size(kernel.spec.name, *size), "not timed")}


def printed() -> str:
    """The printf output of the kernels of the last request."""
    import gpu_runner as device

    return device.session().output


def recorded_row(name: str, n: int) -> Measurement | None:
    """The recorded sustained row of a kernel, with its settings for that GPU, at the size nearest to n; or None."""
    own = catalog.kernel(name).configure(RECORDED_ON)
    rows = [row for row in recorded(RECORDED_ON) if row.kernel == name and row.regime == "sustained"]
    rows = [row for row in rows if parse_settings(row.config.split()) == own]
    return min(rows, key=lambda row: abs(row.n - n)) if rows else None


class _Bar:
    """A progress bar on stderr, which is called with the worker's reports."""

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
