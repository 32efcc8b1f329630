"""`gemm-lab profile`: record hardware counters of every rung and of the one-instruction kernels."""

from __future__ import annotations

import datetime
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

from gemm_lab import compiler
from gemm_lab.api.here import Here
from gemm_lab.api.kernel import kernel
from gemm_lab.measure.inputs import make_inputs
from gemm_lab.measure.profile import profile, ptx_hash, step, write_rows
from gemm_lab.measure.recordings import recordings

PROFILED_N = 512


def profile_rungs(names: Iterable[str], arch: str, n: int = PROFILED_N) -> list[dict[str, Any]]:
    """One row of counters for each rung at n × n × n."""
    plan, rows = [], []
    for name in names:
        made = kernel(name)
        compiled = made.compile(arch)
        inputs = make_inputs(made.spec.problem, n, n, n, "integers", 0)
        plan.append(step(compiled, made.grid(n, n, n), inputs.arguments()))
        rows.append({"kernel": made.name, "n": n, "arch": arch, "ptx": ptx_hash(compiled.ptx)})
    return [row | counts for row, counts in zip(rows, profile(plan), strict=True)]


def pattern_plan(arch: str, skip: Container[tuple[str, str, str]] = ()) -> tuple[list[dict], list[dict[str, Any]]]:
    """(plan, rows) for every recording of `measure.recordings` whose key is not in `skip`."""
    plan, rows = [], []
    for recording in recordings():
        if recording.key in skip:
            continue
        compiled = compiler.compile(recording.source, arch=arch, name="pattern")
        plan.append(step(compiled, (1, 1, 1), recording.arguments()))
        rows.append({"instruction": recording.instruction, "pattern": recording.pattern.name, "seed": recording.seed,
                     "arch": arch, "ptx": ptx_hash(compiled.ptx)})
    return plan, rows


def profile_patterns(arch: str, skip: Container[tuple[str, str, str]] = ()) -> list[dict[str, Any]]:
    """One row of shared-memory counters for each instruction and pattern."""
    plan, rows = pattern_plan(arch, skip)
    kept = ("wavefronts", "ideal_wavefronts", "hardware_wavefronts")
    return [row | {key: counts[key] for key in kept} for row, counts in zip(rows, profile(plan, 500.0), strict=True)]


def record_profiles(folder: Path, names: Iterable[str], where: Here) -> list[Path]:
    """Write rungs.csv and patterns.csv of the GPU in `where` into `folder`, and about.csv with the conditions."""
    arch, driver = where.arch, ".".join(map(str, where.present.driver))
    about = [{"gpu": where.present.name, "arch": arch, "driver_cuda": driver,
              "nvrtc": ".".join(map(str, compiler.version())), "date": datetime.date.today().isoformat()}]
    written = []
    for file, rows in (("rungs.csv", profile_rungs(names, arch)), ("patterns.csv", profile_patterns(arch)),
                       ("about.csv", about)):
        write_rows(folder / file, rows)
        written.append(folder / file)
    return written
