"""What a bulk copy may not do: the descriptor, the corner of the box, the places in shared and in global memory."""

from __future__ import annotations

import numpy as np

from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.address_space import GLOBAL_BASE, LOCAL_WINDOW, SHARED_WINDOW
from gpu_simulator.machine.asynchronous.tensor_descriptor import BYTES, Place, decode

SMEM_ALIGN, PLAIN_ALIGN = 128, 16


def descriptor(resident, site, lane: int, address: int, rank: int):
    """The boxes of the tensor map at a generic address."""
    what = None
    if address >= LOCAL_WINDOW:
        place = "shared" if address >= SHARED_WINDOW else "local"
        what = f"lies in {place} memory: declare the parameter `const __grid_constant__ CUtensorMap`"
    elif address % 64:
        what = "is not aligned to 64 bytes: declare the struct alignas(64)"
    elif not resident.memory.inside(address, address + BYTES):
        what = f"points to {address:#x}, {resident.memory.nearest(address, BYTES)}"
    if what is None:
        at = address - GLOBAL_BASE
        boxes = decode(resident.memory.data[at : at + BYTES].tobytes())
        if boxes is None:
            what = "is no tensor map: pass a TensorMap as the argument"
        elif boxes.tensor.rank != rank:
            what = f"has {boxes.tensor.rank} dimensions, and the copy names {rank} coordinates"
        else:
            return boxes
    raise MemoryFault(f"{resident.describe(site)}: the tensor map of {resident.name_lane(lane)} {what}.")


def check_corner(resident, site, lane: int, boxes, corner: list[int], what: str) -> None:
    """corner: coordinates, innermost first.   what: "loads", "stores" … ; `TensorMap.refused` has the law."""
    why = boxes.tensor.refused(corner, storing=what in ("stores", "reduces"))
    if why:
        raise MemoryFault(
            f"{resident.describe(site)}: {resident.name_lane(lane)} {what} a box at {tuple(corner)}, {why}"
        )


def check_shared(resident, site, lane: int, address: int, size: int, align: int) -> None:
    """A copy's place in shared memory is aligned and inside; a `MemoryFault` says what is not."""
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
    """Where a copy without a tensor map lies in global memory, in units of 16 bytes."""
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
