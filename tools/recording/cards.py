"""Records profile cards: runs kernels under Nsight Compute at one size."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gemm_lab.lab.here import Here
from gemm_lab.lab.launchable import Launchable
from gemm_lab.measure import ncu
from gemm_lab.measure.cards import CARD_N, METRIC_NAMES, ProfileCard, from_launch
from gemm_lab.measure.inputs import arguments, make_inputs
from gemm_lab.measure.profile import ptx_hash, source_hash, step
from gpu_simulator import compiler

TIMEOUT_S = 540.0
LAUNCHES = "launches.json"


def record_cards(
    kernels: Iterable[Launchable], where: Here, folder: Path, n: int = CARD_N, timeout_s: float = TIMEOUT_S
) -> list[ProfileCard]:
    """Profile kernels at n × n × n with N(0, 1) inputs, all in one run of ncu, and return a card for each.

    ncu's report and its exports stay in `folder`, where `read_recording` finds them. Raises `LabError` for a size that
    a kernel cannot multiply, and the errors of `ncu.record`.
    """
    plan, launches, inputs = [], [], {}
    for made in kernels:
        made.spec.require_size(made.config, n, n, n)
        compiled, problem = made.compile(where.arch), made.problem
        same = replace(problem, arguments=(), tensor_maps=())  # kernels of one problem share their input arrays
        if same not in inputs:
            inputs[same] = vars(make_inputs(problem, n, n, n, "normal", 0))
        plan.append(step(compiled, made.grid(n, n, n), arguments(problem, inputs[same]), made.spec.cluster))
        launches.append(
            {
                "kernel": made.name,
                "n": n,
                "config": made.config,
                "ptx": ptx_hash(compiled.ptx),
                "source": source_hash(compiled),
            }
        )
    folder.mkdir(parents=True, exist_ok=True)
    conditions = {
        "gpu": where.present.name,
        "arch": where.arch,
        "driver": driver_version(where),
        "nvrtc": ".".join(map(str, compiler.version())),
        "ncu": ncu.version(),
        "date": datetime.date.today().isoformat(),
    }
    (folder / LAUNCHES).write_text(json.dumps([launch | conditions for launch in launches], indent=1), encoding="utf-8")
    ncu.record(plan, METRIC_NAMES, folder, timeout_s)
    return read_recording(folder)


def read_recording(folder: Path) -> list[ProfileCard]:
    """The cards of a folder that `record_cards` wrote, one for each launch. Needs no GPU; reads ncu's exports."""
    launches = json.loads((folder / LAUNCHES).read_text(encoding="utf-8"))
    return [from_launch(found, **launch) for found, launch in zip(ncu.read(folder), launches, strict=True)]


def driver_version(where: Here) -> str:
    """The driver's version as nvidia-smi prints it; without nvidia-smi, "for CUDA " and the version it supports."""
    try:
        asked = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=30,
        )
        return asked.stdout.split()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return "for CUDA " + ".".join(map(str, where.present.driver))
