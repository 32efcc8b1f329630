"""Implements `Kernel.predict` and `Kernel.predicted_timeline`: a kernel's time on a GPU that is not here."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from gemm_lab.lab.actions import source
from gemm_lab.lab.actions.source import require_form
from gemm_lab.lab.actions.unmodelled import gap
from gemm_lab.lab.here import RECORDED_ON
from gemm_lab.lab.launchable import Launchable
from gemm_lab.lab.predicted_timeline import PredictedTimeline, require_length
from gemm_lab.measure import known_speeds
from gemm_lab.measure.inputs import arguments
from gemm_results import blind_trials, published_trials
from gemm_results.cards.predicted_card import LABELS, SHOWN_LINES, Predicted, trust
from gemm_results.errors import LabError
from gpu_simulator.compiler import Compiled
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware import data_sheets
from gpu_simulator.hardware.number_types import dtype_of
from gpu_timing.cycles.constants_file import constants, known
from gpu_timing.cycles.launches import launch_of
from gpu_timing.cycles.recording import Recording
from gpu_timing.cycles.tracing import Launch
from gpu_timing.cycles.whole_kernel import Prediction, Product, predict, record
from gpu_timing.machine_code.instruction_classes import CONTROL, INTEGER, OTHER, instruction_class

_AROUND = (INTEGER, CONTROL, OTHER)  # classes of instructions that only prepare what a line does
DEFAULT_STEP = 32  # of M, N and K, for a kernel whose configuration names no tile
KEPT = 64  # predictions that are kept in memory
SHOWN_N = 4096  # the size for which the card of a run has a prediction


@dataclass(frozen=True)
class _Asked:
    """What a prediction depends on; two are equal if the machine code, the settings, the size and the GPU are."""

    gpu: str
    name: str
    settings: tuple[tuple[str, int], ...]
    size: tuple[int, int, int]
    cubin: bytes = field(repr=False)
    kernel: Launchable = field(repr=False, compare=False)
    compiled: Compiled = field(repr=False, compare=False)

    def launched(self) -> tuple[Compiled, str, Product]:
        """What `predict` and `record` take."""
        product = product_of(self.kernel, self.compiled, *self.size, data_sheets.gpu(self.gpu).sms)
        return self.compiled, self.gpu, product


def prediction(kernel: Launchable, on: str, m: int, n: int, k: int, compiled: Compiled | None = None) -> Prediction:
    """Predict an m × n × k run on GPU `on`. Raises `LabError` for what `predict` refuses, `SizeError` for the size."""
    return _found(_asked(kernel, on, m, n, k, compiled))


def _asked(kernel: Launchable, on: str, m: int, n: int, k: int, compiled: Compiled | None = None) -> _Asked:
    sheet = gpu_with_constants(on)
    kernel.spec.require_size(kernel.config, m, n, k)
    compiled = compiled or kernel.compile(sheet.arch)
    require_form(kernel, compiled)
    settings = tuple(sorted(kernel.config.items()))
    return _Asked(sheet.key, kernel.name, settings, (m, n, k), compiled.cubin, kernel, compiled)


def gpu_with_constants(on: str) -> data_sheets.Gpu:
    """The data sheet of GPU `on`. Raises a `LabError` that lists the GPUs with constants for any other."""
    try:
        sheet = data_sheets.gpu(on)
    except SimulatorError:
        constants(on)  # raises
        raise
    constants(sheet.key)
    return sheet


@lru_cache(maxsize=KEPT)
def _found(asked: _Asked) -> Prediction:
    return predict(*asked.launched())


def product_of(kernel: Launchable, compiled: Compiled, m: int, n: int, k: int, sms: int) -> Product:
    """How the kernel is launched, for this product and for shorter ones."""
    config, spec = kernel.config, kernel.spec

    def launch(rows: int, depth: int) -> Launch:
        grid = spec.launch_grid(config, rows, n, depth, sms)
        return launch_of(compiled, grid, _arguments(kernel, rows, n, depth), spec.cluster)

    block_m, block_n, block_k = (config.get(f"BLOCK_{axis}", DEFAULT_STEP) for axis in "MNK")
    # Clusters lie along one side of D: whole clusters of tiles keep every size valid.
    rows, blocks = block_m * prod(spec.cluster), prod(spec.cluster) * -(-n // block_n)
    return Product(launch, m, k, rows, block_k, blocks, sms, 2.0 * m * n * k)


def _arguments(kernel: Launchable, m: int, n: int, k: int) -> list:
    problem = kernel.problem
    values: dict[str, Any] = {"m": m, "n": n, "k": k, "alpha": 1.0, "beta": 0.0}
    for name in problem.arrays:  # never read or written
        values[name] = np.empty(problem.shape(name, m, n, k), dtype_of(problem.dtype(name)))
    return arguments(problem, values)


def predicted(kernel: Launchable, on: str, m: int, n: int, k: int) -> Predicted:
    """Implements `Kernel.predict`."""
    found, sheet = prediction(kernel, on, m, n, k), data_sheets.gpu(on)
    spread, base, record = known_speeds.spread(sheet.key, kernel.spec.ladder), None, None
    missing = gap(kernel, sheet, found, m, n, k, ratio=not spread)
    if not spread and not missing and (before := kernel.before()):
        base = _base(before, sheet, m, n, k)
    if not kernel.edited:
        record = known_speeds.burst(sheet.key, kernel.name, kernel.config, m, n, k)
    return Predicted(
        kernel.label,
        sheet.name,
        m,
        n,
        k,
        found,
        spread,
        base,
        published_trials.summary(_ratios(sheet.key)),
        record and (record.tflops, record.date),
        missing,
        tuple(_lines(kernel, found)),
    )


def _base(before: Launchable, sheet: data_sheets.Gpu, m: int, n: int, k: int) -> tuple[str, float] | None:
    """The name and the predicted cycles of the kernel before; None if it has no prediction either."""
    try:
        found = prediction(before, sheet.key, m, n, k)
    except SimulatorError:
        return None
    return None if gap(before, sheet, found, m, n, k, ratio=True) else (before.label, found.cycles)


def _ratios(key: str) -> list[published_trials.Ratio]:
    return published_trials.ratios(one for one in published_trials.steps() if one.gpu == key)


def cycles_trust(kernel: Launchable, on: str) -> str:
    """How far the predicted cycles of kernels of this ladder were off, in a sentence."""
    sheet = data_sheets.gpu(on)
    family = [t for t in blind_trials.trials() if t.family == kernel.spec.ladder]
    alike = [t for t in family if data_sheets.gpu(t.gpu).key == sheet.key] or family
    tested_on = data_sheets.gpu(alike[0].gpu).name if alike else ""
    return trust(sheet.name, blind_trials.errors(alike), tested_on, published_trials.summary(_ratios(sheet.key)))


def reference(kernel: Launchable) -> str:
    """The GPU for which a kernel is predicted if none is named: its ladder's, or `RECORDED_ON` without constants."""
    taught = kernel.taught_gpu().key
    return taught if taught in known() else RECORDED_ON


def expected(kernel: Launchable) -> Predicted | str:
    """The prediction for the card of a run, or a sentence that says why there is none. Raises nothing, so that no
    verdict is lost because of a prediction, not even by Ctrl-C.
    """
    try:
        return attempted(kernel, reference(kernel), SHOWN_N)
    except KeyboardInterrupt:
        return "There is no prediction, because it was interrupted; k.predict() makes one."


def attempted(kernel: Launchable, on: str, n: int) -> Predicted | str:
    """The predicted n × n × n run, or a sentence that says why there is none, even if the model itself fails."""
    try:
        return predicted(kernel, on, n, n, n)
    except SimulatorError as error:
        return f"There is no prediction: {str(error).removeprefix('There is no prediction: ')}"
    except Exception as error:
        return f"There is no prediction: the time model failed on this machine code ({type(error).__name__}: {error})."


def predicted_timeline(
    kernel: Launchable, on: str, m: int, n: int, k: int, where: int | str | None, start: int | None, cycles: int
) -> PredictedTimeline:
    """Implements `Kernel.predicted_timeline`."""
    require_length(cycles)
    if start is not None and where is not None:
        raise LabError("Give either where or start: both say which cycles are shown.")
    lines = None if where is None else source.places(kernel, where)
    run = record(*_asked(kernel, on, m, n, k).launched())
    begins = _begins(run, lines)
    if not begins:
        named = f"line {where}" if isinstance(where, int) else f"the region “{where}”"
        raise LabError(f"No machine instruction of {kernel.label} comes from {named}.")
    if start is None:
        start = max(int(begins[len(begins) // 2]) - cycles // 4, 0)
    sources = {(file, number): text for file, number, text in source.listing(kernel)}
    name = data_sheets.gpu(on).name
    return PredictedTimeline(kernel.label, name, m, n, k, run, start, start + cycles, sources, cycles_trust(kernel, on))


def _begins(run: Recording, lines: set[tuple[str, int]] | None) -> tuple[float, ...]:
    """The cycles in which a turn of the main loop begins, or in which a warp begins these lines; empty if none does.

    Lines begin with their first instruction that computes or reaches memory: the compiler may have put their address
    arithmetic elsewhere.
    """
    if lines is None:
        return run.turns or tuple(one.cycle for one in run.issues)
    inside = {one.index for one in run.code if (one.line.file, one.line.line) in lines}
    inside = {one for one in inside if instruction_class(run.code[one].op) not in _AROUND} or inside
    first = next((one for one in run.issues if one.instruction in inside), None)
    if first is None:
        return ()
    same = (first.warp, first.instruction)
    return tuple(one.cycle for one in run.issues if (one.warp, one.instruction) == same)


def _lines(kernel: Launchable, found: Prediction) -> list[tuple[int, str, float, str]]:
    """The lines of the source in which warps spend most of their time, the longest first."""
    rows = []
    texts = {(file, number): text for file, number, text in source.listing(kernel)}
    for file in dict.fromkeys(file for file, _ in texts):
        for number, reasons in found.by_line(file).items():
            waits = {name: share for name, share in reasons.items() if name not in ("selected", "not_selected")}
            why = max(waits, key=waits.__getitem__) if waits else "selected"
            rows.append((number, texts.get((file, number), ""), sum(reasons.values()), LABELS.get(why, why)))
    return sorted(rows, key=lambda row: -row[2])[:SHOWN_LINES]
