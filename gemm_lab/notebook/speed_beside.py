"""Compares the speed of a correct answer with that of its rung. This needs a GPU, and no grade depends on it."""

from __future__ import annotations

from gemm_lab.lab import Kernel
from gemm_lab.lab.here import resolve_backend
from gemm_lab.lab.measuring import QUICK_ROUNDS, benchmark_kernels, speed_size
from gpu_simulator.errors import SimulatorError


def speed_beside(answer: Kernel) -> list[tuple[str, str]]:
    """(label, value) pairs for the card: TFLOPS of the answer and of the rung's own text, timed in turns on this GPU.

    The list is empty if there is no GPU or if the kernels could not be timed.
    """
    if resolve_backend(None) != "gpu":
        return []
    rung = answer.unedited()
    m, n, k = speed_size(answer)
    try:
        rows = benchmark_kernels(
            [answer, rung], [(m, n, k)], baselines=(), ceiling=None, regime="burst", rounds=QUICK_ROUNDS, progress=False
        )
    except SimulatorError:
        return []
    speeds = {row.kernel: row.tflops for row in rows}
    if not {answer.label, rung.label} <= set(speeds):
        return []
    return [
        (f"TFLOPS at {m} × {n} × {k}", f"{speeds[answer.label]:.1f}"),
        (f"of {rung.label}", f"{speeds[rung.label]:.1f}"),
    ]
