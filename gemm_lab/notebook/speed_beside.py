"""How fast an accepted answer is beside the rung that it belongs to: an extra on a GPU, which no grade depends on."""

from __future__ import annotations

from gemm_lab.lab import Kernel
from gemm_lab.lab.backends import resolve_backend
from gemm_lab.lab.measuring import QUICK_ROUNDS, benchmark_kernels, speed_size
from gpu_simulator.errors import LabError


def speed_beside(answer: Kernel) -> list[tuple[str, str]]:
    """Facts for the card: TFLOPS of the answer and of the rung's own text, timed in turns on this GPU.

    Nothing without a GPU, or where it does not run these kernels.
    """
    if resolve_backend(None) != "gpu":
        return []
    rung = answer.unedited()
    m, n, k = speed_size(answer)
    try:
        rows = benchmark_kernels(
            [answer, rung], [(m, n, k)], baselines=(), ceiling=None, regime="burst", rounds=QUICK_ROUNDS, progress=False
        )
    except LabError:
        return []
    speeds = {row.kernel: row.tflops for row in rows}
    if not {answer.label, rung.label} <= set(speeds):
        return []
    return [
        (f"TFLOPS at {m} × {n} × {k}", f"{speeds[answer.label]:.1f}"),
        (f"of {rung.label}", f"{speeds[rung.label]:.1f}"),
    ]
