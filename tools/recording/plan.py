"""Launches for Nsight Compute to watch, and their counters."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gemm_results.errors import LabError
from gemm_results.profile import METRICS
from tools.recording import ncu


def step(compiled: Any, grid: Sequence[int], args: Sequence[Any], cluster: Sequence[int] = (1, 1, 1)) -> dict[str, Any]:
    """One launch of a plan, as `gpu_runner.replay` takes it."""
    return {
        "cubin": compiled.cubin,
        "entry": compiled.entry,
        "grid": tuple(grid),
        "threads": compiled.threads,
        "smem": compiled.dynamic_smem,
        "args": list(args),
        "cluster": tuple(cluster),
    }


def profile(plan: Sequence[dict[str, Any]], timeout_s: float = 300.0) -> list[dict[str, int]]:
    """Run each step under ncu and return its counters: one dict per step, with the keys of METRICS.

    Raises `LabError` if ncu is missing, may not read the counters or does not have one of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        return [counters(launch) for launch in ncu.record(plan, METRICS.values(), Path(folder), timeout_s)]


def counters(launch: ncu.Launch) -> dict[str, int]:
    """The counters of METRICS. An empty value counts as 0: ncu prints it if the kernel has no such instruction.

    Raises `LabError` if this GPU does not have one of them.
    """
    absent = [theirs for theirs in METRICS.values() if theirs not in launch.values]
    if absent:
        raise LabError(f"ncu has no {', '.join(absent)} on this GPU, which the recordings need.")
    return {ours: round(launch.number(theirs) or 0) for ours, theirs in METRICS.items()}


def ptx_hash(ptx: str) -> str:
    """A hash of the instructions of a PTX text in 16 hexadecimal digits; comments and line tables do not count."""
    lines = (line.split("//")[0].strip() for line in ptx.split("\n"))
    kept = [line for line in lines if line and not line.startswith((".loc", ".file", ".version"))]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:16]
