"""How often the inner loops of a main loop run: machine code does not say, the emulator counts it.

A memory instruction of the machine code and the PTX instruction that it came from have the same source line. The
emulator executes the PTX at the kernel's smallest size; executions of a line over the copies of it in the machine
code are turns of the loop that they stand in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from gemm_lab.lab import emulating
from gemm_lab.lab.launchable import Launchable
from gemm_lab.measure.inputs import make_inputs
from gpu_simulator.compiler import Compiled, SassLine
from gpu_simulator.compiler.main_loop import MainLoop
from gpu_simulator.errors import LabError

# SASS opcode → how the PTX instruction begins. ptxas translates each of them one to one where it does not join them.
FAMILIES = {"LDG": "ld.global", "STG": "st.global", "LDS": "ld.shared", "STS": "st.shared", "LDSM": "ldmatrix"}
AGREE = 1.02


def trips(kernel: Launchable, compiled: Compiled, loop: MainLoop, lines: Sequence[SassLine]) -> list[float | None]:
    """Turns of each loop of `loop.inner` per turn of the main loop, averaged over warps; None where none was found."""
    if not loop.inner or "BLOCK_K" not in kernel.config:
        return [None] * len(loop.inner)
    m, n, k = emulating.smallest_size(kernel)
    inputs = make_inputs(kernel.problem, m, n, k, "integers", 0)
    grid = kernel.grid(m, n, k)
    try:
        _, report = emulating.launch(
            compiled, grid, inputs.arguments(), kernel.spec.cluster, **emulating.limits(m, n, k)
        )
    except LabError:
        return [None] * len(loop.inner)
    executed: Counter = Counter()
    for site in report.sites:
        family = next((sass for sass, ptx in FAMILIES.items() if site.opcode.startswith(ptx)), None)
        if family:
            file, line = site.outermost
            executed[family, PurePath(file or "").name, line] += site.executions
    turns = k / kernel.config["BLOCK_K"] * grid[0] * grid[1] * grid[2] * compiled.threads / 32
    everywhere = _places(lines)
    return [
        _agreed(
            [
                executed[place] / turns / count
                for place, count in _places(body).items()
                if everywhere[place] == count and executed[place]
            ]
        )
        for body in loop.inner
    ]


def _places(lines: Sequence[SassLine]) -> Counter:
    """Copies of each memory instruction: by opcode, file and line of the source."""
    return Counter(
        (base, PurePath(line.file).name, line.line) for line in lines if (base := line.opcode.split(".")[0]) in FAMILIES
    )


def _agreed(found: list[float]) -> float | None:
    """The number of turns, if all instructions of the loop tell the same."""
    return max(found) if found and max(found) <= AGREE * min(found) else None
