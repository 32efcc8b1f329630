"""The source line to which a wait belongs, where ptxas gives the machine instruction the line of a neighbour.

The first test of a loop that waits at an mbarrier often has the line before; the copy that repeats it has its own. The
wgmma instructions of one group of products have the lines of whatever was moved between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpu_simulator.compiler.disassembly import SassLine
from gpu_timing.cycles.machine_code import Instruction
from gpu_timing.cycles.pipes import WGMMA_KINDS

NEAR = 12  # instructions within which a test's branch follows, and a repeated test begins


def waiting_lines(code: Sequence[Instruction]) -> list[SassLine]:
    """The line of each instruction, as a reader of the source would name it."""
    lines = [one.line for one in code]
    index = {one.line.address: one.index for one in code}
    group: list[Instruction] = []
    for one in code:
        if one.op == "SYNCS" and "PHASECHK" in one.modifiers:
            branch = next((two for two in code[one.index : one.index + NEAR] if two.op == "BRA"), None)
            goal = index.get(branch.line.target or -1, len(code)) if branch else len(code)
            again = (two for two in code[goal : goal + NEAR] if two.op == "SYNCS" and "PHASECHK" in two.modifiers)
            lines[one.index] = next(again, one).line
        elif one.op in WGMMA_KINDS:
            group.append(one)
            if any(source.value == "gsb0" for source in one.sources):
                # A line that calls a wrapper in a header is the call of wgmma; without any, the most frequent line is.
                wrapped = [two.line for two in group if two.line.inner and two.line.inner[0] != two.line.file]
                named = Counter((line.file, line.line) for line in wrapped or [two.line for two in group])
                best = named.most_common(1)[0][0]
                line = next(two.line for two in group if (two.line.file, two.line.line) == best)
                for two in group:
                    lines[two.index] = line
                group = []
    return lines
