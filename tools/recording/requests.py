"""`python -m tools.recording requests`: what multiprocessors receive and what L2 is asked for, for results/power.

Nsight Compute counts both, and they differ. Between the two stands the L2 Request Coalescer, `lrc` in the names of
metrics: by the Metrics Decoder of NVIDIA's Kernel Profiling Guide (docs/REFERENCES.md) it tries to merge reads before
they go on to L2, and serves multicast. What lies between the two counters is its work, as far as is documented.
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gemm_lab.config import data_dir
from gemm_lab.lab.here import Here
from gemm_lab.lab.kernel import kernel
from gemm_lab.measure.benchmark import commit
from gemm_lab.measure.inputs import make_inputs
from gemm_results.errors import LabError
from gemm_results.results import path_for
from gpu_simulator import compiler
from tools.recording import ncu
from tools.recording.cards import driver_version
from tools.recording.plan import step
from tools.recording.power import READER, N

KERNELS = (
    "hopper/02", "hopper/04", "hopper/05", "hopper/06", "hopper/07", "hopper/08_ping_pong", "hopper/08_ping_pong_wide",
)  # fmt: skip
SECTOR = 32  # bytes
# Column: (metric, what one of it is in the column's unit). Sectors and bytes become GB, nanoseconds microseconds.
METRICS = {
    "microseconds": ("gpu__time_duration.sum", 1e-3),
    "received_gb": ("l1tex__m_xbar2l1tex_read_bytes.sum", 1e-9),
    "multicast_gb": ("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld_dest_multicast.sum", 1e-9),
    "asked_gb": ("lts__t_sectors_srcunit_tex_op_read.sum", SECTOR * 1e-9),
    "between_halves_gb": ("lts__t_sectors_srcunit_ltcfabric.sum", SECTOR * 1e-9),
    "l2_gb": ("lts__t_bytes.sum", 1e-9),
    "dram_gb": ("dram__bytes_read.sum", 1e-9),
}
COLUMNS = ("kernel", "n", *METRICS, "gpu", "driver", "cuda", "commit", "date")


def plan_of(names: Iterable[str], arch: str, n: int, sms: int) -> tuple[list[str], list[dict[str, Any]]]:
    """(names, launches): first the loads of `power.l2_reads` over 32 MB, then the kernels at n × n × n."""
    blocks, size = sms * 4, 32 << 20
    reader = compiler.compile(READER, arch=arch, name="reader.cu", entry="reader")
    arguments = [np.ones(size // 4, np.uint32), np.uint32(size // 4096), np.int32((8 << 30) // (4096 * 16 * blocks))]
    arguments += [np.zeros(1, np.uint32), np.zeros(blocks, np.uint64)]
    shown, plan = ["loads of 32 MB"], [step(reader, (blocks, 1, 1), arguments)]
    for name in names:
        made = kernel(name)
        inputs = make_inputs(made.problem, n, n, n, "normal", 0)
        shown.append(made.name)
        plan.append(step(made.compile(arch), made.grid(n, n, n), inputs.arguments(), made.spec.cluster))
    return shown, plan


def record_requests(where: Here, names: Iterable[str] = (), n: int = N, into: Path | None = None) -> Path:
    """Count for all KERNELS (or `names`) and write <gpu>_requests.csv; returns its path."""
    if not where.usable or not where.arch or where.present is None:
        raise LabError(f"Nothing can be counted here: {where.reason}")
    sheet = where.present
    shown, plan = plan_of(names or KERNELS, where.arch, n, sheet.sms)
    with tempfile.TemporaryDirectory() as folder:
        launches = ncu.record(plan, [metric for metric, _ in METRICS.values()], Path(folder))
    about = [sheet.name, driver_version(where), ".".join(map(str, compiler.version())), commit(), datetime.date.today()]
    path = path_for(sheet, into or data_dir("results") / "power")
    path = path.with_name(f"{path.stem}_requests.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [",".join(COLUMNS)]
    for name, launch in zip(shown, launches, strict=True):
        found = [f"{(launch.number(metric) or 0) * unit:.5g}" for metric, unit in METRICS.values()]
        lines.append(",".join(map(str, [name, n if "/" in name else "", *found, *about])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
