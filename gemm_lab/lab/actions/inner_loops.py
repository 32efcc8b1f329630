"""Finds how often the inner loops of a main loop run. The machine code does not say it, but the simulator counts it.

A memory instruction of the machine code and the PTX instruction that it came from have the same source line. The
simulator executes the PTX at the kernel's smallest size. The number of times that a line is executed, divided by the
number of its copies in the machine code, is the number of iterations of the loop that contains it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from pathlib import PurePath

from gemm_lab.lab import on_simulator
from gemm_lab.lab.launchable import Launchable
from gpu_simulator.compiler import Compiled, SassLine
from gpu_simulator.errors import SimulatorError
from gpu_timing.machine_code.main_loop import MainLoop

# SASS opcode → the beginning of the PTX opcode. ptxas translates each of these instructions into one, unless it merges
# several.
FAMILIES = {"LDG": "ld.global", "STG": "st.global", "LDS": "ld.shared", "STS": "st.shared", "LDSM": "ldmatrix"}
AGREE = 1.02


def trips(kernel: Launchable, compiled: Compiled, loop: MainLoop, lines: Sequence[SassLine]) -> list[float | None]:
    """The number of iterations of each loop in `loop.inner` per iteration of the main loop, averaged over warps.

    It is None for a loop whose count could not be found.
    """
    if not loop.inner or "BLOCK_K" not in kernel.config:
        return [None] * len(loop.inner)
    size = on_simulator.smallest_size(kernel)
    try:
        report = on_simulator.counted(kernel, compiled, size)
    except SimulatorError:
        return [None] * len(loop.inner)
    executed: Counter = Counter()
    for site in report.sites:
        family = next((sass for sass, ptx in FAMILIES.items() if site.opcode.startswith(ptx)), None)
        if family:
            file, line = site.outermost
            executed[family, PurePath(file or "").name, line] += site.executions
    turns = size[2] / kernel.config["BLOCK_K"] * prod(kernel.grid(*size)) * compiled.threads / 32
    everywhere = _places(lines)
    found = []
    for body in loop.inner:
        own = [(place, count) for place, count in _places(body).items() if everywhere[place] == count]
        found.append(_agreed([executed[place] / turns / count for place, count in own if executed[place]]))
    return found


def _places(lines: Sequence[SassLine]) -> Counter:
    """The number of copies of each memory instruction in `lines`, by (opcode, file, source line)."""
    return Counter(
        (base, PurePath(line.file).name, line.line) for line in lines if (base := line.opcode.split(".")[0]) in FAMILIES
    )


def _agreed(found: list[float]) -> float | None:
    """The number of iterations, if all instructions of the loop give the same number within 2 %; else None."""
    return max(found) if found and max(found) <= AGREE * min(found) else None
