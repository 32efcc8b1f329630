"""What an exercise may ask of the machine code of an answer: counted in the disassembly, with any GPU or none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gemm_lab.compiler import SassLine
from gemm_lab.compiler.instruction_order import mma_before_use
from gemm_lab.compiler.main_loop import main_loop


class CodeCriterion(NamedTuple):
    """A count and its bound: at most, or with `least` at least, the value in exercises.toml. `says` is a refusal.

    below_rung: the bound lies that value below the count of the rung's own text, compiled here. How many instructions a
    loop has depends on the compiler's version; how many of them an idea saves hardly does.
    """

    label: str
    count: Callable[[Sequence[SassLine]], int]
    says: str
    least: bool = False
    below_rung: bool = False


def _loop(lines: Sequence[SassLine]) -> Sequence[SassLine]:
    loop = main_loop(lines)
    return loop.lines if loop else lines


def _in_flight(loop: Sequence[SassLine]) -> int:
    """The least number of wgmma groups that a wait in the loop leaves running; 0 where there is no such wait."""
    waits = [re.search(r"gsb\d+, (0x[0-9a-f]+)", line.text) for line in loop if "WARPGROUP.DEPBAR" in line.opcode]
    return min((int(found[1], 16) for found in waits if found), default=0)


CODE_CRITERIA = {
    "fewer_instructions": CodeCriterion(
        "instructions of the main loop", lambda lines: len(_loop(lines)),
        "Its main loop has {found} instructions on {arch}; {wanted} or fewer are possible, the rung's own has {rung}.",
        below_rung=True),
    "barriers": CodeCriterion(
        "barriers for each k tile", lambda lines: sum(line.opcode.startswith("BAR") for line in _loop(lines)),
        "Its main loop has {found} barriers for each k tile; {wanted} is possible."),
    "plain_loads": CodeCriterion(
        "plain loads", lambda lines: sum(line.opcode.split(".")[0] == "LDS" for line in _loop(lines)),
        "Its main loop has {found} plain loads from shared memory (LDS) on {arch}; {wanted} is possible."),
    "ldmatrix": CodeCriterion(
        "ldmatrix for each k tile", lambda lines: sum(line.opcode.startswith("LDSM") for line in _loop(lines)),
        "Its main loop has {found} ldmatrix on {arch}; {wanted} is possible."),
    "global_loads": CodeCriterion(
        "global loads for each k tile", lambda lines: sum(line.opcode.startswith("LDG") for line in _loop(lines)),
        "A thread loads {found} times from global memory for each k tile; {wanted} loads of 16 bytes are possible."),
    "register_copies": CodeCriterion(
        "copies through registers",
        lambda lines: sum(line.opcode.split(".")[0] in ("LDG", "STS") for line in _loop(lines)),
        "Its main loop has {found} loads into registers and stores out of them (LDG, STS) on {arch}; {wanted} are "
        "possible."),
    "mma_before_use": CodeCriterion(
        "least mma between ldmatrix and its use", lambda lines: min(mma_before_use(lines)),
        "In its machine code for {arch} only {found} mma stand between one ldmatrix and the mma that waits for it; "
        "{wanted} or more are possible.", least=True),
    "products_in_flight": CodeCriterion(
        "groups of products still running at a wait", lambda lines: _in_flight(_loop(lines)),
        "Its main loop waits until at most {found} groups of products are running, so the tensor cores run dry; "
        "{wanted} may stay.", least=True),
    "box_copies": CodeCriterion(
        "boxes for this block alone",
        lambda lines: sum(line.opcode.startswith("UTMALDG") and "MULTICAST" not in line.opcode for line in lines),
        "It asks for {found} boxes that go to this block alone; {wanted} is enough, the other can be shared."),
}


def judge_code(answer: Any, wanted: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[str]]:
    """(facts, reasons to refuse) of a Kernel's machine code for the criteria among `wanted`; `arch` names the GPU's."""
    asked = {name: criterion for name, criterion in CODE_CRITERIA.items() if name in wanted}
    if not asked:
        return [], []
    lines, facts, reasons = answer.sass(arch=wanted["arch"]).lines, [], []
    for name, criterion in asked.items():
        found, bound, rung = criterion.count(lines), wanted[name], None
        if criterion.below_rung:
            own = replace(answer, edits={}, whole=None, alias=None)
            rung = criterion.count(own.sass(arch=wanted["arch"]).lines)
            bound = rung - bound
        facts.append((criterion.label, str(found) if rung is None else f"{found}, of the rung's own {rung}"))
        if (found < bound) if criterion.least else (found > bound):
            reasons.append(criterion.says.format(found=found, wanted=bound, rung=rung, arch=wanted["arch"]))
    return facts, reasons
