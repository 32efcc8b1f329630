"""The heap from which `malloc` in device code takes memory, in global memory behind all arrays.

CUDA C++ Programming Guide, "Dynamic Global Memory Allocation": it has 8 MB unless the host asks for more, allocations
are aligned to 16 bytes, and malloc gives NULL if there is not enough left.
"""

from __future__ import annotations

from typing import Any

from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.address_space import GLOBAL_BASE, align_up

HEAP_BYTES = 8 << 20
ALIGNMENT = 16
FREED = ", which was freed"


class Heap:
    """Each allocation is an array of its own in `memory`, a `GlobalMemory`, so that an access past its end is found.

    A place is used again only for an allocation of the same size. New memory holds NaN in every format; on a GPU it may
    hold anything.
    """

    def __init__(self, memory: Any, start: int, size: int):
        self.memory, self.next, self.end = memory, start, start + size
        self.numbers: dict[int, int] = {}  # address -> number of the allocation, freed ones too
        self.freed: dict[int, list[int]] = {}  # size -> numbers of freed allocations
        self.calls = 0

    def allocate(self, size: int) -> tuple[int, int | None]:
        """(address, number of an allocation whose place is used again); the address is 0 if there is no room."""
        memory, self.calls = self.memory, self.calls + 1
        name, again = f"the memory of malloc, call {self.calls}", None
        if self.freed.get(size):
            again = self.freed[size].pop()
            address = memory.starts[again]
            memory.ends[again], memory.names[again] = address + size, name
        else:
            address = self.next
            if size <= 0 or address + size > self.end:
                return 0, None
            self.next = align_up(address + size + ALIGNMENT, ALIGNMENT)
            self.numbers[address] = len(memory.starts)
            memory.unset.add(len(memory.starts))
            memory.add(address, size, name)
        memory.data[address - GLOBAL_BASE : address - GLOBAL_BASE + size] = 0xFF
        return address, again

    def free(self, address: int, who: str) -> None:
        """Free an allocation. Raises `MemoryFault` if there is none at this address. who: the thread, in words."""
        if address == 0:
            return
        number, memory = self.numbers.get(address), self.memory
        if number is None or memory.names[number].endswith(FREED):
            why = "malloc has given no such address" if number is None else f"it is {memory.names[number]} before"
            raise MemoryFault(f"{who} frees {address:#x}, and {why}.")
        self.freed.setdefault(memory.ends[number] - memory.starts[number], []).append(number)
        memory.ends[number] = memory.starts[number]
        memory.names[number] += FREED
