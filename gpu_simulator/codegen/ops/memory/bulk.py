"""cp.async.bulk and cp.reduce.async.bulk: copies of boxes (TMA) and of plain bytes between global and shared memory or
from block to block, and what waits for them.

Bytes and the sectors that a box covers in global memory are counted; wavefronts are not, as the shared-memory
wavefronts of Nsight Compute hold none of TMA: recorded on an H200 for the Hopper and the RTX 5090 ladder
(results/profiles/h200/rungs.csv), whose other instructions make up the whole count. What a multicast reads once from
global memory is counted once.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.memory.addresses import wide_address
from gpu_simulator.codegen.ops.memory.bulk_checks import (
    PLAIN_ALIGN,
    SMEM_ALIGN,
    check_corner,
    check_shared,
    descriptor,
    plain_place,
)
from gpu_simulator.codegen.ops.memory.bulk_reduce import CHANGES, change_of, reduced
from gpu_simulator.codegen.ops.threads.mbarrier import shared_address
from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.asynchronous.transfers import Load
from gpu_simulator.ptx.ir import Vector
from gpu_simulator.runtime import runtime

_KNOWN = (
    "async", "bulk", "tensor", "1d", "2d", "3d", "4d", "5d", "shared__cta", "shared__cluster", "global", "tile",
    "mbarrier__complete_tx__bytes", "bulk_group", "L2__cache_hint", "commit_group", "wait_group", "read", "prefetch",
    "L2", "mbarrier", "arrive", "noinc", "shared", "multicast__cluster", "cta_group__1", "cta_group__2",
    "reduce", "noftz", *CHANGES,
)  # fmt: skip


def bulk(e, i) -> None:
    """cp.async.bulk… and cp.async.mbarrier.arrive."""
    e.allow(*_KNOWN)
    parts, operands = i.parts, i.operands
    if "mbarrier" in parts:
        e.line(f"copies_arrive(S, L, {i.site}, {shared_address(e, i, operands[0])}, {e.mask}, {'noinc' in parts})")
    elif "commit_group" in parts:
        e.line(f"S.transfers.commit(L, {e.mask})")
    elif "wait_group" in parts:
        e.line(f"S.transfers.wait(L, {e.mask}, {e.read(operands[0], 'u32')})")
    elif "prefetch" in parts:
        where = _tensor_place(e, i, operands[0]) if "tensor" in parts else None
        e.line("pass" if where is None else f"bulk_prefetch(S, L, {i.site}, {e.mask}, {where})")
    else:
        _copy(e, i)


def _copy(e, i) -> None:
    tensor, storing = "tensor" in i.parts, "bulk_group" in i.parts
    change = change_of(i.parts) if "reduce" in i.parts else None
    spaces = [part for part in i.parts if part == "global" or part.startswith("shared")]
    if len(spaces) != 2 or (spaces[0] == "global") != storing:
        raise e.unsupported("it names no two state spaces that a copy could go between")
    to, source = i.operands[:2]
    if "global" not in spaces:
        here, there, barrier = (shared_address(e, i, place) for place in (source, to, i.operands[3]))
        e.line(
            f"block_copy(S, L, {i.site}, {e.mask}, {there}, {here}, {e.read(i.operands[2], 'u32')}, {barrier}, "
            f"{change!r})"
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
    e.line(f"bulk_copy(S, L, {i.site}, {e.mask}, {shared}, {barrier}, {tensor}, {where}, {blocks}, {pair}, {change!r})")


def _tensor_place(e, i, outside) -> str:
    """Code for (address of the tensor map, coordinates)."""
    items = outside.coordinates[0].items if type(outside.coordinates[0]) is Vector else outside.coordinates
    rank = int(next(part for part in i.parts if part in ("1d", "2d", "3d", "4d", "5d"))[0])
    if len(items) != rank:
        raise e.unsupported(f"{len(items)} coordinates for {rank} dimensions")
    return f"({wide_address(e, outside)}, ({' '.join(e.read(item, 's32') + ',' for item in items)}))"


@runtime
def bulk_prefetch(S, L, k, mask, where):
    """A box asked into L2, of which only its descriptor and its corner matter here."""
    positions = np.arange(L.n) if mask is None else np.flatnonzero(mask)
    for at, lane in zip(positions.tolist(), L.lane_numbers()[positions].tolist(), strict=True):
        address, *corner = (int(v if v.ndim == 0 else v[at]) for v in (where[0], *where[1]))
        check_corner(S, k, lane, descriptor(S, k, lane, address, len(corner)), corner, "prefetches")


@runtime
def bulk_copy(S, L, k, mask, shared, barrier, tensor, where, blocks, pair, change):
    """One copy for each executing lane; into shared memory where there is a barrier, else out of it.

    blocks: mask of the ranks to which a multicast goes, or None.   pair: .cta_group::2.
    change: the operation and type of a reduction, or None.
    """
    positions = np.arange(L.n) if mask is None else np.flatnonzero(mask)
    for at, lane in zip(positions.tolist(), L.lane_numbers()[positions].tolist(), strict=True):

        def own(value, at=at):
            return int(value if value.ndim == 0 else value[at])

        block, address = located(S, k, lane, own(shared))
        if block != S.block_of_lane[lane]:
            S.shared.check_space(k, lane)
        if tensor:
            boxes = descriptor(S, k, lane, own(where[0]), len(where[1]))
            corner = [own(c) for c in where[1]]
            check_corner(S, k, lane, boxes, corner, _verb(barrier, change))
            place = boxes.place(corner)
            size, chunks, reach = boxes.size, boxes.shared(address), boxes.reach
            check_shared(S, k, lane, address, reach, SMEM_ALIGN)
        else:
            boxes, size = Bytes, own(where[1])
            place = plain_place(S, k, lane, own(where[0]), size)
            check_shared(S, k, lane, address, size, PLAIN_ALIGN)
            chunks = (address >> 4) + np.arange(size >> 4)
        count(S.sites[k], place, size)
        if barrier is None:
            store(S, k, lane, boxes, place, chunks + (block * S.shared_stride >> 4), change)
            continue
        S.launch.asked_by_rank[int(S.block_of_lane[lane]) % S.cluster_size] += size
        for observer in S.observers:
            observer.global_copied(k, lane, place, "reads")
        home, ranks = located(S, k, lane, own(barrier)), None if blocks is None else own(blocks)
        for to, key in destinations(S, k, lane, block, home, ranks, pair):
            load(S, k, lane, boxes, place, chunks + (to * S.shared_stride >> 4), key, size)


def _verb(barrier, change) -> str:
    return "loads" if barrier is not None else "stores" if change is None else "reduces"


def located(S, k, lane: int, address: int) -> tuple[int, int]:
    """(resident block, offset) of a shared address."""
    blocks, at = S.shared.split(k, np.array([lane]), np.array([address & 0xFFFFFFFF]))
    return int(blocks[0]), int(at[0])


def load(S, k, lane, boxes, place, index, key, size) -> None:
    """Start a copy into shared memory that completes on an mbarrier."""
    barrier = S.mbarriers.find(k, lane, key)

    def move():
        S.shared.views[16][index] = boxes.read(S.memory, place)

    copy = Load(k, lane, key, size, move, index, barrier.phase)
    for observer in S.observers:
        observer.load_issued(copy, barrier)
    S.transfers.load(copy)


def destinations(S, k, lane: int, block: int, home: tuple[int, int], ranks: int | None, pair: bool):
    """(block, key of its mbarrier) of each copy that a load makes.

    block: that the address names.   home: the mbarrier that the load names.
    A multicast puts the same bytes at the same offset of every block whose rank is set in `ranks`, and reports to the
    mbarrier at the same offset there; as a pair, to that of the even or the odd block of the destination's pair, as
    the mbarrier that it names is in an even or an odd block. PTX ISA, "cp.async.bulk.tensor".
    """
    if ranks is None:
        if home[0] != block and not (pair and home[0] == block ^ 1):
            hint = "" if pair else "; with .cta_group::2 it may be in the other block of its pair"
            raise MemoryFault(
                f"{S.describe(k)}: {S.name_lane(lane)} fills shared memory of {S.name_block(block)} and "
                f"reports to an mbarrier of {S.name_block(home[0])}, but it has to be one of the block "
                f"that is filled{hint}."
            )
        yield block, home
        return
    first = block - block % S.cluster_size
    if not ranks or ranks >> S.cluster_size:
        raise MemoryFault(
            f"{S.describe(k)}: {S.name_lane(lane)} sends a multicast to the ranks of the mask {ranks:#x}, "
            f"but its cluster has {S.cluster_size} block{'s' if S.cluster_size > 1 else ''}, so that the "
            f"mask is {1:#x} to {(1 << S.cluster_size) - 1:#x}."
        )
    for rank in range(S.cluster_size):
        if ranks >> rank & 1:
            to = first + rank
            S.shared.check_there(k, np.array([lane]), np.array([to]))
            yield to, (to & ~1 | home[0] & 1 if pair else to, home[1])


@runtime
def block_copy(S, L, k, mask, to, source, size, barrier, change):
    """cp.async.bulk from the shared memory of this block to that of another."""
    positions = np.arange(L.n) if mask is None else np.flatnonzero(mask)
    for at, lane in zip(positions.tolist(), L.lane_numbers()[positions].tolist(), strict=True):
        target, begin, count_, home = (int(v if v.ndim == 0 else v[at]) for v in (to, source, size, barrier))
        (block, there), (own, here) = located(S, k, lane, target), located(S, k, lane, begin)
        if own != S.block_of_lane[lane]:
            raise MemoryFault(
                f"{S.describe(k)}: {S.name_lane(lane)} copies from {S.name_block(own)}; a copy from block "
                "to block begins in the shared memory of the thread's own."
            )
        for address in (there, here):
            check_shared(S, k, lane, address, count_, PLAIN_ALIGN)
        if count_ % PLAIN_ALIGN or not count_:
            raise MemoryFault(
                f"{S.describe(k)}: {S.name_lane(lane)} copies {count_:,} bytes; 16, 32, 48 … are possible."
            )
        S.sites[k].requests += 1
        S.sites[k].bytes += count_
        ((_, key),) = destinations(S, k, lane, block, located(S, k, lane, home), None, False)
        chunks = np.arange(count_ >> 4)
        index, read = (chunks + (b * S.shared_stride + a >> 4) for b, a in ((block, there), (own, here)))

        def move(index=index, read=read):
            new = S.shared.views[16][read]
            S.shared.views[16][index] = new if change is None else reduced(change, S.shared.views[16][index], new)

        target = S.mbarriers.find(k, lane, key)
        copy = Load(k, lane, key, count_, move, index, target.phase, source=read)
        for observer in S.observers:
            observer.load_issued(copy, target)
        S.transfers.load(copy)


def store(S, k, lane, boxes, place, index, change) -> None:
    """Start a copy out of shared memory; `change` makes it a reduction, (operation, type)."""
    if change is not None and change[1] is None:
        change = change[0], boxes.tensor.element

    def move():
        new = S.shared.views[16][index]
        boxes.write(S.memory, place, new if change is None else reduced(change, boxes.read(S.memory, place), new))

    for observer in S.observers:
        observer.store_issued(k, lane, index)
        observer.global_copied(k, lane, place, "writes")
    S.transfers.store(k, lane, move, index)


def count(site, place, size: int) -> None:
    """Add a copy to the counts of its instruction."""
    site.requests += 1
    site.bytes += size
    site.sectors += place.sectors


class Bytes:
    """Plain bytes, 16 at a time."""

    @staticmethod
    def read(memory, place):
        return memory.views[16][place.index]

    @staticmethod
    def write(memory, place, chunks):
        memory.views[16][place.index] = chunks


@runtime
def copies_arrive(S, L, k, address, mask, noinc):
    """cp.async.mbarrier.arrive: an arrival of each thread when its copies so far have landed."""
    for key, _, lanes in S.mbarriers.groups(L, k, address, mask):
        barrier = S.mbarriers.find(k, int(lanes[0]), key)
        for observer in S.observers:
            observer.mbarrier_used(k, barrier, lanes)
            observer.mbarrier_arrives(k, barrier, lanes)
        if not noinc:
            S.mbarriers.add_pending(k, int(lanes[0]), key, len(lanes))
        for lane in lanes.tolist():
            move = S.groups.taken(lane)
            copy = Load(k, lane, key, 0, move, np.zeros(0, np.int64), barrier.phase)
            for observer in S.observers:
                observer.copies_reported(copy)
            S.transfers.load(copy)
