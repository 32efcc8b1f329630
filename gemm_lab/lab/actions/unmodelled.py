"""What decides the time of a run and is not in the time model: then a prediction says so in place of a number.

The model steps through one SM. It does not see which tiles the other SMs work on at the same time, and so not what they
share in L2, nor what has to come from DRAM again.
"""

from __future__ import annotations

import re

from gemm_lab.lab.launchable import Launchable
from gpu_simulator.hardware.data_sheets import Gpu
from gpu_simulator.hardware.number_types import dtype_of
from gpu_timing.cycles.whole_kernel import Prediction

# Of the bursts recorded on an H200 and an H100, those whose reads take up to 0.29 of the predicted time are predicted
# about as well as smaller products; of those from 0.34 on, most are 30 to 130 % slower than predicted.
MOST_FROM_DRAM = 0.3
ALWAYS_BUSY = 0.95  # share of the time in which the tensor cores work
_ORDER = re.compile(r"\bGROUP_M\b|\bblockIdx\b")


def gap(kernel: Launchable, sheet: Gpu, found: Prediction, m: int, n: int, k: int, ratio: bool = False) -> str:
    """What is missing, as the rest of a sentence; "" if nothing is known to be missing.

    ratio: only the ratio to a kernel before is wanted, which reads about as much from DRAM.
    """
    own = kernel.spec.configure(sheet.key)
    changed = {name for name, value in kernel.config.items() if value != own.get(name)}
    width = dtype_of(kernel.problem.dtype_in).itemsize
    beyond_l2 = width * k * (m + n) > sheet.l2_mb * 2**20
    if beyond_l2 and ("GROUP_M" in changed or _order(kernel) != _order(kernel.unedited())):
        return "the order of the blocks decides what they share in L2, and the time model does not see it"
    if "NUM_STAGES" in changed and found.busy.get("tensor", 0) > ALWAYS_BUSY:
        return (
            "the number of stages decides how much latency the loads may have, and as long as the tensor cores are "
            "always busy the time model does not see what that costs"
        )
    if (
        beyond_l2
        and not ratio
        and _seconds_of_dram(kernel, sheet, found, width, m, n, k) > MOST_FROM_DRAM * found.seconds
    ):
        return "A and B do not fit into L2, blocks read them from DRAM many times, and the time model does not see it"
    return ""


def _order(kernel: Launchable) -> list[str]:
    """The lines of the source that say which tile a block takes."""
    return [line.strip() for line in kernel.source.splitlines() if _ORDER.search(line)]


def _seconds_of_dram(kernel: Launchable, sheet: Gpu, found: Prediction, width: int, m: int, n: int, k: int) -> float:
    """How long DRAM takes for A once, and for B once for each band of rows of tiles that run at the same time.

    A band has `GROUP_M` rows, or as many as a wave of blocks fills. B is read once if it fits into L2.
    """
    if kernel.block is None:
        return 0.0
    rows, columns = -(-m // kernel.block[0]), -(-n // kernel.block[1])
    wave = min(found.blocks_per_sm * sheet.sms, rows * columns)
    band = max(kernel.config.get("GROUP_M", 1), wave / columns)
    passes = -(-rows // band) if width * n * k > sheet.l2_mb * 2**20 else 1
    return width * k * (m + passes * n) / (sheet.dram_gbps * 1e9)
