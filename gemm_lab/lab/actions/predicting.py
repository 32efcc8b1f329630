"""Implements `Kernel.predict` and `Kernel.predicted_timeline`: a kernel's time on a GPU that is not here."""

from __future__ import annotations

from math import prod

import numpy as np

from gemm_lab.cards.predicted_card import LABELS, SHOWN_LINES, Predicted
from gemm_lab.lab.actions import source
from gemm_lab.lab.launchable import Launchable
from gemm_lab.lab.operands import arguments
from gemm_lab.lab.predicted_timeline import PredictedTimeline, require_length
from gemm_lab.measure import blind_trials
from gemm_lab.measure.inputs import dtype_of
from gpu_simulator.compiler import Compiled
from gpu_simulator.compiler.instruction_classes import CONTROL, INTEGER, OTHER, instruction_class
from gpu_simulator.errors import LabError
from gpu_simulator.hardware import data_sheets
from gpu_simulator.timing.constants_file import constants
from gpu_simulator.timing.launches import launch_of
from gpu_simulator.timing.recording import Recording
from gpu_simulator.timing.tracing import Launch
from gpu_simulator.timing.whole_kernel import Prediction, Product, predict, record

_AROUND = (INTEGER, CONTROL, OTHER)  # classes of instructions that only prepare what a line does
DEFAULT_STEP = 32  # of M, N and K, for a kernel whose configuration names no tile


def prediction(kernel: Launchable, on: str, m: int, n: int, k: int, compiled: Compiled | None = None) -> Prediction:
    """Predict an m × n × k run on GPU `on`. Raises `LabError` for what `predict` refuses, `SizeError` for the size."""
    return predict(*_launched(kernel, on, m, n, k, compiled))


def _launched(
    kernel: Launchable, on: str, m: int, n: int, k: int, compiled: Compiled | None = None
) -> tuple[Compiled, str, Product]:
    """The compiled kernel, the key of the GPU, and the product, as `predict` and `record` take them."""
    sheet = data_sheets.gpu(on)
    constants(sheet.key)  # raises for a GPU without constants, before anything is compiled
    kernel.spec.require_size(kernel.config, m, n, k)
    compiled = compiled or kernel.compile(sheet.arch)
    return compiled, sheet.key, product_of(kernel, compiled, m, n, k, sheet.sms)


def product_of(kernel: Launchable, compiled: Compiled, m: int, n: int, k: int, sms: int) -> Product:
    """How the kernel is launched, for this product and for shorter ones."""
    config, spec = kernel.config, kernel.spec

    def launch(rows: int, depth: int) -> Launch:
        grid = spec.launch_grid(config, rows, n, depth, sms)
        return launch_of(compiled, grid, _arguments(kernel, rows, n, depth), spec.cluster)

    block_m, block_n = config.get("BLOCK_M", DEFAULT_STEP), config.get("BLOCK_N", DEFAULT_STEP)
    # Clusters lie along one side of D: whole clusters of tiles keep every size valid.
    return Product(
        launch,
        m,
        k,
        block_m * prod(spec.cluster),
        config.get("BLOCK_K", DEFAULT_STEP),
        prod(spec.cluster) * -(-n // block_n),
        sms,
    )


def _arguments(kernel: Launchable, m: int, n: int, k: int) -> list:
    problem = kernel.problem

    def array(name: str) -> np.ndarray:
        rows, columns = problem.shape(name, m, n, k)
        layout = {"a": problem.layout_a, "b": problem.layout_b}.get(name, "row")
        kind = dtype_of(problem.dtype_in if name in "ab" else problem.dtype_out)
        return np.empty((rows, columns) if layout == "row" else (columns, rows), kind)  # never read or written

    return arguments(problem, {name: array(name) for name in "abcd"}, m, n, k, 1.0, 0.0)


def predicted(kernel: Launchable, on: str, m: int, n: int, k: int) -> Predicted:
    """Implements `Kernel.predict`."""
    found = prediction(kernel, on, m, n, k)
    name = data_sheets.gpu(on).name
    return Predicted(kernel.label, name, m, n, k, found, _errors(kernel, on), tuple(_lines(kernel, found)))


def _errors(kernel: Launchable, on: str) -> blind_trials.Errors | None:
    """How far predictions of the kernel's ladder were off on this GPU."""
    key = data_sheets.gpu(on).key
    return blind_trials.errors(
        t for t in blind_trials.trials() if data_sheets.gpu(t.gpu).key == key and t.family == kernel.spec.ladder
    )


def predicted_timeline(
    kernel: Launchable, on: str, m: int, n: int, k: int, where: int | str | None, start: int | None, cycles: int
) -> PredictedTimeline:
    """Implements `Kernel.predicted_timeline`."""
    require_length(cycles)
    if start is not None and where is not None:
        raise LabError("Give either where or start: both say which cycles are shown.")
    lines = None if where is None else source.places(kernel, where)
    run = record(*_launched(kernel, on, m, n, k))
    begins = _begins(run, lines)
    if not begins:
        named = f"line {where}" if isinstance(where, int) else f"the region “{where}”"
        raise LabError(f"No machine instruction of {kernel.label} comes from {named}.")
    if start is None:
        start = max(int(begins[len(begins) // 2]) - cycles // 4, 0)
    sources = {(file, number): text for file, number, text in source.listing(kernel)}
    name, error = data_sheets.gpu(on).name, _errors(kernel, on)
    return PredictedTimeline(kernel.label, name, m, n, k, run, start, start + cycles, sources, error)


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
