"""The stack of recursive functions: registers and parameters are saved for each lane, and restored at the return.

`gpu_simulator.ptx.recursion` determines which functions need it and what a frame holds.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.faults import MemoryFault
from gpu_simulator.ptx.recursion import Frame

DEEPEST = 512 * 1024 // 16  # nested calls of one thread: each takes at least 16 of the 512 KB of its stack


class CallStack:
    """The saved frames of the lanes of the resident blocks, for each depth of recursion.

    depth: number of calls that each lane has saved.   levels: for each depth, frame number -> what the lanes saved.
    """

    def __init__(self, resident):
        self.resident, self.program = resident, resident.program
        self.depth = np.zeros(resident.lanes, np.int64)
        self.levels: list[dict[int, _Saved]] = []
        self.owner: list[np.ndarray] = []  # for each level, the number of the frame that a lane saved there

    def enter(self, lanes, number: int, arguments, target: int, following: int) -> int:
        """Save frame `number` of the executing lanes, copy the arguments, and continue at the basic block `target`.

        arguments: (address, bytes, address in the frame) in local memory.   following: the basic block after the
        return. Raises `MemoryFault` if a lane is `DEEPEST` calls deep.
        """
        resident, frame = self.resident, self.program.frames[number]
        numbers = lanes.lane_numbers()[lanes.active()]
        for depth in np.unique(self.depth[numbers]).tolist():
            here = numbers[self.depth[numbers] == depth]
            if depth == DEEPEST:
                raise MemoryFault(
                    f"{resident.name_lane(int(here[0]))} is {DEEPEST:,} calls deep in a recursion, and calls again: "
                    "more than the 512 KB of local memory of a thread can hold. Does it end?"
                )
            if depth == len(self.levels):
                self.levels.append({})
                self.owner.append(np.full(resident.lanes, -1))
            saved = self.levels[depth].get(number)
            if saved is None:
                saved = self.levels[depth][number] = _Saved(resident, frame)
            saved.keep(resident, frame, here, following)
            self.owner[depth][here] = number
        self.depth[numbers] += 1
        _copy(resident, numbers, arguments)
        resident.goto(lanes, target)
        return -1

    def leave(self, lanes, number: int, target: int, results: tuple) -> int:
        """Return from a frame: each lane continues after the call that saved it last, or at `target` if none did.

        results: pairs of the basic block after a call and the (address, size, address in the caller) of each result.
        """
        results = dict(results)
        resident, frame = self.resident, self.program.frames[number]
        numbers = lanes.lane_numbers()[lanes.active()]
        resident.goto(lanes, target)
        depths = self.depth[numbers]
        for depth in np.unique(depths[depths > 0]).tolist():
            here = numbers[depths == depth]
            here = here[self.owner[depth - 1][here] == number]
            if not len(here):
                continue
            saved = self.levels[depth - 1][number]
            back = saved.back[here]
            moved = {}
            for following in np.unique(back).tolist():
                some = here[back == following]
                moved[following] = some, _bytes(resident, some, results[following])
            saved.restore(resident, frame, here)
            for following, (some, values) in moved.items():
                _put(resident, some, results[following], values)
                resident.pc[some] = following
            self.depth[here] -= 1
        resident.at = None
        return -1


class _Saved:
    """One frame of every lane: registers, bytes of the .param variables, the basic block to continue with."""

    def __init__(self, resident, frame: Frame):
        address = resident.program.address
        self.places = [(address(variable), variable.size) for variable in frame.variables]
        registers = [resident.launch.initial_registers[number] for number in range(frame.first, frame.last)]
        size = sum(zero.itemsize for zero in registers) + sum(size for _, size in self.places) + 8
        resident.take(resident.lanes * size, "the stack of a recursion")
        self.registers = [np.full(resident.lanes, zero) for zero in registers]
        self.data = [np.zeros((resident.lanes, size), np.uint8) for _, size in self.places]
        self.back = np.zeros(resident.lanes, np.int64)

    def keep(self, resident, frame: Frame, lanes, following: int) -> None:
        for kept, value in zip(self.registers, resident.R[frame.first : frame.last], strict=True):
            kept[lanes] = value if value.ndim == 0 else value[lanes]
        rows = _rows(resident)
        for kept, (at, size) in zip(self.data, self.places, strict=True):
            kept[lanes] = rows[lanes, at : at + size]
        self.back[lanes] = following

    def restore(self, resident, frame: Frame, lanes) -> None:
        for number, kept in enumerate(self.registers, frame.first):
            old = resident.R[number]
            new = np.full(resident.lanes, old) if old.ndim == 0 else old.copy()
            new[lanes] = kept[lanes]
            resident.R[number] = new
        rows = _rows(resident)
        for kept, (at, size) in zip(self.data, self.places, strict=True):
            rows[lanes, at : at + size] = kept[lanes]


def _rows(resident) -> np.ndarray:
    """A view of local memory as (lanes, bytes)."""
    return resident.local.data[: resident.lanes * resident.local_stride].reshape(resident.lanes, -1)


def _bytes(resident, lanes, moves) -> list[np.ndarray]:
    rows = _rows(resident)
    return [rows[lanes, source : source + size] for source, size, _ in moves]


def _put(resident, lanes, moves, values) -> None:
    rows = _rows(resident)
    for (_, size, to), value in zip(moves, values, strict=True):
        rows[lanes, to : to + size] = value


def _copy(resident, lanes, moves) -> None:
    _put(resident, lanes, moves, _bytes(resident, lanes, moves))
