"""Hardware counters with Nsight Compute: what one launch of each rung and each address pattern costs.

Recordings are CSV files in results/profiles/<gpu>/; the emulator is held to them.
"""

from __future__ import annotations

import csv
import hashlib
import io
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gemm_lab.errors import LabError, MissingDependency

# Our column → ncu's metric. The first four are counted per instruction by ncu, the others are hardware counters.
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


def step(compiled: Any, grid: Sequence[int], args: Sequence[Any]) -> dict[str, Any]:
    """One launch of a plan for `gemm_lab.device.replay`."""
    return {"cubin": compiled.cubin, "entry": compiled.entry, "grid": tuple(grid), "threads": compiled.threads,
            "smem": compiled.dynamic_smem, "args": list(args)}


def profile(plan: Sequence[dict[str, Any]], timeout_s: float = 300.0) -> list[dict[str, int]]:
    """Run each step under ncu and return its counters, one dict a step, keys as in METRICS.

    Needs ncu on the PATH and the right to read counters; otherwise a `LabError` says which is missing.
    """
    ncu = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")
    if ncu is None:
        raise MissingDependency("Nsight Compute (ncu) was not found; it comes with the CUDA Toolkit.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.pickle"
        path.write_bytes(pickle.dumps(list(plan)))
        command = [ncu, "--csv", "--page", "raw", "--clock-control", "none", "--print-units", "base",
                   "-k", f"regex:^({'|'.join(sorted({s['entry'] for s in plan}))})$",
                   "--metrics", ",".join(METRICS.values()),
                   sys.executable, "-m", "gemm_lab.device.replay", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)
    rows = parse(done.stdout)
    if done.returncode or len(rows) != len(plan):
        tail = "\n".join((done.stdout + done.stderr).strip().split("\n")[-6:])
        raise LabError(f"ncu gave {len(rows)} rows for {len(plan)} launches (exit code {done.returncode}):\n{tail}")
    return rows


def parse(text: str) -> list[dict[str, int]]:
    """The counters of ncu's raw CSV page; its lines before the header and the row of units are skipped."""
    start = text.find('"ID"')
    if start < 0:
        return []
    rows = list(csv.DictReader(io.StringIO(text[start:])))
    found = []
    for row in rows:
        if not (row.get("ID") or "").strip():
            continue  # the row of units
        found.append({ours: _number(row.get(theirs)) for ours, theirs in METRICS.items()})
    return found


def _number(text: str | None) -> int:
    if text is None or text.strip() in ("", "n/a"):
        return 0
    return round(float(text.replace(",", "").split(" ")[0]))


def ptx_hash(ptx: str) -> str:
    """A short hash of the instructions of a PTX text; comments and line tables do not count."""
    lines = (line.split("//")[0].strip() for line in ptx.split("\n"))
    kept = [line for line in lines if line and not line.startswith((".loc", ".file", ".version"))]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:16]


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write dicts with the same keys as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
