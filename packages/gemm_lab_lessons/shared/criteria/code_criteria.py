"""The criteria of exercises that are counted in the machine code of an answer. They need no GPU.

The machine code is that of the binary whose PTX the simulator has run. Each loop that multiplies is counted together
with the functions that it calls, and the worst count decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gpu_simulator.compiler import Compiled, SassLine, disassemble
from gpu_timing.machine_code.instruction_order import mma_before_touch_in, mma_before_use_in
from gpu_timing.machine_code.main_loop import by_function, odd_calls, product_loops, with_callees

Lines = Sequence[SassLine]


class CodeCriterion(NamedTuple):
    """A count in the machine code, whose bound is in exercises.toml: a maximum, or with `least` a minimum.

    count: counts in one loop that multiplies, or with `whole` in the whole kernel; None if it does not apply to a loop.
    says: the reason for a refusal.
    below_rung: the bound is this value subtracted from the count of the rung's own text. How many instructions a loop
    has depends on the compiler's version, but how many of them an optimisation saves hardly does.
    detours: also count in blocks of the loop that ptxas has placed outside of it.
    """

    label: str
    count: Callable[[Lines], int | None]
    says: str
    least: bool = False
    below_rung: bool = False
    whole: bool = False
    detours: bool = False


def _number(*begins: str) -> Callable[[Lines], int]:
    """A function that counts the instructions whose opcode, without its modifiers, is in `begins`."""
    return lambda lines: sum(line.opcode.split(".")[0] in begins for line in lines)


def _in_flight(loop: Lines) -> int:
    """The smallest number of wgmma groups that a wait in the loop leaves running; 0 if there is no such wait."""
    waits = [re.search(r"gsb\d+, (0x[0-9a-f]+)", line.text) for line in loop if "WARPGROUP.DEPBAR" in line.opcode]
    return min((int(found[1], 16) for found in waits if found), default=0)


def _copies_in_flight(loop: Lines) -> int | None:
    """The smallest number of cp.async groups that a wait in the loop leaves running; None if there is no wait."""
    waits = [re.search(r"DEPBAR\.LE SB0, (0x[0-9a-f]+)", line.text) for line in loop]
    return min((int(found[1], 16) for found in waits if found), default=None)


def _before_use(loop: Lines) -> int | None:
    """The number of mma between an ldmatrix and the first use of its result that all but an eighth of them exceed.

    ptxas may place a few loads late, whatever the text says; loads that wait are a quarter of all or more.
    It is 0 if the loop calls a function, because the order is then not visible, and None if there is no such pair.
    """
    if any(line.callee is not None for line in loop):
        return 0
    distances = sorted(mma_before_use_in(loop))
    return distances[len(distances) // 8] if distances else None


CODE_CRITERIA = {
    "fewer_instructions": CodeCriterion(
        "instructions of the main loop",
        len,
        "Its main loop has {found} instructions on {arch}; {wanted} or fewer are possible, the rung's own has {rung}.",
        below_rung=True,
    ),
    "barriers": CodeCriterion(
        "barriers for each k tile",
        _number("BAR", "BARRIER", "UCGABAR_ARV", "UCGABAR_WAIT"),
        "Its main loop has {found} barriers for each k tile; {wanted} is possible.",
    ),
    "plain_loads": CodeCriterion(
        "plain loads from shared memory in the main loop",
        _number("LDS", "LD"),
        "Its main loop has {found} plain loads from shared memory (LDS) on {arch}; {wanted} is possible.",
    ),
    "ldmatrix": CodeCriterion(
        "ldmatrix for each k tile",
        _number("LDSM"),
        "Its main loop has {found} ldmatrix on {arch}; {wanted} is possible.",
    ),
    "global_loads": CodeCriterion(
        "global loads for each k tile",
        _number("LDG", "LD"),
        "A thread loads {found} times from global memory for each k tile; {wanted} loads of 16 bytes are possible.",
    ),
    "register_copies": CodeCriterion(
        "copies through registers",
        _number("LDG", "STS", "LD", "ST"),
        "Its main loop has {found} loads into registers and stores out of them (LDG, STS) on {arch}; {wanted} are "
        "possible.",
    ),
    "mma_before_use": CodeCriterion(
        "mma between ldmatrix and its use",
        _before_use,
        "In its machine code for {arch} more than an eighth of the ldmatrix have {found} mma or fewer between them and "
        "the mma that waits for them; {wanted} or more are possible.",
        least=True,
    ),
    "mma_before_store": CodeCriterion(
        "least mma between a global load and its use",
        lambda loop: min(mma_before_touch_in(loop), default=None),
        "In its machine code for {arch} only {found} mma stand between one load from global memory and the instruction "
        "that waits for it; {wanted} or more are possible.",
        least=True,
    ),
    "products_in_flight": CodeCriterion(
        "groups of products still running at a wait",
        _in_flight,
        "Its main loop waits until at most {found} groups of products are running, so the tensor cores run dry; "
        "{wanted} may stay.",
        least=True,
        detours=True,
    ),
    "copies_in_flight": CodeCriterion(
        "groups of copies still running at a wait",
        _copies_in_flight,
        "Its main loop waits until at most {found} groups of copies are on their way; {wanted} may stay, which gives "
        "each of them more time.",
        least=True,
        detours=True,
    ),
    "box_copies": CodeCriterion(
        "boxes for this block alone",
        lambda lines: sum(line.opcode.startswith("UTMALDG") and "MULTICAST" not in line.opcode for line in lines),
        "It asks for {found} boxes that go to this block alone; {wanted} is enough, the other can be shared.",
        whole=True,
    ),
}


ODD_CALLS = "odd_calls"  # the key of a refusal that does not come from a criterion


def judge_code(
    compiled: Compiled, rung: Compiled, wanted: Mapping[str, Any]
) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Check a kernel's machine code for the criteria in `wanted`; returns (facts, {missed criterion: reason}).

    compiled: the kernel that the simulator has run.   rung: the rung's own text, compiled in the same way.
    If the code has calls through pointers or recursion, its work cannot be counted, and the only key is `ODD_CALLS`.
    """
    asked = {name: criterion for name, criterion in CODE_CRITERIA.items() if name in wanted}
    if not asked:
        return [], {}
    lines, facts, reasons = disassemble(compiled), [], {}
    if odd := odd_calls(lines):
        return [], {
            ODD_CALLS: "Its machine code calls a function through a pointer or from itself "
            f"({odd[0].text.rstrip(' ;')}), so it does not show what it executes; call functions by "
            "name, without recursion."
        }
    code, code_of_rung = _Code.of(lines), None
    for name, criterion in asked.items():
        found, bound, own = code.count(criterion), wanted[name], None
        if criterion.below_rung:
            code_of_rung = code_of_rung or _Code.of(disassemble(rung))
            own = code_of_rung.count(criterion)
            bound = own - bound
        facts.append((criterion.label, str(found) if own is None else f"{found}, of the rung's own {own}"))
        if (found < bound) if criterion.least else (found > bound):
            reasons[name] = criterion.says.format(found=found, wanted=bound, rung=own, arch=compiled.arch)
    return facts, reasons


class _Code(NamedTuple):
    """The parts of a kernel's machine code that criteria count in. whole: the kernel with the functions that it calls.

    loops: those that multiply.   with_detours: the same loops with their blocks that are placed elsewhere.
    """

    whole: Lines
    loops: Sequence[Lines]
    with_detours: Sequence[Lines]

    @classmethod
    def of(cls, lines: Lines) -> _Code:
        functions = by_function(lines)
        return cls(
            with_callees(functions.get(0, ()), functions), product_loops(lines), product_loops(lines, detours=True)
        )

    def count(self, criterion: CodeCriterion) -> int:
        """The worst count of the loops that multiply; if there is none, the count of the whole kernel."""
        loops = self.with_detours if criterion.detours else self.loops
        parts = [self.whole] if criterion.whole or not loops else loops
        counts = [found for part in parts if (found := criterion.count(part)) is not None]
        return (min if criterion.least else max)(counts, default=0)
