"""st.async and red.async: stores to another block of the cluster that report their bytes to an mbarrier there.

They are asynchronous like copies but do not use the async proxy, so that no fence.proxy.async is needed. PTX ISA,
"st.async" and "red.async".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.atomic_results import combine
from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.asynchronous.transfers import Load
from gpu_simulator.machine.memory import ELEMENT, SHIFT
from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.runtime import runtime

KNOWN = ("async", "weak", "relaxed", "cluster", "shared__cluster", "mbarrier__complete_tx__bytes", "v2", "v4")


def emit(e, i, change: str = "None") -> None:
    """Generate a store with the operands `[address], value, [mbarrier]`. change: operation of red.async, or "None"."""
    if "shared__cluster" not in i.parts or "mbarrier__complete_tx__bytes" not in i.parts:
        raise e.unsupported("only .shared::cluster with .mbarrier::complete_tx::bytes is supported")
    kind = i.parts[-1]
    where, source, barrier = i.operands
    values = e.read_all(source, f"b{8 * BYTES[kind]}")
    e.line(
        f"store_async(resident, lanes, {i.site}, {e.mask}, {e.address(where)}, {values}, {e.address(barrier)}, "
        f"{change}, {kind!r})"
    )


@runtime
def store_async(resident, lanes, site, mask, address, values, barrier, change, kind):
    """Issue one store for each executing lane. change: operation of red.async, or None."""
    positions = lanes.positions(mask)
    if not len(positions):
        return
    numbers = lanes.lane_numbers()[positions]
    parts = [np.broadcast_to(v, lanes.n)[positions] for v in values]
    raw = np.ascontiguousarray(np.stack(parts, axis=1))
    width = raw.shape[1] * raw.itemsize
    rows = raw.view(ELEMENT[width])[:, 0]
    blocks, offsets = resident.shared.split(site, numbers, np.broadcast_to(address, lanes.n)[positions])
    homes, places = resident.shared.split(site, numbers, np.broadcast_to(barrier, lanes.n)[positions])
    resident.sites[site].requests += len(np.unique(numbers >> 5))
    resident.sites[site].bytes += len(numbers) * width
    data = resident.shared.views[width]
    for n, lane in enumerate(numbers.tolist()):
        at, key = int(offsets[n]), (int(homes[n]), int(places[n]))
        check(resident, site, lane, int(blocks[n]), at, width, key)
        index = np.array([int(blocks[n]) * resident.shared_stride + at >> SHIFT[width]])

        def move(index=index, value=rows[n : n + 1]):
            data[index] = value if change is None else combine(change, kind, data[index], (value,))

        target = resident.mbarriers.find(site, lane, key)
        load = Load(site, lane, key, width, move, index, target.phase, width, proxy=False)
        for observer in resident.observers:
            observer.load_issued(load, target)
        resident.transfers.load(load)


def check(resident, site, lane: int, block: int, at: int, width: int, key) -> None:
    """Raise `MemoryFault` unless a store is inside its block, aligned, and reports to a barrier of that block."""
    where = f"{resident.describe(site)}: {resident.name_lane(lane)}"
    if at % width or at + width > resident.shared.size:
        raise MemoryFault(
            f"{where} stores {width} bytes at shared address {at:,} of {resident.name_block(block)}, which "
            f"{f'is not a multiple of {width}' if at % width else f'has {resident.shared.size:,} bytes'}."
        )
    if key[0] != block:
        raise MemoryFault(
            f"{where} stores to {resident.name_block(block)} and reports to an mbarrier of "
            f"{resident.name_block(key[0])}; it has to be one of the block that is written."
        )
