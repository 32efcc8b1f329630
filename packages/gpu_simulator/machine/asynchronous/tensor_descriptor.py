"""Reads the simulator's own 128 bytes of a tensor map: the places of its boxes in global and in shared memory.

The hardware's CUtensorMap is opaque; `hardware.tensor_map.TensorMap.encoded` writes the same information.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from gpu_simulator.hardware.tensor_map import ELEMENT_BYTES, FILLS, FORM, MARK, TensorMap
from gpu_simulator.machine.address_space import GLOBAL_BASE

_ELEMENTS = tuple(ELEMENT_BYTES)
# The NaN fill value, by element width: the same 16 bits repeated, whatever the element type. Measured on an H200.
_NAN = {2: np.uint16(0x7FF7), 4: np.uint32(0x7FF77FF7), 8: np.uint64(0x7FF77FF77FF77FF7)}


@lru_cache(maxsize=64)
def decode(raw: bytes) -> Boxes | None:
    """The `Boxes` of a descriptor; None if the bytes are not a descriptor."""
    mark, address, *rest = FORM.unpack(raw[: FORM.size])
    if mark != MARK:
        return None
    rank, element, swizzle, promotion, fill = rest[19:]
    tensor = TensorMap(
        _ELEMENTS[element],
        tuple(size + 1 for size in rest[:rank]),
        tuple(rest[5 : 4 + rank]),
        tuple(rest[9 : 9 + rank]),
        tuple(rest[14 : 14 + rank]),
        swizzle,
        2 * promotion,
        FILLS[fill],
    )
    return Boxes(tensor, address)


class Boxes:
    """The boxes of one tensor. Addresses in shared memory are within a block; indices count from GLOBAL_BASE."""

    def __init__(self, tensor: TensorMap, address: int):
        self.tensor, self.base = tensor, address - GLOBAL_BASE
        copied, rank = tensor.copied, tensor.rank
        grid = np.indices(copied[:0:-1]).reshape(rank - 1, prod(copied[1:]))[::-1]  # of the rows, innermost first
        self.rows = grid.T * np.array(tensor.element_strides[1:], np.int64).reshape(1, -1)
        self.outer = np.array(tensor.sizes[1:], np.int64)
        self.offsets = self.rows @ np.array(tensor.strides, np.int64) if rank > 1 else np.zeros(1, np.int64)
        self.count = len(self.offsets)
        self.most = [size - 1 - last for size, last in zip(tensor.sizes[1:], self.rows[-1].tolist(), strict=True)]
        self.size, self.reach = tensor.box_bytes, tensor.smem_bytes
        chunks = np.arange(tensor.row_bytes // 16, dtype=np.int64)
        self.whole = (self.offsets[:, None] + 16 * chunks).reshape(-1)
        self.plain = (np.arange(self.count)[:, None] * tensor.row_pitch + 16 * chunks).reshape(-1)
        self._shared: dict[int, np.ndarray] = {}

    def shared(self, address: int) -> np.ndarray:
        """Positions of the 16-byte chunks of a box in shared memory, in units of 16 bytes, row by row.

        The swizzle is the XOR of address bits, so it depends on the absolute address.
        """
        low = address & 1023
        found = self._shared.get(low)
        if found is None:
            xor = self.tensor.xor
            plain = low + self.plain
            found = self._shared[low] = (plain if xor is None else xor(plain)) >> 4
        return found + (address - low >> 4)

    def place(self, coordinates) -> Place:
        """The part of the box at these coordinates (innermost first) that lies in the tensor."""
        tensor = self.tensor
        inner, *outer = coordinates
        low, high, size = max(0, -inner), min(tensor.box[0], tensor.sizes[0] - inner), tensor.element_bytes
        start = self.base + inner * size + sum(c * stride for c, stride in zip(outer, tensor.strides, strict=True))
        inside = all(0 <= c <= most for c, most in zip(outer, self.most, strict=True))
        if inside and low == 0 and high == tensor.box[0] and start % 16 == 0:
            return Place(16, start + self.whole >> 4, None, 0, 0)
        at = self.rows + np.array(outer, np.int64)
        rows = np.flatnonzero(((at >= 0) & (at < self.outer)).all(1))
        elements = np.arange(low, max(low, high))
        index = (start + self.offsets[rows][:, None]) // size + elements
        return Place(size, index.reshape(-1), rows, low, max(low, high))

    def read(self, memory, place: Place) -> np.ndarray:
        """The box as 16-byte chunks, with the fill value outside of the tensor."""
        if place.rows is None:
            return memory.views[16][place.index]
        size = place.width
        fill = _NAN[size] if self.tensor.fill == "nan" else 0
        box = np.full((self.count, self.tensor.box[0]), fill, memory.views[size].dtype)
        if place.index.size:
            box[place.rows, place.low : place.high] = memory.views[size][place.index].reshape(len(place.rows), -1)
        return box.reshape(-1).view(memory.views[16].dtype)

    def write(self, memory, place: Place, chunks: np.ndarray) -> None:
        """Write the part of a box that lies in the tensor. chunks: the whole box."""
        if place.rows is None:
            memory.views[16][place.index] = chunks
            return
        box = chunks.view(memory.views[place.width].dtype).reshape(self.count, -1)
        memory.views[place.width][place.index] = box[place.rows, place.low : place.high].reshape(-1)


class Place:
    """The elements in global memory that a box covers.

    index: of elements of `width` bytes, row by row.   rows: the rows of the box that lie in the tensor, with elements
    low … high - 1 of each; None if the whole box does, and `index` is of chunks of 16 bytes.
    """

    __slots__ = ("width", "index", "rows", "low", "high")

    def __init__(self, width: int, index, rows, low: int, high: int):
        self.width, self.index, self.rows, self.low, self.high = width, index, rows, low, high

    @property
    def sectors(self) -> int:
        """The number of 32-byte sectors; the elements of a row are in ascending order."""
        if not self.index.size:
            return 0
        sector = self.index * self.width >> 5
        return 1 + int(np.count_nonzero(sector[1:] != sector[:-1]))
