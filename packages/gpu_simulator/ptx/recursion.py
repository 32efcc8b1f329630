"""Recursive functions: which functions of a module can call themselves, and what a frame of one consists of.

A recursive function is expanded in place once, like any other. A call from within it saves everything that belongs to
that copy and jumps to its beginning; a return restores what the lane saved last, or leaves the copy if nothing was
saved. `gpu_simulator.machine.call_stack` does the saving.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpu_simulator.ptx.ir import Function, Variable


@dataclass
class Frame:
    """The copy of a recursive function: its registers are first … last - 1, its .param variables `variables`.

    results, parameters: the variables that the copy reads and writes as its own.   enter, leave: labels.
    """

    results: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    enter: str
    leave: str
    first: int
    last: int = 0
    variables: list[Variable] = field(default_factory=list)


def recursive_functions(functions: dict[str, Function]) -> set[str]:
    """Names of the functions that can come back to themselves through calls by name."""
    calls = {
        name: {
            operand.name
            for item in function.body
            if getattr(item, "family", "") == "call"
            for operand in item.operands
            if getattr(operand, "name", None) in functions
        }
        for name, function in functions.items()
    }
    found = set()
    for name in calls:
        reached, left = set(), set(calls[name])
        while left:
            one = left.pop()
            reached.add(one)
            left |= calls[one] - reached
        if name in reached:
            found.add(name)
    return found
