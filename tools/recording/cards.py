"""Records profile cards: runs kernels under Nsight Compute at one size, and writes what it counted."""

from __future__ import annotations

import csv
import datetime
import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gemm_lab.lab.here import Here
from gemm_lab.lab.launchable import Launchable
from gemm_lab.measure.inputs import arguments, make_inputs
from gemm_results.profile import read_rows, source_hash
from gemm_results.recorded_cards import CARD_METRICS, CARD_N, CARDS, CONDITIONS, EXECUTED, KEY, ProfileCard
from gpu_simulator import compiler
from tools.recording import ncu
from tools.recording.plan import ptx_hash, step

TIMEOUT_S = 540.0
LAUNCHES = "launches.json"
METRIC_NAMES = (*dict.fromkeys(name for names in CARD_METRICS.values() for name in names), ncu.PER_ADDRESS)


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
        # Kernels of one problem share their input arrays.
        same = replace(problem, arguments=(), tensor_maps=()), problem.scaled
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


def config_text(config: Mapping[str, int]) -> str:
    """A configuration as the text of one field, such as "BLOCK_M=256 BLOCK_N=128"."""
    return " ".join(f"{name}={value}" for name, value in config.items())


def from_launch(launch: ncu.Launch, kernel: str, n: int, config: Mapping[str, int], **conditions: str) -> ProfileCard:
    """The card of a profiled launch. conditions: values of CONDITIONS, such as gpu="NVIDIA H200"."""
    values = {column: value for column, names in CARD_METRICS.items() if (value := launch.number(*names)) is not None}
    return ProfileCard(kernel, n, dict(config), conditions, values, dict(launch.opcodes))


def write_cards(folder: Path, cards: Iterable[ProfileCard], onto: Path | None = None) -> list[Path]:
    """Write cards.csv and executed.csv into `folder` and return their paths.

    They have the rows of the files in `onto` (default: `folder`), with those of `cards` added or replaced.
    """
    folder, onto, cards = Path(folder), Path(onto or folder), list(cards)

    def row(card: ProfileCard) -> dict[str, Any]:
        numbers = {column: _short(card[column]) for column in CARD_METRICS}
        known = {name: card.conditions.get(name, "") for name in CONDITIONS}
        return {"kernel": card.kernel, "n": card.n, "config": config_text(card.config), **known, **numbers}

    executed = [
        {"kernel": card.kernel, "n": card.n, "config": config_text(card.config), "opcode": opcode, "executed": count}
        for card in cards
        for opcode, count in sorted(card.opcodes.items())
    ]
    old = read_rows(onto / EXECUTED)
    fresh = {(card.kernel, str(card.n), config_text(card.config)) for card in cards}
    kept = [line for line in old if tuple(line[name] for name in KEY) not in fresh]
    write_rows(folder / CARDS, replaced(read_rows(onto / CARDS), [row(card) for card in cards], KEY))
    write_rows(folder / EXECUTED, sorted(kept + executed, key=lambda line: str(line["kernel"])))
    return [folder / CARDS, folder / EXECUTED]


def _short(value: float | None) -> float | int | None:
    return value if value is None else int(value) if value == int(value) else float(f"{value:.6g}")


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write dicts as CSV, with a column for every key that occurs; None becomes an empty field."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def replaced(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]], key: Sequence[str]) -> list[dict[str, Any]]:
    """`old` and `new` together, sorted by the first column of `key`.

    A row of `old` is left out if one of `new` has the same values in the columns of `key`.
    """

    def of(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(str(row.get(name, "")) for name in key)

    fresh = {of(row) for row in new}
    return sorted([row for row in old if of(row) not in fresh] + list(new), key=lambda row: str(row[key[0]]))


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
