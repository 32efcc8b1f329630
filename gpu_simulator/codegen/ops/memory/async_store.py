"""st.async and red.async: stores to another block of the cluster that report their bytes to an mbarrier there.

They land like copies, but not through the async proxy: no fence.proxy.async is asked for. PTX ISA, "st.async" and
"red.async".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.atomic_results import combine
from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.asynchronous.transfers import Load
from gpu_simulator.machine.memory import ELEMENT, SHIFT
from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.ptx.ir import Vector
from gpu_simulator.runtime import runtime

KNOWN = ("async", "weak", "relaxed", "cluster", "shared__cluster", "mbarrier__complete_tx__bytes", "v2", "v4")


def emit(e, i, change: str = "None") -> None:
    """Code for `[address], value, [mbarrier]`. change: the operation of red.async, None for a store."""
    if "shared__cluster" not in i.parts or "mbarrier__complete_tx__bytes" not in i.parts:
        raise e.unsupported("only .shared::cluster with .mbarrier::complete_tx::bytes is known here")
    kind = i.parts[-1]
    where, source, barrier = i.operands
    items = source.items if type(source) is Vector else (source,)
    values = ", ".join(e.read(item, f"b{8 * BYTES[kind]}") for item in items)
    e.line(
        f"store_async(S, L, {i.site}, {e.mask}, {e.address(where)}, ({values},), {e.address(barrier)}, {change}, "
        f"{kind!r})"
    )


@runtime
def store_async(S, L, k, mask, address, values, barrier, change, kind):
    """One store for each executing lane."""
    positions = np.arange(L.n) if mask is None else np.flatnonzero(mask)
    if not len(positions):
        return
    lanes = L.lane_numbers()[positions]
    parts = [np.broadcast_to(v, L.n)[positions] for v in values]
    raw = np.ascontiguousarray(np.stack(parts, axis=1))
    width = raw.shape[1] * raw.itemsize
    rows = raw.view(ELEMENT[width])[:, 0]
    blocks, offsets = S.shared.split(k, lanes, np.broadcast_to(address, L.n)[positions])
    homes, places = S.shared.split(k, lanes, np.broadcast_to(barrier, L.n)[positions])
    S.sites[k].requests += len(np.unique(lanes >> 5))
    S.sites[k].bytes += len(lanes) * width
    data = S.shared.views[width]
    for n, lane in enumerate(lanes.tolist()):
        at, key = int(offsets[n]), (int(homes[n]), int(places[n]))
        check(S, k, lane, int(blocks[n]), at, width, key)
        index = np.array([int(blocks[n]) * S.shared_stride + at >> SHIFT[width]])

        def move(index=index, value=rows[n : n + 1]):
            data[index] = value if change is None else combine(change, kind, data[index], (value,))

        target = S.mbarriers.find(k, lane, key)
        load = Load(k, lane, key, width, move, index, target.phase, width, proxy=False)
        for observer in S.observers:
            observer.load_issued(load, target)
        S.transfers.load(load)


def check(S, k, lane: int, block: int, at: int, width: int, key) -> None:
    """A store to another block lies inside it, is aligned, and reports to a barrier of that block."""
    where = f"{S.describe(k)}: {S.name_lane(lane)}"
    if at % width or at + width > S.shared.size:
        raise MemoryFault(
            f"{where} stores {width} bytes at shared address {at:,} of {S.name_block(block)}, which "
            f"{f'is not a multiple of {width}' if at % width else f'has {S.shared.size:,} bytes'}."
        )
    if key[0] != block:
        raise MemoryFault(
            f"{where} stores to {S.name_block(block)} and reports to an mbarrier of "
            f"{S.name_block(key[0])}; it has to be one of the block that is written."
        )
