"""`python -m tools.recording counters`: hardware counters and cards of rungs, counters of one-instruction kernels.

Each file is rewritten as a whole: new rows replace the old rows of the same kernels, and the other rows are kept.
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gemm_lab import catalog, compiling
from gemm_lab.lab.here import Here
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_lab.measure.inputs import make_inputs
from gemm_results.profile import PROFILED_N, read_rows, source_hash
from gemm_results.recorded_cards import CARD_N
from gpu_simulator import compiler
from tools.recording import ncu
from tools.recording.cards import driver_version, record_cards, replaced, write_cards, write_rows
from tools.recording.plan import profile, ptx_hash, step
from tools.recording.wmma_patterns import all_recordings

PARTS = ("rungs", "cards", "patterns")


def profile_rungs(names: Iterable[str], arch: str, n: int = PROFILED_N) -> list[dict[str, Any]]:
    """Profile rungs at n × n × n in their default configurations; returns one row of counters for each."""
    plan, rows = [], []
    for name in names:
        made = kernel(name)
        made = replace(made, config=made.spec.configure())
        compiled = made.compile(arch)
        inputs = make_inputs(made.problem, n, n, n, "integers", 0)
        plan.append(step(compiled, made.grid(n, n, n), inputs.arguments(), made.spec.cluster))
        rows.append(
            {"kernel": made.name, "n": n, "arch": arch, "ptx": ptx_hash(compiled.ptx), "source": source_hash(compiled)}
        )
    return [row | counts for row, counts in zip(rows, profile(plan), strict=True)]


def pattern_plan(arch: str, skip: Container[tuple[str, str, str]] = ()) -> tuple[list[dict], list[dict[str, Any]]]:
    """(plan, rows) for every one of `all_recordings` whose key is not in `skip`.

    The plan has the launches for `measure.profile`; each row describes one of them and has no counters yet.
    """
    plan, rows = [], []
    for recording in all_recordings():
        if recording.key in skip:
            continue
        compiled = compiling.compile(recording.source, arch=arch, name="pattern")
        plan.append(step(compiled, (1, 1, 1), recording.arguments()))
        rows.append(
            {
                "instruction": recording.instruction,
                "pattern": recording.pattern.name,
                "seed": recording.seed,
                "arch": arch,
                "ptx": ptx_hash(compiled.ptx),
            }
        )
    return plan, rows


def profile_patterns(arch: str, skip: Container[tuple[str, str, str]] = ()) -> list[dict[str, Any]]:
    """Profile the one-instruction kernels; returns a row of shared-memory counters for each instruction and pattern."""
    plan, rows = pattern_plan(arch, skip)
    kept = ("wavefronts", "ideal_wavefronts", "hardware_wavefronts")
    return [row | {key: counts[key] for key in kept} for row, counts in zip(rows, profile(plan, 500.0), strict=True)]


def record_profiles(
    folder: Path,
    names: Sequence[str],
    where: Here,
    parts: Sequence[str] = PARTS,
    n: int = CARD_N,
    onto: Path | None = None,
    raw: Path | None = None,
    settings: Mapping[str, int] | None = None,
) -> list[Path]:
    """Record `parts` for the GPU in `where`, write their files into `folder`, and return the paths written.

    The new rows replace those of the files in `onto` (default: `folder`). Kernels that are not written for this GPU are
    left out. If `raw` is given, ncu's files for the cards are kept there, in one folder for each ladder. The cards of a
    ladder are written as soon as they are recorded. `settings` are changes to the configurations of the cards.
    """
    onto, arch, written = onto or folder, where.arch, []
    names = [name for name in names if catalog.kernel(name).written_for(arch)]
    if "cards" in parts:
        base = onto
        for ladder in dict.fromkeys(name.split("/")[0] for name in names):
            mine = [made for name in names if name.startswith(f"{ladder}/") for made in variants(name, where, settings)]
            with tempfile.TemporaryDirectory() as scratch:
                found = record_cards(mine, where, raw / ladder if raw else Path(scratch), n)
            written, base = write_cards(folder, found, base), folder
    if "rungs" in parts:
        rows = replaced(read_rows(onto / "rungs.csv"), profile_rungs(names, arch), ("kernel", "n"))
        written.append(_written(folder / "rungs.csv", rows))
    if "patterns" in parts:
        written.append(_written(folder / "patterns.csv", profile_patterns(arch)))
        about = {
            "gpu": where.present.name,
            "arch": arch,
            "driver": driver_version(where),
            "nvrtc": ".".join(map(str, compiler.version())),
            "ncu": ncu.version(),
            "date": datetime.date.today().isoformat(),
        }
        written.append(_written(folder / "about.csv", [about]))
    return written


def variants(name: str, where: Here, settings: Mapping[str, int] | None = None) -> list[Kernel]:
    """The rung with its default configuration and, if it differs, also with that of this GPU.

    `settings` are changed in both.
    """
    made = kernel(name)
    configs = [made.spec.configure(key, **settings or {}) for key in (None, where.gpu.key if where.gpu else None)]
    return [replace(made, config=config) for index, config in enumerate(configs) if config not in configs[:index]]


def _written(path: Path, rows: list[dict[str, Any]]) -> Path:
    write_rows(path, rows)
    return path
