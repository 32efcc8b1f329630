"""The operands of an instruction that is being recorded, and the barriers and buffers that they refer to."""

from __future__ import annotations

from gpu_simulator.codegen.ops.memory.bulk import located
from gpu_simulator.ptx.ir import Immediate, Instruction, Memory, Register, Symbol


class Stop:
    """An instruction that is about to execute, and the values of its operands. position: index of one of its lanes."""

    def __init__(self, recorder, lanes, item: Instruction, values: dict):
        self.recorder, self.resident, self.item, self.values = recorder, recorder.resident, item, values
        self.lanes = lanes.lane_numbers()

    def value(self, position: int, operand):
        """The value of an operand at one lane; the address of a memory operand. Raises `TypeError` for other kinds."""
        if type(operand) is Register:
            value = self.values[f"r{operand.index}"]
            return value[position] if value.ndim else value
        if type(operand) is Immediate:
            return int(operand.text, 0)
        if type(operand) is Memory:
            return int(self.value(position, operand.base)) + operand.offset
        if type(operand) is Symbol:
            return self.resident.program.address(operand.variable) + operand.offset
        raise TypeError(f"no value is known of {operand}")

    def number(self, position: int, operand: int) -> int:
        return int(self.value(position, self.item.operands[operand]))

    def bit(self, position: int) -> int:
        """The lane's bit in the mask of its warp."""
        return 1 << (int(self.lanes[position]) & 31)

    def warp(self, position: int) -> tuple[int, int]:
        return next(self.recorder.warps(self.lanes[position : position + 1]))[2]

    def shared(self, position: int, memory) -> tuple[int, int]:
        """(resident block, address within its shared memory) that an operand refers to."""
        address = int(self.value(position, memory))
        window = self.resident.program.shared_window
        address -= window if address >= window else 0
        return located(self.resident, self.item.site, int(self.lanes[position]), address)

    def signal(self, key: tuple[int, int]) -> list[tuple]:
        """[(block of the grid, address, phase)] for the current phase of an mbarrier; [] if there is no mbarrier."""
        barrier = self.resident.mbarriers.known.get(key)
        return [] if barrier is None else [(self.recorder.block(key[0]), key[1], barrier.phase)]

    def signals(self, position: int, memory, ranks: int | None = None) -> list[tuple]:
        """The signals of an mbarrier. ranks: bit mask of the blocks of the cluster that hold it at the same address."""
        block, address = self.shared(position, memory)
        if ranks is None:
            return self.signal((block, address))
        first = block - block % self.resident.cluster_size
        blocks = [first + rank for rank in range(self.resident.cluster_size) if ranks >> rank & 1]
        return [signal for each in blocks for signal in self.signal((each, address))]

    def filling(self, position: int, operand) -> tuple:
        """(barrier, phase) of the last load that filled the tile of a matrix descriptor; (None, None) if there is none.

        Bits 0-13 of the descriptor are the tile's shared address in units of 16 bytes.
        """
        address = (int(self.value(position, operand)) & 0x3FFF) << 4
        block = self.warp(position)[0]
        for owner, first, behind, barrier, phase in reversed(self.recorder.boxes):
            if owner == block and first <= address < behind:
                return barrier, phase
        return None, None
