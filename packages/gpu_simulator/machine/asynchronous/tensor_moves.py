"""tcgen05.cp and tcgen05.shift: what they read and write in tensor memory. They wait in the queue of the products.

Both have the attributes of `tensor_product.Product` that `TensorCores` and its observers use. blocks: resident blocks
whose tensor memory is written, the even one first; a copy takes each block's data from the shared memory of that block.
number: among the operations of the thread, from 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_simulator.hardware.tensor_memory_layout import QUARTER, SHIFTED_COLUMNS, Copied
from gpu_simulator.machine.asynchronous.tensor_product import Product

_NOTHING = np.zeros(0, np.int64)


@dataclass(eq=False)
class Copy:
    """One tcgen05.cp. what: the shape.   index: (rows, chunks) 16-byte chunks of a block's shared memory.

    address: in tensor memory.
    """

    site: int
    lane: int
    shape: str
    what: Copied
    blocks: tuple[int, ...]
    address: int
    index: np.ndarray
    number: int = 0
    done: bool = False
    kind = "cp"
    accumulates = False

    @property
    def lanes(self) -> np.ndarray:
        """(times, rows): the lanes that each row is written to."""
        return self.what.lanes + (self.address >> 16)

    def tensor(self):
        """Yield (block, groups of 16 lanes, first column, columns, whether it writes) for its uses of tensor memory."""
        groups = np.unique(self.lanes >> 4)
        for block in self.blocks:
            yield block, groups, self.address & 0xFFFF, self.what.columns, True

    def shared(self, stride: int) -> np.ndarray:
        """Positions of the 16-byte chunks of shared memory that it reads. stride: of a block, in such chunks."""
        return np.concatenate([(self.index + block * stride).reshape(-1) for block in self.blocks])

    def run(self, resident) -> None:
        column, stride = self.address & 0xFFFF, resident.shared_stride >> 4
        for block in self.blocks:
            words = resident.shared.views[16][self.index + block * stride].view(np.uint32)
            cells = resident.tensor_memory.cells[block]
            cells[self.lanes, column : column + self.what.columns] = words.reshape(len(self.index), -1)
        self.done = True


@dataclass(eq=False)
class Shift:
    """One tcgen05.shift.down. address: in tensor memory; its lane is the first of a quarter.

    Every row of 32 bytes gets the contents of the next lane, and the last row of the quarter keeps its own. The PTX ISA
    says only that rows shift down but the last; the direction is what NVIDIA observed on a B200 for .ashift (CUTLASS,
    examples/python/CuTeDSL/experimental/primitives/tcgen05/1cta_mma_a_from_tmem.py).
    """

    site: int
    lane: int
    blocks: tuple[int, ...]
    address: int
    number: int = 0
    done: bool = False
    kind = "shift"
    accumulates = True  # it reads the cells that it writes

    def tensor(self):
        """Yield (block, groups of 16 lanes, first column, columns, whether it writes) for its uses of tensor memory."""
        first = self.address >> 20
        for block in self.blocks:
            yield block, np.array([first, first + 1]), self.address & 0xFFFF, SHIFTED_COLUMNS, True

    def shared(self, _: int) -> np.ndarray:
        return _NOTHING

    def run(self, resident) -> None:
        lane, column = self.address >> 16, self.address & 0xFFFF
        for block in self.blocks:
            rows = resident.tensor_memory.cells[block][lane : lane + QUARTER, column : column + SHIFTED_COLUMNS]
            rows[:-1] = rows[1:].copy()
        self.done = True


Operation = Product | Copy | Shift
