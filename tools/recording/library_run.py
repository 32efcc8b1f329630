"""`python -m tools.recording library cublas_bf16`: cuBLAS checked and timed on the problem of the wmma ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gpu_runner as device
from gemm_lab.catalog import Problem
from gemm_lab.lab.here import resolve_backend
from gemm_lab.measure.benchmark import Entry, benchmark
from gemm_results.errors import LabError

ROUNDS = 4
# cuBLAS gets matrices that are already rounded, so its time contains no conversion.
ARGUMENTS = ("a", "b", "d", "m", "n", "k")
PROBLEMS = {
    f"cublas_{dtype}": Problem("D = AB", "f32", "f32", "f32", "row", "row", ARGUMENTS, dtype)
    for dtype in ("f16", "bf16", "f32")
}


@dataclass(frozen=True)
class LibraryRun:
    """The outcome of one m × n × k product of N(0, 1) numbers by cuBLAS, checked against the exact result."""

    name: str
    m: int
    n: int
    k: int
    passed: bool
    message: str
    tflops: float | None

    def as_dict(self) -> dict[str, Any]:
        """The fields that `--json` prints."""
        return {
            "kernel": self.name,
            "backend": "gpu",
            "m": self.m,
            "n": self.n,
            "k": self.k,
            "passed": self.passed,
            "error": None if self.passed else self.message,
            "tflops": self.tflops,
            "wavefronts": None,
            "ideal_wavefronts": None,
        }

    def __str__(self) -> str:
        speed = "" if self.tflops is None else f" · speed {self.tflops:.1f} TFLOPS"
        return (
            f"{'PASS' if self.passed else 'FAIL'}  {self.name}  {self.message}\n"
            f"      size {self.m} × {self.n} × {self.k}{speed}"
        )


def run_library(
    name: str, n: int, m: int, k: int, *, backend: str | None = None, timed: bool = True, session: Any = None
) -> LibraryRun:
    """Check cuBLAS at m × n × k and time it in bursts. Raises `LabError` without a GPU. `session` is for tests."""
    if session is None and resolve_backend(backend, timing=True) != "gpu":
        why = device.why_not() or "the simulator was asked for"
        raise LabError(f"{name} is NVIDIA's library: it runs on a GPU only, and cannot be simulated ({why}).")
    problem = PROBLEMS[name]
    found = benchmark(
        [Entry(name, "cublas", multiplied=problem.multiplied)],
        [(m, n, k)],
        problem,
        "burst",
        ROUNDS if timed else 1,
        session=session,
    )
    if not found:
        return LibraryRun(name, m, n, k, False, "; ".join(found.skipped.values()), None)
    error = next(report["check"]["relative_error"] for report in found.raw[0]["entries"])
    return LibraryRun(name, m, n, k, True, f"relative error {error:.1e}", found[0].tflops if timed else None)
