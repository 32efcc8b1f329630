"""Runs recursive functions: a call's registers are saved on a stack, for each lane, while a deeper call uses them.

A recursive function is inlined once, like any other. A call from inside this copy saves the registers and variables of
the copy and jumps to its beginning. A return restores what the lane saved last, or leaves the copy if the lane saved
nothing in this copy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpu_simulator.faults import MemoryFault
from gpu_simulator.ptx.ir import Function, Variable

DEEPEST = 512 * 1024 // 16  # calls of one thread: each takes 16 bytes of its stack, or more


@dataclass
class Frame:
    """The copy of a recursive function: its registers are first … last - 1, its .param variables are `variables`.

    results, parameters: the variables through which the function returns its results and receives its arguments.
    enter, leave: labels at the beginning and at the end.
    """

    results: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    enter: str
    leave: str
    first: int
    last: int = 0
    variables: list[Variable] = field(default_factory=list)


def recursive_functions(functions: dict[str, Function]) -> set[str]:
    """Names of the functions that can reach themselves through calls by name."""
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


class CallStack:
    """What the lanes of a chunk have saved, for each depth of recursion.

    depth: number of calls that each lane has saved.   levels: for each depth, frame number -> what the lanes saved.
    """

    def __init__(self, chunk):
        self.chunk, self.program = chunk, chunk.program
        self.depth = np.zeros(chunk.lanes, np.int64)
        self.levels: list[dict[int, _Saved]] = []
        self.owner: list[np.ndarray] = []  # for each depth, the number of the frame that each lane saved there, or -1

    def enter(self, L, number: int, arguments, target: int, following: int) -> int:
        """Save frame `number` of the executing lanes, copy the arguments, and go to its beginning, the block `target`.

        arguments: (address, bytes, address in the frame) in local memory.   following: the block to continue with after
        the return. Raises `MemoryFault` if a lane is `DEEPEST` calls deep.
        """
        chunk, frame = self.chunk, self.program.frames[number]
        lanes = L.lane_numbers()[L.active()]
        for depth in np.unique(self.depth[lanes]).tolist():
            here = lanes[self.depth[lanes] == depth]
            if depth == DEEPEST:
                raise MemoryFault(
                    f"{chunk.name_lane(int(here[0]))} is {DEEPEST:,} calls deep in a recursion, and calls again: more "
                    "than the 512 KB of local memory of a thread can hold. Does it end?"
                )
            if depth == len(self.levels):
                self.levels.append({})
                self.owner.append(np.full(chunk.lanes, -1))
            saved = self.levels[depth].get(number)
            if saved is None:
                saved = self.levels[depth][number] = _Saved(chunk, frame)
            saved.keep(chunk, frame, here, following)
            self.owner[depth][here] = number
        self.depth[lanes] += 1
        _copy(chunk, lanes, arguments)
        chunk.goto(L, target)
        return -1

    def leave(self, L, number: int, target: int, results: tuple) -> int:
        """Return from frame `number`: to where the lane called it from inside, else out of the copy, to block `target`.

        results: pairs of the block that follows a call and the copies (address, bytes, address at the caller) of its
        results.
        """
        results = dict(results)
        chunk, frame = self.chunk, self.program.frames[number]
        lanes = L.lane_numbers()[L.active()]
        chunk.goto(L, target)
        depths = self.depth[lanes]
        for depth in np.unique(depths[depths > 0]).tolist():
            here = lanes[depths == depth]
            here = here[self.owner[depth - 1][here] == number]
            if not len(here):
                continue
            saved = self.levels[depth - 1][number]
            back = saved.back[here]
            moved = {}
            for following in np.unique(back).tolist():
                some = here[back == following]
                moved[following] = some, _bytes(chunk, some, results[following])
            saved.restore(chunk, frame, here)
            for following, (some, values) in moved.items():
                _put(chunk, some, results[following], values)
                chunk.pc[some] = following
            self.depth[here] -= 1
        chunk.at = None
        return -1


class _Saved:
    """What the lanes saved of one frame: registers, bytes of the .param variables, the block to continue with."""

    def __init__(self, chunk, frame: Frame):
        address = chunk.program.address
        self.places = [(address(variable), variable.size) for variable in frame.variables]
        registers = [chunk.launch.initial_registers[number] for number in range(frame.first, frame.last)]
        size = sum(zero.itemsize for zero in registers) + sum(size for _, size in self.places) + 8
        chunk.take(chunk.lanes * size, "the stack of a recursion")
        self.registers = [np.full(chunk.lanes, zero) for zero in registers]
        self.data = [np.zeros((chunk.lanes, size), np.uint8) for _, size in self.places]
        self.back = np.zeros(chunk.lanes, np.int64)

    def keep(self, chunk, frame: Frame, lanes, following: int) -> None:
        for kept, value in zip(self.registers, chunk.R[frame.first : frame.last], strict=True):
            kept[lanes] = value if value.ndim == 0 else value[lanes]
        rows = _rows(chunk)
        for kept, (at, size) in zip(self.data, self.places, strict=True):
            kept[lanes] = rows[lanes, at : at + size]
        self.back[lanes] = following

    def restore(self, chunk, frame: Frame, lanes) -> None:
        for number, kept in enumerate(self.registers, frame.first):
            old = chunk.R[number]
            new = np.full(chunk.lanes, old) if old.ndim == 0 else old.copy()
            new[lanes] = kept[lanes]
            chunk.R[number] = new
        rows = _rows(chunk)
        for kept, (at, size) in zip(self.data, self.places, strict=True):
            rows[lanes, at : at + size] = kept[lanes]


def _rows(chunk) -> np.ndarray:
    """Local memory as a view of shape (lanes, bytes)."""
    return chunk.local.data[: chunk.lanes * chunk.local_stride].reshape(chunk.lanes, -1)


def _bytes(chunk, lanes, moves) -> list[np.ndarray]:
    rows = _rows(chunk)
    return [rows[lanes, source : source + size] for source, size, _ in moves]


def _put(chunk, lanes, moves, values) -> None:
    rows = _rows(chunk)
    for (_, size, to), value in zip(moves, values, strict=True):
        rows[lanes, to : to + size] = value


def _copy(chunk, lanes, moves) -> None:
    _put(chunk, lanes, moves, _bytes(chunk, lanes, moves))
