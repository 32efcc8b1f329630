"""One bad kernel after another: what came of each, and what is left of processes, files and memory."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from bad_kernels import Bad

import gpu_simulator as emulator
from gemm_lab import compiling
from gpu_runner import payload
from gpu_runner.session import Session, Silence
from gpu_simulator.errors import LabError


@dataclass(frozen=True)
class Outcome:
    """What came of one kernel: an error's class or "ran", its message, seconds, and characters it printed."""

    bad: Bad
    found: str
    message: str
    seconds: float
    printed: int = 0


def on_emulator(bad: Bad, arch: str = "sm_90a") -> Outcome:
    """Compile and emulate; whatever is not an error of the lab passes through."""
    begin, printed = time.monotonic(), 0
    try:
        made = compiling.compile(bad.source, arch=arch, name="bad")
        report = emulator.launch(
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
    except LabError as error:
        found, message = type(error).__name__, str(error)
    return Outcome(bad, found, message, time.monotonic() - begin, printed)


def on_gpu(bad: Bad, session: Session, arch: str, timeout_s: float) -> Outcome:
    """Compile and launch in the session's worker, without the second run that finds the line."""
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
    except LabError as error:
        found, message = type(error).__name__, str(error)
    return Outcome(bad, found, message, time.monotonic() - begin, len(session.output))


def children() -> dict[int, str]:
    """The state of every child of this process: "Z" for one that ended and was not waited for."""
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
