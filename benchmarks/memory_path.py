"""The way from L2 and DRAM to an SM, measured: python benchmarks/memory_path.py, on a GPU with CuPy.

Prints the median cycles of a turn of `memory_path.cu` for bursts and streams of several sizes. The constants of the
time model that are marked "measured: bursts" and "measured: rings" in gpu_simulator/timing/constants come from it; a
turn also contains two barriers and a 64-bit division, about 200 cycles, which differences between two rows leave out.
"""

from __future__ import annotations

from pathlib import Path

import cupy
import numpy as np

from gemm_lab import compiling
from gemm_lab.lab.here import here

SOURCE = Path(__file__).with_suffix(".cu").read_text(encoding="utf-8")
KINDS = ("LDG.128", "cp.async", "TMA", "STG.128")
THREADS, TURNS, WARM = 256, 48, 8
REGION = {"L2": 24 << 20, "DRAM": 2 << 30}


def cycles(kind: int, loads: int, stages: int, share: int, region: str, source: cupy.ndarray, target: cupy.ndarray):
    """Cycles of each turn of each block: an array of (blocks, turns)."""
    config = {"KIND": kind, "LOADS": loads, "THREADS": THREADS, "STAGES": stages, "SHARE": share}
    compiled = compiling.compile(SOURCE, config=config, arch=here().arch, name="memory_path")
    module = cupy.cuda.function.Module()
    module.load(compiled.cubin)
    function = module.get_function(compiled.entry)
    blocks = here().present.sms
    span = -(-blocks // share) * loads * THREADS * 16
    out = cupy.zeros(blocks * TURNS, cupy.uint32)
    around = np.int64(max(REGION[region] // span, 2) * span)
    arguments = (*(np.uint64(a.data.ptr) for a in (source, target, out)), around, np.int64(span), np.int32(TURNS))
    shared = loads * THREADS * 16 * stages if KINDS[kind] in ("cp.async", "TMA") else 0
    if shared > 48 << 10:
        raise ValueError("more than 48 KB of shared memory has to be asked for; use fewer loads or stages")
    for _ in range(3 if region == "L2" else 1):
        function((blocks, 1, 1), (THREADS, 1, 1), arguments, shared_mem=shared)
    return out.get().reshape(blocks, TURNS)[:, WARM:]


def main() -> None:
    """Print the table."""
    source, target = cupy.zeros(REGION["DRAM"] + (64 << 20), cupy.uint8), cupy.zeros(64 << 20, cupy.uint8)
    print("kind      region  SMs that share  stages  bytes a turn  median  bytes a cycle")
    for kind, name in enumerate(KINDS):
        for region in REGION if name != "STG.128" else ("L2",):
            for share in (1, 12) if name != "STG.128" else (1,):
                for loads, stages in ((1, 1), (2, 1), (4, 1), (8, 1), (4, 3)):
                    turns = cycles(kind, loads, stages, share, region, source, target)
                    amount = loads * THREADS * 16
                    rate = amount / turns.mean()
                    print(f"{name:9} {region:7} {share:14} {stages:7} {amount:13} {np.median(turns):7.0f} {rate:14.1f}")


if __name__ == "__main__":
    main()
