#!/usr/bin/env python3
"""Replaces ncu in tests. It prints what ncu's documentation describes, but launches nothing, refuses some metrics, and
has no values for most.

FAKE_NCU selects an error: "denied" (no permission to read counters), "silent" (no report), "rounded" (instances that
do not add up), "short" (a launch is missing).
"""

import csv
import json
import os
import pickle
import sys
from pathlib import Path

LISTED = [
    "smsp__inst_executed",
    "l1tex__t_sector_hit_rate",
    "gpu__time_duration",
    "smsp__warps_eligible",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active",
]
REFUSED = ("dram__", "memory_l1", "gpc__")
VALUES = {
    "smsp__inst_executed.sum": ("inst", "1,300"),
    "l1tex__t_sector_hit_rate.pct": ("%", "n/a"),
    "gpu__time_duration.sum": ("ns", "12,345"),
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": ("inst", "0.5"),
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": ("inst", "12.25"),
    "launch__registers_per_thread": ("register/thread", "104"),
    "sass__inst_executed_per_opcode": ("inst", "1,280"),
}
INSTANCES = "1,280 (HMMA: 1,024; LDSM: 128; IADD3: 100; WHATISTHIS: 28)"
ROUNDED = "1.28e+03 (HMMA: 1e+03; LDSM: 1.3e+02)"
SOURCE = [
    ["Address", "Source", "inst_executed", "launch__registers_per_thread"],
    ["0x7f0000000000", "      HMMA.1688.F16 R1, R2, R3, R1", "1024", "0"],
    ["0x7f0000000010", "@!P0  LDSM.16.M88.4 R4, [R8]", "128", "0"],
    ["0x7f0000000020", "      IADD3 R1, R1, 0x1, RZ", "100", "0"],
    ["0x7f0000000030", "      WHATISTHIS R1", "28", "0"],
    ["0x7f0000000040", "      EXIT", "0", "0"],
]


def main(arguments):
    mode = os.environ.get("FAKE_NCU", "")
    if "--version" in arguments:
        print("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 1)")
    elif "--query-metrics" in arguments:
        print("Device NVIDIA H200 (GH100)\n" + '"Metric name","Metric type","Metric unit","Metric description"')
        for name in LISTED:
            print(f'"{name}","Counter","","what it counts"')
    elif "--import" in arguments:
        show(arguments, json.loads(Path(arguments[arguments.index("--import") + 1]).read_text()), mode)
    else:
        return collect(arguments, mode)
    return 0


def collect(arguments, mode):
    report = Path(arguments[arguments.index("--export") + 1]).with_suffix(".ncu-rep")
    metrics = arguments[arguments.index("--metrics") + 1].split(",")
    launches = len(pickle.loads(Path(arguments[-1]).read_bytes()))
    print("==PROF== Connected to process 1 (python)")
    if mode == "denied":
        print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access the counters")
        return 1
    for name in metrics:
        if any(part in name for part in REFUSED):
            print(f"==ERROR== Failed to find metric {name}")
            return 1
    if mode != "silent":
        report.write_text(json.dumps({"metrics": metrics, "launches": launches - (mode == "short")}))
    return 0


def show(arguments, report, mode):
    out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL)
    if "source" in arguments:
        for _ in range(report["launches"]):
            out.writerow(["Kernel Name", "gemm"])
            out.writerows(SOURCE)
        return
    names = [name for name in report["metrics"] if name in VALUES]
    print("==WARNING== something before the table")
    out.writerow(["ID", "Process ID", "Kernel Name", *names])
    out.writerow(["", "", "", *(VALUES[name][0] for name in names)])
    detailed = ROUNDED if mode == "rounded" else INSTANCES
    for index in range(report["launches"]):
        cells = [VALUES[name][1] for name in names]
        if "details" in arguments and "sass__inst_executed_per_opcode" in names:
            cells[names.index("sass__inst_executed_per_opcode")] = detailed
        out.writerow([index, "1", "gemm", *cells])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
