"""Counts the waits that an answer executes, for the exercises that limit them by those of the rung's own text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gemm_lab.lab import Kernel
from gemm_lab.lab.on_simulator import counted
from gpu_simulator import Report
from gpu_simulator.compiler import Compiled

MOST_WAITS = 1.1  # times the rung's own count: one more before the loop is allowed, but not one more in each iteration
_REPORTS: dict[tuple, tuple[Report, Compiled]] = {}  # launches of rungs, by configuration, grid and size
MOST_REPORTS = 8  # so many of them are kept


class InstructionKind(NamedTuple):
    """PTX instructions that are counted together.

    counts: a function of an instruction's name and modifiers that says whether it belongs to this kind.
    """

    label: str
    counts: Callable[[str, set[str]], bool]


WAITS: dict[str, InstructionKind] = {
    "waits_by_groups": InstructionKind(
        "groups that are closed, also empty ones", lambda name, parts: "commit_group" in parts
    ),
    "waits_for_blocks": InstructionKind(
        "waits of a block at its barriers",
        lambda name, parts: name in ("bar", "barrier") and not parts & {"warp", "arrive"},
    ),
    "waits_for_phases": InstructionKind(
        "waits for phases of mbarriers",
        lambda name, parts: name == "mbarrier" and bool(parts & {"try_wait", "test_wait"}),
    ),
    "waits_for_tensor_memory": InstructionKind(
        "waits for loads from tensor memory, or for stores to it (tcgen05.wait)",
        lambda name, parts: name == "tcgen05" and "wait" in parts,
    ),
    "waits_for_groups": InstructionKind(
        "waits for groups of copies or products",
        lambda name, parts: (
            name not in ("bar", "barrier", "mbarrier", "tcgen05") and any(part.startswith("wait") for part in parts)
        ),
    ),
}


def executions(report: Report, kinds: Mapping[str, InstructionKind]) -> Counter:
    """The number of warp instructions of a launch for each of these kinds."""
    found: Counter = Counter()
    for site in report.sites:
        name, *parts = re.split(r"\.|::", site.opcode)
        for kind, (_, counts) in kinds.items():
            found[kind] += site.executions * counts(name, set(parts))
    return found


_ALL_GROUPS = re.compile(r"\.wait_all|\.wait_group\S*\s+0\s*;")


def full_waits(report: Report, ptx: str) -> int:
    """The number of executed waits that leave no group of copies or products in flight. `ptx` is the launched text."""
    lines = ptx.split("\n")
    return sum(
        site.executions
        for site in report.sites
        if ".wait" in site.opcode and _ALL_GROUPS.search(lines[site.ptx_line - 1])
    )


def too_many_waits(run: Any, wanted: Mapping[str, Any]) -> str:
    """A sentence if an answer waits more often than the rung's own text, where the exercise counts waits; else "".

    run: of the answer on the simulator.   wanted: the criteria of the exercise.
    """
    if not {"waits", "full_waits"} & set(wanted):
        return ""
    rung, compiled = run_of_rung(run)
    size = f"At {run.m} × {run.n} × {run.k}"
    found, most = full_waits(run.report, run.compiled.ptx), full_waits(rung, compiled.ptx)
    if found > MOST_WAITS * most:
        return (
            f"{size} its warps wait {found:,} times until no copy and no product is running any more, and "
            f"those of the rung's own text {most:,} times: they wait for work that should overlap."
        )
    own, rungs = executions(run.report, WAITS), executions(rung, WAITS)
    for kind in WAITS if "waits" in wanted else ():
        if own[kind] <= MOST_WAITS * rungs[kind]:
            continue
        if kind == "waits_for_blocks":
            return (
                f"{size} its warps wait at barriers of the block {own[kind]:,} times, and those of the "
                f"kernel without your edit {rungs[kind]:,} times. A barrier inside a loop makes every thread "
                "wait in each turn of it: keep only the barriers without which two threads would disturb each other."
            )
        return (
            f"{size} it executes {own[kind]:,} warp instructions of what is counted here "
            f"({WAITS[kind].label}), and the rung's own text {rungs[kind]:,}: as few are possible."
        )
    return ""


def run_of_rung(run: Any) -> tuple[Report, Compiled]:
    """The report of the unedited kernel, with the grid and size of `run`, and what was launched."""
    base, size = run.kernel.unedited(), (run.m, run.n, run.k)
    key = key_of(base, *size, run.sms)
    if key not in _REPORTS:
        if len(_REPORTS) == MOST_REPORTS:
            _REPORTS.clear()
        rung = base.compile_as_taught()
        _REPORTS[key] = counted(base, rung, size, run.sms), rung
    return _REPORTS[key]


def key_of(base: Kernel, m: int, n: int, k: int, sms: int | None) -> tuple:
    """What distinguishes the launches of an unedited kernel."""
    return base.name, base.simulated_arch, tuple(base.config.items()), base.grid(m, n, k, sms), m, n, k
