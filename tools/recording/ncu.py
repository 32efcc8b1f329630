"""Nsight Compute from Python: run a plan of launches under `ncu`, and read what it prints.

The report is written to a file and exported from there, so the exports can be read again without a GPU. Metrics that
the GPU or the version of ncu does not have are left out of the run and are absent from its rows.
"""

from __future__ import annotations

import csv
import io
import math
import pickle
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gemm_results.errors import LabError
from gemm_results.recorded_cards import PER_OPCODE
from gpu_runner.turns import gpu_for
from gpu_simulator.errors import MissingDependency

PER_ADDRESS = "inst_executed"  # one instance per instruction address; fills a column of the source page
ABSENT = ("", "n/a", "nan", "-nan", "inf", "-inf")
RETRIES = 12
NO_COUNTERS = (
    "ncu is not allowed to read the GPU's counters here. Run it as root, or let an administrator allow it to all users "
    "with the option NVreg_RestrictProfilingToAdminUsers=0 of the NVIDIA kernel module."
)


@dataclass(frozen=True)
class Launch:
    """One profiled launch. values: text of each metric, by name.   opcodes: executed warp instructions by opcode."""

    values: dict[str, str]
    opcodes: Counter

    def number(self, *names: str) -> float | None:
        """The value of the first of these metrics that this launch has; None if it has none of them."""
        return next((value for name in names if (value := number(self.values.get(name))) is not None), None)


def find() -> str:
    """Path of ncu. Raises `MissingDependency` if it is not installed."""
    found = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")
    if found is None:
        raise MissingDependency("Nsight Compute (ncu) was not found; it comes with the CUDA Toolkit.")
    return found


def version() -> str:
    """The version of ncu, such as "2025.3.1.0"; empty if ncu does not print it."""
    text = subprocess.run([find(), "--version"], capture_output=True, text=True, timeout=60).stdout
    said = re.search(r"Version (\S+)", text)
    return said[1] if said else ""


def record(
    plan: Sequence[dict[str, Any]], metrics: Iterable[str], folder: Path, timeout_s: float = 300.0
) -> list[Launch]:
    """Launch each step of `plan` under ncu and return one `Launch` per step, in order.

    `folder` keeps the report and its exports: report.ncu-rep, raw.csv, instances.csv, source.csv, ncu.log. Raises
    `LabError` if ncu may not read the counters, takes longer than timeout_s or does not profile every launch.
    """
    ncu, folder = find(), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    report, plan_file = folder / "report.ncu-rep", folder / "plan.pickle"
    plan_file.write_bytes(pickle.dumps(list(plan)))
    entries = "|".join(sorted({re.escape(step["entry"]) for step in plan}))
    wanted = known(list(dict.fromkeys(metrics)), _listed(ncu))
    log = ""
    try:
        for _ in range(RETRIES):
            report.unlink(missing_ok=True)
            command = [
                ncu,
                "--force-overwrite",
                "--export",
                str(report.with_suffix("")),
                "--clock-control",
                "none",
                "-k",
                f"regex:^({entries})$",
                "--metrics",
                ",".join(wanted),
                sys.executable,
                "-m",
                "gpu_runner.replay",
                str(plan_file),
            ]
            try:
                with gpu_for(f"profiling {len(plan)} launches"):
                    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)
            except subprocess.TimeoutExpired:
                sentence = f"ncu did not finish within {timeout_s:.0f} s; profile fewer kernels or a smaller n."
                raise LabError(sentence) from None
            log = done.stdout + done.stderr
            unknown = refused(log, wanted)
            if not unknown:
                break
            wanted = [name for name in wanted if name not in unknown]
    finally:
        plan_file.unlink(missing_ok=True)
        (folder / "ncu.log").write_text(log, encoding="utf-8")
    if "ERR_NVGPUCTRPERM" in log:
        raise LabError(NO_COUNTERS)
    if not report.is_file():
        raise LabError(f"ncu wrote no report:\n{_tail(log)}")
    for file, options in (
        ("raw.csv", ["--page", "raw", "--print-units", "base"]),
        ("instances.csv", ["--page", "raw", "--print-units", "base", "--print-metric-instances", "details"]),
        ("source.csv", ["--page", "source", "--print-source", "sass"]),
    ):
        exported = subprocess.run(
            [ncu, "--import", str(report), "--csv", *options], capture_output=True, text=True, timeout=timeout_s
        )
        (folder / file).write_text(exported.stdout, encoding="utf-8")
    launches = read(folder)
    if done.returncode or len(launches) != len(plan):
        raise LabError(
            f"ncu gave {len(launches)} rows for {len(plan)} launches (exit code {done.returncode}):\n{_tail(log)}"
        )
    return launches


def read(folder: Path) -> list[Launch]:
    """The launches in the exports that `record` wrote into `folder`."""

    def text(name: str) -> str:
        path = Path(folder) / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    rows, detailed = raw_rows(text("raw.csv")), raw_rows(text("instances.csv"))
    by_line = source_counts(text("source.csv"))
    launches = []
    for index, row in enumerate(rows):
        same = detailed[index] if len(detailed) == len(rows) else {}
        counts, total = instances(same.get(PER_OPCODE)), number(row.get(PER_OPCODE))
        if (not counts or total is not None and sum(counts.values()) != total) and len(by_line) == len(rows):
            # If instances are missing or rounded, the source page has the same counts per instruction.
            counts = by_line[index] or counts
        launches.append(Launch(row, counts))
    return launches


# ---- Which metrics there are ----


def _listed(ncu: str) -> set[str]:
    done = subprocess.run([ncu, "--query-metrics", "--csv"], capture_output=True, text=True, timeout=120)
    return set(re.findall(r"\b[a-z0-9]+__\w+", done.stdout))


def known(wanted: Sequence[str], listed: set[str]) -> list[str]:
    """`wanted` without the names that ncu's list of metrics shows not to exist.

    The list has hardware metrics by their base name. It does not have names without a suffix (launch__…, sass__…), and
    if it has none of the wanted metrics of one kind (.sum, .ratio, .pct, .avg), it has nothing of that kind. Names of
    both sorts are kept; ncu itself then reports those that do not exist.
    """

    def kind(name: str) -> str:
        return name.split(".")[1] if "." in name else ""

    judged = {kind(name) for name in wanted if name.split(".")[0] in listed}
    return [name for name in wanted if name.split(".")[0] in listed or kind(name) not in judged or not kind(name)]


def refused(log: str, wanted: Sequence[str]) -> set[str]:
    """Those of `wanted` that an ==ERROR== line of ncu reports as unknown metrics."""
    found: set[str] = set()
    for line in log.split("\n"):
        if "==ERROR==" in line and "metric" in line.lower():
            named = set(re.findall(r"[a-z]\w*(?:\.\w+)*", line.replace("\\", "")))
            found |= {name for name in wanted if name in named or name.split(".")[0] in named}
    return found


# ---- What ncu prints ----


def raw_rows(text: str) -> list[dict[str, str]]:
    """One dict per launch from the raw page as CSV; lines before the header and the row of units are skipped."""
    start = text.find('"ID"')
    if start < 0:
        return []
    _allow_long_fields()
    rows = csv.DictReader(io.StringIO(text[start:]))
    return [
        {name: value or "" for name, value in row.items() if name}
        for row in rows
        if (row.get("ID") or "").strip().isdigit()
    ]


def number(text: str | None) -> float | None:
    """The number at the start of a field ("1,234", "12.5 (A: 1; B: 2)"); None if there is no finite number."""
    words = (text or "").replace(",", "").split()
    if not words or words[0].lower() in ABSENT:
        return None
    try:
        value = float(words[0])
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def instances(text: str | None) -> Counter:
    """{"HMMA": 128, …} from "196 (HMMA: 128; LDSM: 68)"; parts of another form are left out."""
    inside = re.search(r"\((.*)\)", text or "", re.S)
    counts: Counter = Counter()
    for part in inside[1].split(";") if inside else ():
        name, _, value = part.rpartition(":")
        count = number(value)
        if name.strip() and count is not None:
            counts[name.strip()] += round(count)
    return counts


def source_counts(text: str) -> list[Counter]:
    """Executed warp instructions by opcode of each launch, from the source page as CSV.

    A launch begins with its header, the line that has a Source column. The column of the counts has the metric's name,
    or its label if ncu collected its section. The opcode is the first word that is not a predicate, without modifiers.
    """
    _allow_long_fields()
    found: list[Counter] = []
    source = executed = None
    for row in csv.reader(io.StringIO(text)):
        if "Source" in row:
            source = row.index("Source")
            names = [name.lstrip("# ") for name in row]
            labels = (PER_ADDRESS, "Instructions Executed")
            executed = next((names.index(name) for name in labels if name in names), None)
            found.append(Counter())
        elif source is not None and executed is not None and len(row) > max(source, executed):
            words = [word for word in row[source].split() if not word.startswith("@")]
            count = number(row[executed])
            if words and count:
                found[-1][words[0].rstrip(";").split(".")[0]] += round(count)
    return found


def _allow_long_fields() -> None:
    csv.field_size_limit(2**31 - 1)  # a field with an instance for every address exceeds the default of 128 KB


def _tail(log: str) -> str:
    return "\n".join(log.strip().split("\n")[-6:])
