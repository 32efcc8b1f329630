"""Checks of bulk copies: the tensor map, the coordinates of the box, the addresses in shared and global memory."""

from __future__ import annotations

import numpy as np

from gpu_simulator.faults import MemoryFault
from gpu_simulator.hardware.tensor_map import ENCODED_BYTES
from gpu_simulator.machine.address_space import GLOBAL_BASE, LOCAL_WINDOW
from gpu_simulator.machine.asynchronous.tensor_descriptor import Place, decode

SMEM_ALIGN, PLAIN_ALIGN = 128, 16


def descriptor(resident, site, lane: int, address: int, rank: int):
    """The `Boxes` of the tensor map at a generic address. Raises `MemoryFault` if there is none of this rank."""
    what = None
    if address >= LOCAL_WINDOW:
        place = "shared" if address >= resident.program.shared_window else "local"
        what = f"lies in {place} memory: declare the parameter `const __grid_constant__ CUtensorMap`"
    elif address % 64:
        what = "is not aligned to 64 bytes: declare the struct alignas(64)"
    elif not resident.memory.inside(address, address + ENCODED_BYTES):
        what = f"points to {address:#x}, {resident.memory.nearest(address, ENCODED_BYTES)}"
    if what is None:
        at = address - GLOBAL_BASE
        boxes = decode(resident.memory.data[at : at + ENCODED_BYTES].tobytes())
        if boxes is None:
            what = "is not a tensor map: pass a TensorMap as the argument"
        elif boxes.tensor.rank != rank:
            what = f"has {boxes.tensor.rank} dimensions, and the copy names {rank} coordinates"
        else:
            return boxes
    raise MemoryFault(f"{resident.describe(site)}: the tensor map of {resident.name_lane(lane)} {what}.")


def check_corner(resident, site, lane: int, boxes, corner: list[int], what: str) -> None:
    """Raise `MemoryFault` if the hardware rejects the coordinates of a box, by the rules of `TensorMap.refused`.

    corner: coordinates, innermost first.   what: "loads", "stores", "reduces" or "prefetches".
    """
    why = boxes.tensor.refused(corner, storing=what in ("stores", "reduces"))
    if why:
        raise MemoryFault(
            f"{resident.describe(site)}: {resident.name_lane(lane)} {what} a box at {tuple(corner)}, {why}"
        )


def check_shared(resident, site, lane: int, address: int, size: int, align: int) -> None:
    """Raise `MemoryFault` unless the place of a copy in shared memory is aligned and inside of it."""
    if address % align:
        raise MemoryFault(
            f"{resident.describe(site)}: {resident.name_lane(lane)} copies to or from shared address {address:#x}, "
            f"which is not a multiple of {align} bytes; give the buffer __align__({align})"
            f"{' or, with a swizzle, that of its pattern (1,024 for 128 bytes)' if align > 16 else ''}."
        )
    if address + size > resident.shared.size:
        raise MemoryFault(
            f"{resident.describe(site)}: {resident.name_lane(lane)} copies {size:,} bytes at shared address "
            f"{address:,}, but the block has {resident.shared.size:,} bytes of shared memory."
        )


def plain_place(resident, site, lane: int, address: int, size: int):
    """The `Place` of a copy without a tensor map in global memory. Raises `MemoryFault` if it is invalid."""
    if size % PLAIN_ALIGN or address % PLAIN_ALIGN or not size:
        raise MemoryFault(
            f"{resident.describe(site)}: {resident.name_lane(lane)} copies {size:,} bytes at global address "
            f"{address:#x}; both must be multiples of 16."
        )
    if not resident.memory.inside(address, address + size):
        raise MemoryFault(
            f"{resident.describe(site)}: {resident.name_lane(lane)} copies {size:,} bytes at global address "
            f"{address:#x}, {resident.memory.nearest(address, size)}."
        )
    return Place(16, (address - GLOBAL_BASE >> 4) + np.arange(size >> 4), None, 0, 0)
