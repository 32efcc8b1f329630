"""clusterlaunchcontrol: a block takes over the work of a cluster that has not started. PTX ISA, "clusterlaunchcontrol".

Like the hardware, the simulator chooses how many clusters have started: here, those that run together.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.memory.addresses import shared_address
from gpu_simulator.codegen.ops.memory.bulk import located
from gpu_simulator.codegen.registry import op
from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.asynchronous.transfers import Load
from gpu_simulator.machine.lanes import at_lane
from gpu_simulator.runtime import runtime

RESPONSE = 16  # bytes: x, y, z of the first block, then 1 if it was cancelled


@op("clusterlaunchcontrol", forms="try_cancel (of the block, multicast to its cluster), query_cancel")
def clusterlaunchcontrol(e, i):
    """The request to cancel a cluster, and queries of its answer."""
    e.allow("try_cancel", "async", "shared__cta", "mbarrier__complete_tx__bytes", "multicast__cluster__all",
            "query_cancel", "is_canceled", "get_first_ctaid", "get_first_ctaid__x", "get_first_ctaid__y",
            "get_first_ctaid__z", "v4")  # fmt: skip
    if "try_cancel" in i.parts:
        where, barrier = (shared_address(e, i, operand) for operand in i.operands)
        e.line(
            f"try_cancel(resident, lanes, {i.site}, {e.mask}, {where}, {barrier}, "
            f"{'multicast__cluster__all' in i.parts})"
        )
        return
    destination, answer = i.operands
    answer = e.read(answer, "b128")
    if "is_canceled" in i.parts:
        e.write(destination, f"(answer_word({answer}, 3) != u4(0))", "pred")
        return
    axis = next((part[-1] for part in i.parts if part.startswith("get_first_ctaid__")), None)
    items = [("xyz".index(axis), destination)] if axis else enumerate(destination.items[:3])
    for number, item in items:
        if item is not None and getattr(item, "name", "") != "_":
            e.write(item, f"answer_word({answer}, {number})", "u32")


@runtime
def answer_word(answer, number):
    """Word `number` of the 16-byte answer to a request: one value per lane, or a scalar for a scalar answer."""
    words = np.atleast_1d(answer).view(np.uint32)
    return words[number] if answer.ndim == 0 else words[number::4].copy()


@runtime
def try_cancel(resident, lanes, site, mask, address, barrier, everyone):
    """One request for each executing lane. everyone: the answer goes to all blocks of the cluster."""
    for at, lane in lanes.one_by_one(mask):
        where, home = (at_lane(value, at) for value in (address, barrier))
        (block, offset), (_, mbarrier) = located(resident, site, lane, where), located(resident, site, lane, home)
        if offset % RESPONSE or offset + RESPONSE > resident.shared.size:
            raise MemoryFault(
                f"{resident.describe(site)}: {resident.name_lane(lane)} requests an answer at shared address "
                f"{offset:,}; the answer needs 16 bytes of shared memory at a multiple of 16."
            )
        taken = resident.launch.cancel()
        answer = np.array([*taken, 1] if taken else [0, 0, 0, 0], np.uint32).view(np.complex128)
        first = block - block % resident.cluster_size
        for to in range(first, first + resident.cluster_size) if everyone else (block,):
            index = np.array([to * resident.shared_stride + offset >> 4])

            def move(index=index, answer=answer):
                resident.shared.views[16][index] = answer

            target = resident.mbarriers.find(site, lane, (to, mbarrier))
            load = Load(site, lane, (to, mbarrier), RESPONSE, move, index, target.phase)
            for observer in resident.observers:
                observer.load_issued(load, target)
            resident.transfers.load(load)
