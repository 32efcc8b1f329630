"""Runs bad kernels and records their outcomes, and counts the processes and files that are left."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from bad_kernels import Bad

import gpu_simulator
from gemm_lab import compiling
from gpu_runner import payload
from gpu_runner.session import Session, Silence
from gpu_simulator.errors import SimulatorError


@dataclass(frozen=True)
class Outcome:
    """The outcome of one kernel. found: an error's class or "ran".   printed: the number of characters it printed."""

    bad: Bad
    found: str
    message: str
    seconds: float
    printed: int = 0


def on_simulator(bad: Bad, arch: str = "sm_90a") -> Outcome:
    """Compile and simulate a kernel. Exceptions that are not errors of the lab are not caught."""
    begin, printed = time.monotonic(), 0
    try:
        made = compiling.compile(bad.source, arch=arch, name="bad")
        report = gpu_simulator.launch(
            made,
            made.entry,
            bad.grid,
            made.threads,
            bad.arguments(),
            cluster=bad.cluster,
            max_instructions=100_000,
            max_steps=8_000,
        )
        found, message, printed = "ran", "", len(report.output)
    except SimulatorError as error:
        found, message = type(error).__name__, str(error)
    return Outcome(bad, found, message, time.monotonic() - begin, printed)


def on_gpu(bad: Bad, session: Session, arch: str, timeout_s: float) -> Outcome:
    """Compile a kernel and launch it in the session's worker, without the second run that finds the faulty line."""
    begin, session.output = time.monotonic(), ""
    try:
        made = compiling.compile(bad.source, arch=arch, name="bad")
        session.request(
            "launch",
            timeout_s=timeout_s,
            compiled=payload(made),
            grid=bad.grid,
            args=bad.arguments(),
            cluster=bad.cluster,
        )
        found, message = "ran", ""
    except Silence as silence:
        found, message = ("KernelHang" if silence.running else "WorkerLost"), str(silence)
    except SimulatorError as error:
        found, message = type(error).__name__, str(error)
    return Outcome(bad, found, message, time.monotonic() - begin, len(session.output))


def children() -> dict[int, str]:
    """{process id: state} of all children of this process. The state is "Z" for a zombie."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, *_ = path.read_text().rsplit(")", 1)[1].split()
        except (OSError, ValueError):
            continue
        if int(parent) == os.getpid():
            found[int(path.parent.name)] = state
    return found


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
