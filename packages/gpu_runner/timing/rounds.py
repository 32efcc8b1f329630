"""Benchmarks kernels, baselines and ceilings in turn in one run, timed by device events.

Two regimes. *burst*: each sample follows a pause of 0.15 s and lasts some milliseconds, so the chip is cool and its
clock high. *sustained*: the entries run without a pause, for at least 1.5 s before the sampling and then during it, in
a different order in each round so that none always follows the same other. A large chip then runs at its power limit.
Inputs are N(0, 1) numbers, in so many copies that together they exceed twice the L2; each launch uses the next copy.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpu_runner.baselines import cublaslt, cutlass, inductor
from gpu_runner.baselines.cublas import Blas
from gpu_runner.driver import Buffer, Device
from gpu_runner.faults import RunnerError
from gpu_runner.support import Support
from gpu_runner.timing.nvml import Gauge
from gpu_runner.timing.verify import Inputs, compare, summary
from gpu_simulator.errors import SimulatorError

BURST_REST_S, BURST_SAMPLE_MS = 0.15, 3.0
SUSTAINED_WARMUP_S, SUSTAINED_SAMPLE_MS = 1.5, 4.0
TRIAL_ROUNDS, TRIAL_SAMPLE_MS = 5, 3.0
TRIAL_KEEPS = 1.25  # after one round of a trial, candidates that take longer than this times the best are dropped
MOST_ALTERNATIVES = 5  # algorithms of cuBLASLt that a trial chooses for the timing; the fastest is the result
MOST_COPIES = 64
ORDER_SEED = 1


@dataclass
class Entry:
    """One thing to time.

    calls: a launch for each copy of the inputs.   flops: operations of one launch.   repeats: launches in a sample.
    samples_ms: milliseconds per launch, one for each sample.   turn: number of launches so far.
    config: which of several ways to compute it, "" where there is one.
    """

    label: str
    calls: list[Callable[[], None]]
    flops: float
    repeats: int = 1
    samples_ms: list[float] = field(default_factory=list)
    turn: int = 0
    config: str = ""

    def run(self, times: int) -> None:
        for _ in range(times):
            self.calls[self.turn % len(self.calls)]()
            self.turn += 1


Pending = tuple[Entry, Any, Any]  # a queued entry, and the CuPy events before and after it


def benchmark(
    device: Device,
    support: Support,
    blas: Blas,
    context: Any,
    *,
    problem: dict[str, Any],
    m: int,
    n: int,
    k: int,
    entries: list[dict[str, Any]],
    regime: str,
    rounds: int,
    limits: tuple[float, float],
    error_bounds: dict[str, float],
    alpha: float,
    beta: float,
    seed: int,
) -> dict[str, Any]:
    """Check `entries` at one size, then time those that passed.

    An entry is {"label", "kind", "flops"}, where the kind is kernel, cublas, inductor, cutlass_sm75, cutlass_sm80,
    ceiling or one of `cublaslt.KINDS`. Kernels and ceilings also have {"compiled", "grid", "cluster", "arguments"}, and
    kernels {"block", "multiplied"}; an argument ("buffer", bytes) is scratch memory. Any entry may have "scaled",
    whether it multiplies by the scales of A and B, and "limits" of its own. `regime` is "burst" or "sustained". Returns
    {"entries": [{"label", "samples_ms", "repeats", "check", "skipped"}], "readings": one dict per round or sample,
    "copies", "regime", sizes and facts of the GPU}. Samples are milliseconds per launch, one per round, in the same
    order for all entries.
    Entries of CUTLASS also have {"config": the fastest tile, "left_out": {tile: why it was not timed}}; one of
    cuBLASLt has {"config": the fastest algorithm}.
    """
    copies = make_copies(device, support, problem, m, n, k, seed)
    scratch: list[Buffer] = []
    gauge, timed, reports = Gauge(device.bus_id()), [], []
    try:
        for spec in entries:
            context.progress(stage="checking", label=spec["label"], m=m, n=n, k=k)
            report = {"label": spec["label"], "check": None, "skipped": None, "samples_ms": [], "repeats": 0}
            reports.append(report)
            try:
                asked = (device, blas, context, problem, copies, spec, alpha, beta, scratch, report)
                found = alternatives(*asked) if spec["kind"] in cublaslt.KINDS else {"": _calls(*asked)}
            except SimulatorError as error:
                report["skipped"] = str(error)
                continue
            for config, calls in found.items():
                entry = Entry(spec["label"], calls, spec["flops"], config=config)
                if spec["kind"] != "ceiling":
                    context.running()
                    report["check"] = _check(entry, copies[0], blas, spec, alpha, beta, spec.get("limits") or limits)
                    report["skipped"] = _rejected(report["check"], error_bounds[spec["label"]])
                    if report["skipped"]:
                        break
                timed.append((entry, report))
        for inputs in copies if problem["uses_c"] else []:
            inputs.d.copy_from(inputs.c)  # cuBLAS adds to D, so no NaN of the check may be left there
        readings = sample(device, [entry for entry, _ in timed], regime, rounds, gauge, context) if timed else []
        for entry, report in timed:
            before = report["samples_ms"]
            if before and statistics.median(before) <= statistics.median(entry.samples_ms):
                continue  # another algorithm of the same entry was faster
            report["samples_ms"], report["repeats"] = entry.samples_ms, entry.repeats
            if entry.config:
                report["config"] = entry.config
        return {
            "entries": reports,
            "readings": readings,
            "copies": len(copies),
            "regime": regime,
            "m": m,
            "n": n,
            "k": k,
            **gauge.describe(),
            "cuda": "{}.{}".format(*device.driver_version()),
        }
    finally:
        for inputs in copies:
            inputs.free()
        for buffer in scratch:
            buffer.free()


def sample(
    device: Device, entries: list[Entry], regime: str, rounds: int, gauge: Gauge, context: Any
) -> list[dict[str, float]]:
    """Fill `samples_ms` of the entries with a sample for each round, and return the readings of `gauge` on the way."""
    for entry in entries:
        context.running()
        _choose_repeats(device, entry, BURST_SAMPLE_MS if regime == "burst" else SUSTAINED_SAMPLE_MS)
    return (_burst if regime == "burst" else _sustained)(device, entries, rounds, gauge, context)


def make_copies(
    device: Device, support: Support, problem: dict[str, Any], m: int, n: int, k: int, seed: int
) -> list[Inputs]:
    """Copies of N(0, 1) inputs that together exceed twice the L2: two or more, but fewer if memory is short."""
    copies = [Inputs(device, support, problem, m, n, k, kind="normal", seed=seed)]
    size = copies[0].nbytes
    wanted = min(MOST_COPIES, max(2, -(-2 * device.l2_bytes // size) + 1))
    while len(copies) < wanted and device.memory()[0] > 2 * size + 8 * m * k + 8 * k * n + 2**28:
        copies.append(Inputs(device, support, problem, m, n, k, kind="normal", seed=seed + len(copies)))
    return copies


def _calls(
    device: Device,
    blas: Blas,
    context: Any,
    problem: dict[str, Any],
    copies: list[Inputs],
    spec: dict[str, Any],
    alpha: float,
    beta: float,
    scratch: list[Buffer],
    report: dict[str, Any],
) -> list[Callable[[], None]]:
    if spec["kind"] == "cublas":
        return [_cublas(blas, problem, inputs, alpha, beta, scratch) for inputs in copies]
    if spec["kind"] in cutlass.FAMILIES:
        tiles, report["left_out"] = cutlass.candidates(
            device, context, cutlass.FAMILIES[spec["kind"]], problem, copies, alpha, beta
        )
        (report["config"],) = fastest(device, context, tiles, report["left_out"])
        return tiles[report["config"]]
    if spec["kind"] == "inductor":
        if problem["uses_c"]:
            raise RunnerError("Inductor is timed on D = A·B only; this problem adds beta·C.")
        m, n, k = copies[0].m, copies[0].n, copies[0].k
        shapes = (
            (m, k) if problem["layout_a"] == "row" else (k, m),
            (k, n) if problem["layout_b"] == "row" else (n, k),
            (m, n),
        )
        try:
            return inductor.product(
                [(c.a, c.b, c.d) for c in copies[:4]],
                shapes,
                problem["dtype_in"],
                (problem["layout_a"], problem["layout_b"]),
            )
        except SimulatorError:
            raise
        except Exception as error:  # PyTorch can fail in many ways; the other entries are still timed
            raise RunnerError(f"Inductor did not compile this product: {type(error).__name__}: {error}") from error
    function = device.kernel(spec["compiled"])
    calls = []
    for inputs in copies:
        arguments = []
        for token in spec["arguments"]:
            if isinstance(token, (tuple, list)) and token[0] == "buffer":
                scratch.append(Buffer(device, int(token[1])))
                scratch[-1].fill(0)
                arguments.append(scratch[-1])
            else:
                arguments.append(inputs.argument(token, alpha, beta))
        calls.append(device.launcher(function, spec["grid"], arguments, spec["cluster"]))
        if spec["kind"] == "ceiling":
            break
    return calls


def fastest(
    device: Device,
    context: Any,
    candidates: dict[str, list[Callable[[], None]]],
    left_out: dict[str, str],
    count: int = 1,
) -> list[str]:
    """The names of the `count` fastest candidates, by the median of five samples of some milliseconds each.

    The candidates are sampled in turn, so that a falling clock does not favour one of them. Those that are far behind
    after the first sample get no other. A candidate that cannot be launched is added to `left_out`. If none can be
    launched, `RunnerError` is raised.
    """
    trials = []
    for name, calls in candidates.items():
        context.running()
        trial = Entry(name, calls, 0.0)
        try:
            _choose_repeats(device, trial, TRIAL_SAMPLE_MS)
        except SimulatorError as error:
            left_out[name] = str(error)
            continue
        trials.append(trial)
    if not trials:
        raise RunnerError(
            "None of the candidates can be launched: " + "; ".join(f"{n}: {w}" for n, w in left_out.items())
        )
    for number in range(TRIAL_ROUNDS):
        context.running()
        _collect(device, [_enqueue(device, trial) for trial in trials], keep=True)
        if number == 0:
            first = sorted(trial.samples_ms[0] for trial in trials)
            limit = max(TRIAL_KEEPS * first[0], first[min(count, len(first)) - 1])
            trials = [trial for trial in trials if trial.samples_ms[0] <= limit]
    trials.sort(key=lambda trial: statistics.median(trial.samples_ms))
    return [trial.label for trial in trials[:count]]


def alternatives(
    device: Device,
    blas: Blas,
    context: Any,
    problem: dict[str, Any],
    copies: list[Inputs],
    spec: dict[str, Any],
    alpha: float,
    beta: float,
    scratch: list[Buffer],
    report: dict[str, Any],
) -> dict[str, list[Callable[[], None]]]:
    """{algorithm of cuBLASLt: its calls} of the fastest few and of the heuristic's first; all take part in the timing.

    Which is the fastest depends on the clock: a short trial chooses those that may be, and the timing itself decides.
    The first is what cuBLAS takes by itself, and a trial can miss that it is the fastest in bursts.
    """
    given = problem["multiplied"]
    operands = [(*_operands(problem, inputs, scratch), inputs.d) for inputs in copies]
    m, n, k = copies[0].m, copies[0].n, copies[0].k
    beta = beta if problem["uses_c"] else 0.0
    scales = [(inputs.scale_a, inputs.scale_b) for inputs in copies] if spec.get("scaled") else []
    found = cublaslt.candidates(
        device, problem, operands, m, n, k, alpha, beta, given, scratch, kind=spec["kind"], scales=scales
    )
    report["left_out"] = {}
    names = fastest(device, context, found, report["left_out"], MOST_ALTERNATIVES)
    first = next(iter(found))
    names += [first] if first not in (*names, *report["left_out"]) else []
    for name in names if problem["uses_c"] else []:
        for call, inputs in zip(found[name], copies, strict=True):
            call.prepare = lambda inputs=inputs: inputs.d.copy_from(inputs.c)
    return {name: found[name] for name in names}


def _operands(problem: dict[str, Any], inputs: Inputs, scratch: list[Buffer]) -> tuple[Buffer, Buffer]:
    """A and B for a library: where kernels round their f32 inputs before they multiply, inputs already rounded.

    So the library's time contains no conversion.
    """
    given = problem["multiplied"]
    if given == problem["dtype_in"]:
        return inputs.a, inputs.b
    a, b = inputs.rounded(inputs.a, inputs.m * inputs.k, given), inputs.rounded(inputs.b, inputs.k * inputs.n, given)
    scratch += [a, b]
    return a, b


def _cublas(
    blas: Blas, problem: dict[str, Any], inputs: Inputs, alpha: float, beta: float, scratch: list[Buffer]
) -> Callable[[], None]:
    """A callable that launches cuBLAS on one copy of the inputs.

    cuBLAS adds C in place, that is, it reads it from D; with beta = -1, D then alternates between two values and does
    not grow.
    """
    a, b = _operands(problem, inputs, scratch)
    call = blas.gemm(
        inputs.m,
        inputs.n,
        inputs.k,
        a,
        b,
        inputs.d,
        dtype_in=problem["multiplied"],
        dtype_out=problem["dtype_out"],
        dtype_acc=problem["dtype_acc"],
        layout_a=problem["layout_a"],
        layout_b=problem["layout_b"],
        alpha=alpha,
        beta=beta if problem["uses_c"] else 0.0,
    )
    if problem["uses_c"]:
        call.prepare = lambda: inputs.d.copy_from(inputs.c)
    return call


def _check(
    entry: Entry,
    inputs: Inputs,
    blas: Blas,
    spec: dict[str, Any],
    alpha: float,
    beta: float,
    limits: tuple[float, float],
) -> dict[str, Any]:
    inputs.d.fill(0xFF)
    call = entry.calls[0]
    getattr(call, "prepare", lambda: None)()
    call()
    getattr(call, "deliver", lambda: None)()
    inputs.device.wait()
    block = tuple(spec.get("block") or (128, 128))
    uses_c = inputs.problem["uses_c"]
    found = compare(
        inputs,
        blas,
        alpha=alpha if uses_c else 1.0,
        beta=beta if uses_c else 0.0,
        exact=False,
        limits=limits,
        block=block,
        multiplied=spec.get("multiplied"),
        scaled=bool(spec.get("scaled")),
    )
    return summary(found, inputs.n, block)


def _rejected(check: dict[str, Any], bound: float) -> str | None:
    if check["nonfinite"]:
        return f"not timed: {check['nonfinite']:,} elements of D are NaN or infinite"
    if check["wrong"]:
        return f"not timed: {check['wrong']:,} elements of D are wrong, the first at {tuple(check['first_bad'])}"
    if not check["relative_error"] <= bound:
        return f"not timed: the relative error {check['relative_error']:.2e} exceeds {bound:.2e}"
    return None


def _choose_repeats(device: Device, entry: Entry, sample_ms: float) -> None:
    entry.run(1)  # the first launch loads the kernel
    for times in (1, 4):
        start = device.mark()
        entry.run(times)
        stop = device.mark()
        stop.synchronize()
        each_ms = max(device.milliseconds(start, stop) / times, 1e-3)
        if each_ms >= sample_ms:
            break  # long launches need no better estimate
    entry.repeats = max(1, min(1000, round(sample_ms / each_ms)))


def _enqueue(device: Device, entry: Entry) -> Pending:
    start = device.mark()
    entry.run(entry.repeats)
    return entry, start, device.mark()


def _collect(device: Device, pending: list[Pending], keep: bool) -> None:
    for entry, start, stop in pending:
        stop.synchronize()
        if keep:
            entry.samples_ms.append(device.milliseconds(start, stop) / entry.repeats)


def _burst(device: Device, entries: list[Entry], rounds: int, gauge: Gauge, context: Any) -> list[dict[str, float]]:
    readings = []
    for number in range(rounds):
        context.running(done=number, total=rounds)
        for position in range(len(entries)):
            entry = entries[(number + position) % len(entries)]
            time.sleep(BURST_REST_S)
            entry.run(1)  # so that the timed launches do not include loading
            pending = [_enqueue(device, entry)]
            readings.append({"round": number, **gauge.read()})
            _collect(device, pending, keep=True)
    return readings


def _sustained(device: Device, entries: list[Entry], rounds: int, gauge: Gauge, context: Any) -> list[dict[str, float]]:
    """Time the entries without pauses: each round is queued before the previous one is collected."""
    readings, begun, number = [], time.monotonic(), 0
    pending: list[Pending] = []
    warm, pending_counts = True, False
    order = random.Random(ORDER_SEED)
    while number < rounds or pending:
        following = []
        if number < rounds:
            following = [_enqueue(device, entry) for entry in order.sample(entries, len(entries))]
        if not warm and following:
            readings.append({"round": number, **gauge.read()})
        _collect(device, pending, keep=pending_counts)
        pending, pending_counts = following, not warm
        if warm:
            warm = time.monotonic() - begun < SUSTAINED_WARMUP_S
            context.running(done=0, total=rounds)
        elif following:
            number += 1
            context.running(done=number, total=rounds)
    return readings
