"""Finds loops in a kernel's machine code: the main loop over K, and all loops that multiply.

A loop is the code from the target of a backward branch to this branch. Works for every architecture without a GPU.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_simulator.compiler.disassembly import INDIRECT, SassLine
from gpu_simulator.errors import SimulatorError
from gpu_timing.machine_code.detours import with_detours

MOST_LINES = 50_000
_SHAPE = re.compile(r"^[A-Z]+MMA\.(?:(\d+)x(\d+)x(\d+)|(16|8)(8)(\d+)\b)")
_FMA = {"FFMA": 32, "FFMA2": 64, "HFMA2": 64, "DFMA": 32}  # multiply-adds of one instruction for a warp
_LEAVES = ("STG", "UTMASTG", "UBLKCP.G", "RED", "REDG")  # stores of the result, which a loop over K does not contain


@dataclass(frozen=True)
class MainLoop:
    """The loop over K: `lines` of one iteration, and the bodies of its `inner` loops, each without the loops in it.

    `macs` are the multiply-adds of a warp in one iteration if every instruction is executed once; `macs_elsewhere` are
    those outside the loop. `repeats` says whether an inner loop has multiply-adds itself.
    """

    lines: tuple[SassLine, ...]
    inner: tuple[tuple[SassLine, ...], ...]
    macs: int
    macs_elsewhere: int
    repeats: bool


def macs(opcode: str) -> int:
    """Multiply-adds of one warp in a tensor instruction ("HMMA.1688.F16": 1024); 0 if the name has no shape.

    Those of a warpgroup's instruction (HGMMA) are divided among its four warps.
    """
    shape = _SHAPE.match(opcode)
    if not shape:
        return 0
    m, n, k = (int(part) for part in shape.groups() if part)
    return m * n * k // (4 if opcode.startswith(("HGMMA", "QGMMA", "IGMMA", "BGMMA")) else 1)


def _fma(line: SassLine) -> int:
    # "HFMA2.MMA R1, -RZ, RZ, 0, 0" only loads a constant into a register.
    return 0 if "RZ, RZ" in line.text else _FMA.get(line.opcode.split(".")[0], 0)


def main_loop(lines: Sequence[SassLine]) -> MainLoop | None:
    """Of the loops with the most multiply-adds, the outermost one that stores no results.

    If all of them store results, the innermost. None if no loop has multiply-adds.
    """
    tensor = {line.address: macs(line.opcode) for line in lines}
    work = tensor if any(tensor.values()) else {line.address: _fma(line) for line in lines}

    def amount(part: Sequence[SassLine]) -> int:
        return sum(work[line.address] for line in part)

    bodies = _loops(lines)
    most = max((amount(body) for body in bodies), default=0)
    full = [body for body in bodies if most and amount(body) == most]
    if not full:
        return None
    over_k = [body for body in full if not any(line.opcode.startswith(_LEAVES) for line in body)]
    body = max(over_k, key=len) if over_k else min(full, key=len)
    nested = sorted((part for part in bodies if len(part) < len(body) and part[0] in body), key=len)
    inner, taken = [], set()
    for part in nested:  # innermost first
        own = tuple(line for line in part if line.address not in taken)
        taken |= {line.address for line in part}
        inner.append(own)
    return MainLoop(body, tuple(inner), most, amount(lines) - most, any(amount(part) for part in inner))


def _loops(lines: Sequence[SassLine]) -> list[tuple[SassLine, ...]]:
    """The bodies of all loops. The branch to itself after the last instruction is a trap, not a loop."""
    return [
        tuple(line for line in lines if end.target <= line.address <= end.address)
        for end in lines
        if end.target is not None and end.target < end.address
    ]


def product_loops(lines: Sequence[SassLine], detours: bool = False) -> list[tuple[SassLine, ...]]:
    """Every loop that multiplies, each followed by the functions that it calls; the main loop is one of them.

    A loop multiplies if it contains a multiply-add, or calls a function that does. Of nested loops, the outermost one
    that stores no results is taken, or the innermost if all of them store results. A loop over tiles of D is not taken
    if its own multiply-adds are only a few iterations of its loop over k, unrolled before or after that loop. Empty for
    code without a loop that multiplies. detours: each with the blocks that ptxas has put elsewhere (`with_detours`),
    which stand in the order of the code only as far as one of them follows the other.
    """
    tensor = any(macs(line.opcode) for line in lines)
    work = {line.address: macs(line.opcode) if tensor else _fma(line) for line in lines}
    functions = by_function(lines)
    bodies = [with_detours(body, lines) if detours else body for body in _loops(lines)]
    bodies = sorted((with_callees(body, functions) for body in bodies), key=len)
    places = [{line.address for line in body} for body in bodies]
    stores = [any(line.opcode.startswith(_LEAVES) for line in body) for body in bodies]
    chosen: set[int] = set()
    for address in (address for address, amount in work.items() if amount):
        around = [number for number, place in enumerate(places) if address in place]
        free = [number for number in around if not stores[number]]
        if free:
            chosen.add(free[-1])
        elif around and not _over_tiles(around[0], places, work):
            chosen.add(around[0])
    return [bodies[number] for number in sorted(chosen)]


def _over_tiles(number: int, places: Sequence[set[int]], work: Mapping[int, int]) -> bool:
    """Whether the loop's own multiply-adds are no more than two iterations of a loop inside it."""
    inside = [place for place in places[:number] if place < places[number]]
    amounts = [sum(work[address] for address in place) for place in inside]
    direct = sum(work[address] for address in places[number].difference(*inside))
    return direct <= 2 * max(amounts, default=0)


def by_function(lines: Sequence[SassLine]) -> dict[int, list[SassLine]]:
    """The lines of each function, by the function's address; 0 for the kernel's own code."""
    functions: dict[int, list[SassLine]] = {}
    for line in lines:
        functions.setdefault(line.function, []).append(line)
    return functions


def with_callees(body: Sequence[SassLine], functions: Mapping[int, Sequence[SassLine]]) -> tuple[SassLine, ...]:
    """`body`, followed by what each call in it executes: the lines of the function, and of those that it calls.

    functions: those of the whole code, as `by_function` returns them. Calls through a pointer, and recursive calls, are
    left out; `odd_calls` finds them. Raises `SimulatorError` if the functions call each other so often that one
    iteration has more than `MOST_LINES` instructions.
    """

    def called(part: Sequence[SassLine], inside: tuple[int, ...]) -> list[SassLine]:
        more: list[SassLine] = []
        for line in part:
            callee = line.callee
            if callee is not None and callee in functions and callee not in inside:
                function = functions[callee]
                more += [*function, *called(function, (*inside, callee))]
                if len(more) > MOST_LINES:
                    raise SimulatorError(
                        f"Its functions call each other so often that one turn of a loop executes more than "
                        f"{MOST_LINES:,} machine instructions; write them in line."
                    )
        return more

    return (*body, *called(body, ()))


def odd_calls(lines: Sequence[SassLine]) -> list[SassLine]:
    """Calls for which the code does not show what they execute: those through a pointer, and recursive ones."""
    calls: dict[int, set[int]] = {}
    for line in lines:
        if line.callee is not None:
            calls.setdefault(line.function, set()).add(line.callee)

    def reaches(start: int, goal: int) -> bool:
        seen, waiting = set(), [start]
        while waiting:
            here = waiting.pop()
            if here == goal:
                return True
            if here not in seen:
                seen.add(here)
                waiting += calls.get(here, ())
        return False

    return [
        line
        for line in lines
        if line.callee == INDIRECT or line.callee is not None and reaches(line.callee, line.function)
    ]


def opcodes(lines: Sequence[SassLine]) -> Counter:
    """How often `lines` contains each opcode with its modifiers."""
    return Counter(line.opcode for line in lines)
