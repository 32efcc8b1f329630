"""cp.async.bulk and cp.reduce.async.bulk: copies of boxes (TMA) and of plain bytes between global and shared memory or
from block to block, and the instructions that wait for them.

Bytes, and the sectors that a box covers in global memory, are counted. Wavefronts are not, because the shared-memory
wavefronts of Nsight Compute do not include those of TMA: measured on an H200 for the Hopper and the RTX 5090 ladder
(results/profiles/h200/rungs.csv), where the other instructions account for the whole count. A multicast reads global
memory once and is counted once.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.memory.addresses import shared_address, wide_address
from gpu_simulator.codegen.ops.memory.bulk_checks import (
    PLAIN_ALIGN,
    SMEM_ALIGN,
    check_corner,
    check_shared,
    descriptor,
    plain_place,
)
from gpu_simulator.codegen.ops.memory.bulk_reduce import CHANGES, change_of, reduced
from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.asynchronous.transfers import Load
from gpu_simulator.machine.lanes import at_lane
from gpu_simulator.ptx.ir import Vector
from gpu_simulator.runtime import runtime

_KNOWN = (
    "async", "bulk", "tensor", "1d", "2d", "3d", "4d", "5d", "shared__cta", "shared__cluster", "global", "tile",
    "mbarrier__complete_tx__bytes", "bulk_group", "L2__cache_hint", "commit_group", "wait_group", "read", "prefetch",
    "L2", "mbarrier", "arrive", "noinc", "shared", "multicast__cluster", "cta_group__1", "cta_group__2",
    "reduce", "noftz", *CHANGES,
)  # fmt: skip


def bulk(e, i) -> None:
    """Generate cp.async.bulk… and cp.async.mbarrier.arrive."""
    e.allow(*_KNOWN)
    parts, operands = i.parts, i.operands
    if "mbarrier" in parts:
        e.line(
            f"copies_arrive(resident, lanes, {i.site}, {shared_address(e, i, operands[0])}, {e.mask}, "
            f"{'noinc' in parts})"
        )
    elif "commit_group" in parts:
        e.line(f"resident.transfers.commit(lanes, {e.mask})")
    elif "wait_group" in parts:
        e.line(f"resident.transfers.wait(lanes, {e.mask}, {e.read(operands[0], 'u32')}, {'read' not in parts})")
    elif "prefetch" in parts:
        where = _tensor_place(e, i, operands[0]) if "tensor" in parts else None
        e.line("pass" if where is None else f"bulk_prefetch(resident, lanes, {i.site}, {e.mask}, {where})")
    else:
        _copy(e, i)


def _copy(e, i) -> None:
    tensor, storing = "tensor" in i.parts, "bulk_group" in i.parts
    change = change_of(i.parts) if "reduce" in i.parts else None
    spaces = [part for part in i.parts if part == "global" or part.startswith("shared")]
    if len(spaces) != 2 or (spaces[0] == "global") != storing:
        raise e.unsupported("it cannot copy between the state spaces that it names")
    to, source = i.operands[:2]
    if "global" not in spaces:
        here, there, barrier = (shared_address(e, i, place) for place in (source, to, i.operands[3]))
        e.line(
            f"block_copy(resident, lanes, {i.site}, {e.mask}, {there}, {here}, {e.read(i.operands[2], 'u32')}, "
            f"{barrier}, {change!r})"
        )
        return
    outside, inside = (to, source) if storing else (source, to)
    shared = shared_address(e, i, inside)
    plain = "" if tensor else f"({wide_address(e, outside)}, {e.read(i.operands[2], 'u32')})"
    where = plain or _tensor_place(e, i, outside)
    at = 2 if tensor else 3
    barrier = "None" if storing else shared_address(e, i, i.operands[at])
    blocks = e.read(i.operands[at + 1], "u16") if "multicast__cluster" in i.parts else "None"
    pair = "cta_group__2" in i.parts
    e.line(
        f"bulk_copy(resident, lanes, {i.site}, {e.mask}, {shared}, {barrier}, {tensor}, {where}, {blocks}, {pair}, "
        f"{change!r})"
    )


def _tensor_place(e, i, outside) -> str:
    """The expression of (address of the tensor map, coordinates)."""
    items = outside.coordinates[0].items if type(outside.coordinates[0]) is Vector else outside.coordinates
    rank = int(next(part for part in i.parts if part in ("1d", "2d", "3d", "4d", "5d"))[0])
    if len(items) != rank:
        raise e.unsupported(f"{len(items)} coordinates for {rank} dimensions")
    return f"({wide_address(e, outside)}, ({' '.join(e.read(item, 's32') + ',' for item in items)}))"


@runtime
def bulk_prefetch(resident, lanes, site, mask, where):
    """Prefetch of a box to L2: checks its descriptor and coordinates, and does nothing else."""
    for at, lane in lanes.one_by_one(mask):
        address, *corner = (at_lane(v, at) for v in (where[0], *where[1]))
        check_corner(resident, site, lane, descriptor(resident, site, lane, address, len(corner)), corner, "prefetches")


@runtime
def bulk_copy(resident, lanes, site, mask, shared, barrier, tensor, where, blocks, pair, change):
    """Issue one copy for each executing lane, into shared memory if there is a barrier, otherwise out of it.

    where: (address of the tensor map, coordinates), or (address, size) if not `tensor`.   pair: .cta_group::2.
    blocks: mask of the ranks of a multicast, or None.   change: the operation and type of a reduction, or None.
    """
    for at, lane in lanes.one_by_one(mask):

        def own(value, at=at):
            return at_lane(value, at)

        block, address = located(resident, site, lane, own(shared))
        if block != resident.block_of_lane[lane]:
            resident.shared.check_space(site, lane)
        if tensor:
            boxes = descriptor(resident, site, lane, own(where[0]), len(where[1]))
            corner = [own(c) for c in where[1]]
            check_corner(resident, site, lane, boxes, corner, _verb(barrier, change))
            place = boxes.place(corner)
            size, chunks, reach = boxes.size, boxes.shared(address), boxes.reach
            check_shared(resident, site, lane, address, reach, SMEM_ALIGN)
        else:
            boxes, size = Bytes, own(where[1])
            place = plain_place(resident, site, lane, own(where[0]), size)
            check_shared(resident, site, lane, address, size, PLAIN_ALIGN)
            chunks = (address >> 4) + np.arange(size >> 4)
        count(resident.sites[site], place, size)
        if barrier is None:
            store(resident, site, lane, boxes, place, chunks + (block * resident.shared_stride >> 4), change)
            continue
        resident.launch.asked_by_rank[int(resident.block_of_lane[lane]) % resident.cluster_size] += size
        for observer in resident.observers:
            observer.global_copied(site, lane, place, "reads")
        home, ranks = located(resident, site, lane, own(barrier)), None if blocks is None else own(blocks)
        for to, key in destinations(resident, site, lane, block, home, ranks, pair):
            load(resident, site, lane, boxes, place, chunks + (to * resident.shared_stride >> 4), key, size)


def _verb(barrier, change) -> str:
    return "loads" if barrier is not None else "stores" if change is None else "reduces"


def located(resident, site, lane: int, address: int) -> tuple[int, int]:
    """(resident block, offset) of a shared address."""
    blocks, at = resident.shared.split(site, np.array([lane]), np.array([address & 0xFFFFFFFF]))
    return int(blocks[0]), int(at[0])


def load(resident, site, lane, boxes, place, index, key, size) -> None:
    """Start a copy into shared memory that reports to an mbarrier."""
    barrier = resident.mbarriers.find(site, lane, key)

    def move():
        resident.shared.views[16][index] = boxes.read(resident.memory, place)

    copy = Load(site, lane, key, size, move, index, barrier.phase)
    for observer in resident.observers:
        observer.load_issued(copy, barrier)
    resident.transfers.load(copy)


def destinations(resident, site, lane: int, block: int, home: tuple[int, int], ranks: int | None, pair: bool):
    """Yield (block, key of its mbarrier) for each copy that a load makes. Raises `MemoryFault` for wrong ones.

    block: of the address that the load names.   home: (block, offset) of the mbarrier that it names.
    A multicast writes the same bytes to the same offset of every block whose rank is set in `ranks`, and reports to the
    mbarrier at the same offset there. With `pair` it reports to the even block of the destination's pair if the
    mbarrier that it names is in an even block, otherwise to the odd one. PTX ISA, "cp.async.bulk.tensor".
    """
    if ranks is None:
        if home[0] != block and not (pair and home[0] == block ^ 1):
            hint = "" if pair else "; with .cta_group::2 it may be in the other block of its pair"
            raise MemoryFault(
                f"{resident.describe(site)}: {resident.name_lane(lane)} fills shared memory of "
                f"{resident.name_block(block)} and reports to an mbarrier of {resident.name_block(home[0])}, but it "
                f"has to be one of the block that is filled{hint}."
            )
        yield block, home
        return
    first = block - block % resident.cluster_size
    if not ranks or ranks >> resident.cluster_size:
        raise MemoryFault(
            f"{resident.describe(site)}: {resident.name_lane(lane)} sends a multicast to the ranks of the mask "
            f"{ranks:#x}, but its cluster has {resident.cluster_size} block{'s' if resident.cluster_size > 1 else ''}, "
            f"so that the mask is {1:#x} to {(1 << resident.cluster_size) - 1:#x}."
        )
    for rank in range(resident.cluster_size):
        if ranks >> rank & 1:
            to = first + rank
            resident.shared.check_there(site, np.array([lane]), np.array([to]))
            yield to, (to & ~1 | home[0] & 1 if pair else to, home[1])


@runtime
def block_copy(resident, lanes, site, mask, to, source, size, barrier, change):
    """cp.async.bulk from the shared memory of a lane's block to that of another. size: in bytes."""
    for at, lane in lanes.one_by_one(mask):
        target, begin, count_, home = (at_lane(v, at) for v in (to, source, size, barrier))
        (block, there), (own, here) = located(resident, site, lane, target), located(resident, site, lane, begin)
        if own != resident.block_of_lane[lane]:
            raise MemoryFault(
                f"{resident.describe(site)}: {resident.name_lane(lane)} copies from {resident.name_block(own)}; a copy "
                "from block to block begins in the shared memory of the thread's own."
            )
        for address in (there, here):
            check_shared(resident, site, lane, address, count_, PLAIN_ALIGN)
        if count_ % PLAIN_ALIGN or not count_:
            raise MemoryFault(
                f"{resident.describe(site)}: {resident.name_lane(lane)} copies {count_:,} bytes; 16, 32, 48 … are "
                "possible."
            )
        resident.sites[site].requests += 1
        resident.sites[site].bytes += count_
        ((_, key),) = destinations(resident, site, lane, block, located(resident, site, lane, home), None, False)
        chunks = np.arange(count_ >> 4)
        index, read = (chunks + (b * resident.shared_stride + a >> 4) for b, a in ((block, there), (own, here)))

        def move(index=index, read=read):
            new = resident.shared.views[16][read]
            resident.shared.views[16][index] = (
                new if change is None else reduced(change, resident.shared.views[16][index], new)
            )

        target = resident.mbarriers.find(site, lane, key)
        copy = Load(site, lane, key, count_, move, index, target.phase, source=read)
        for observer in resident.observers:
            observer.load_issued(copy, target)
        resident.transfers.load(copy)


def store(resident, site, lane, boxes, place, index, change) -> None:
    """Start a copy out of shared memory. change: (operation, type) of a reduction, or None."""
    if change is not None and change[1] is None:
        change = change[0], boxes.tensor.element

    def move():
        new = resident.shared.views[16][index]
        boxes.write(
            resident.memory, place, new if change is None else reduced(change, boxes.read(resident.memory, place), new)
        )

    for observer in resident.observers:
        observer.store_issued(site, lane, index)
        observer.global_copied(site, lane, place, "writes")
    resident.transfers.store(site, lane, move, index)


def count(counts, place, size: int) -> None:
    """Add a copy to the counts of its instruction."""
    counts.requests += 1
    counts.bytes += size
    counts.sectors += place.sectors


class Bytes:
    """Copies plain bytes in chunks of 16, with the methods of `Boxes`."""

    @staticmethod
    def read(memory, place):
        """The 16-byte chunks at `place`."""
        return memory.views[16][place.index]

    @staticmethod
    def write(memory, place, chunks):
        """Store 16-byte chunks at `place`."""
        memory.views[16][place.index] = chunks


@runtime
def copies_arrive(resident, lanes, site, address, mask, noinc):
    """cp.async.mbarrier.arrive: each thread arrives when the copies that it has issued so far are complete."""
    for key, _, numbers in resident.mbarriers.groups(lanes, site, address, mask):
        barrier = resident.mbarriers.find(site, int(numbers[0]), key)
        for observer in resident.observers:
            observer.mbarrier_used(site, barrier, numbers)
            observer.mbarrier_arrives(site, barrier, numbers)
        if not noinc:
            resident.mbarriers.add_pending(site, int(numbers[0]), key, len(numbers))
        for lane in numbers.tolist():
            move = resident.groups.taken(lane)
            copy = Load(site, lane, key, 0, move, np.zeros(0, np.int64), barrier.phase)
            for observer in resident.observers:
                observer.copies_reported(copy)
            resident.transfers.load(copy)
