"""Hardware counters of launches from Nsight Compute, for each rung and each address pattern.

Recordings are CSV files in results/profiles/<gpu>/; tests compare the emulator with them.
"""

from __future__ import annotations

import csv
import hashlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gemm_lab.measure import ncu
from gpu_simulator.errors import LabError

# Our column → ncu's metric. ncu counts the first two per instruction; the others are hardware counters.
METRICS = {
    "wavefronts": "memory_l1_wavefronts_shared",
    "ideal_wavefronts": "memory_l1_wavefronts_shared_ideal",
    "instructions": "smsp__inst_executed.sum",
    "hardware_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "tensor_instructions": "smsp__inst_executed_pipe_tensor.sum",
}


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


def source_hash(compiled: Any) -> str:
    """A hash of a kernel's source, the headers it includes and its configuration, in 16 hexadecimal digits.

    Comments, white space and the version of the compiler do not change it.
    """
    texts, seen, waiting = [], set(), [compiled.source]
    while waiting:
        texts.append(text := waiting.pop(0))
        for name in re.findall(r'^\s*#include\s+"([^"]+)"', text, re.M):
            found = next((file for file in compiled.files if file == name or file.endswith(f"/{name}")), None)
            if found and found not in seen:
                seen.add(found)
                waiting.append(compiled.files[found])
    code = re.sub(r"//[^\n]*|/\*.*?\*/|^#line[^\n]*", " ", "\n".join(texts), flags=re.S | re.M)
    words = " ".join(code.split()) + repr(sorted(compiled.config.items()))
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; an empty list if there is no file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


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
