"""mbarrier: arrivals, announced bytes, and waits, which end a basic block so that lanes can be parked."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.memory.addresses import shared_address
from gpu_simulator.codegen.registry import op
from gpu_simulator.runtime import runtime

_SPACES = ("shared", "shared__cta", "shared__cluster")
_ORDER = ("release", "acquire", "relaxed", "cta", "cluster")
_FORMS = (
    "init, inval, arrive, arrive_drop (counts, expect_tx, noComplete), expect_tx, complete_tx, test_wait, try_wait "
    "(state, parity, time hint), pending_count; this block's shared memory"
)


@op("mbarrier", forms=_FORMS)
def mbarrier(e, i, following=None):
    """Barriers in shared memory. following: the basic block after a wait."""
    e.allow(
        "init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait", "parity",
        "noComplete", "pending_count", *_SPACES, *_ORDER,
    )  # fmt: skip
    what, operands = i.parts[1], i.operands
    if what == "pending_count":
        e.write(operands[0], f"pending_arrivals({e.read(operands[1], 'b64')})", "u32")
        return None
    if what in ("test_wait", "try_wait"):
        parity = "parity" in i.parts
        ready = e.written_later(operands[0], "?")
        address, phase = shared_address(e, i, operands[1]), e.read(operands[2], "u32" if parity else "b64")
        return f"return resident.mbarriers.wait(lanes, {i.site}, {address}, {phase}, {parity}, {ready}, {following})"
    if what in ("init", "inval"):
        count = e.read(operands[1], "u32") if what == "init" else "None"
        e.line(f"mbarrier_{what}(resident, lanes, {i.site}, {shared_address(e, i, operands[0])}, {e.mask}, {count})")
        return None
    if what in ("expect_tx", "complete_tx"):
        sign = 1 if what == "expect_tx" else -1
        e.line(
            f"mbarrier_bytes(resident, lanes, {i.site}, {shared_address(e, i, operands[0])}, {e.mask}, "
            f"{e.read(operands[1], 'u32')}, {sign})"
        )
        return None
    _arrive(e, i)
    return None


def _arrive(e, i) -> None:
    destination, memory, *rest = i.operands
    given = e.read(rest[0], "u32") if rest else "None"
    announced = "expect_tx" in i.parts
    size, count = (given, "None") if announced else ("None", given)
    sunk = destination is None or getattr(destination, "name", "") == "_"
    call = (
        f"mbarrier_arrive(resident, lanes, {i.site}, {shared_address(e, i, memory)}, {e.mask}, {count}, {size}, "
        f"{'noComplete' not in i.parts}, {i.parts[1] == 'arrive_drop'}, {not sunk})"
    )
    if sunk:
        e.line(call)
    else:
        e.write(destination, call, "b64")


@runtime
def mbarrier_init(resident, lanes, site, address, mask, count):
    """Begin phase 0 with `count` arrivals missing."""
    for key, positions, numbers in resident.mbarriers.groups(lanes, site, address, mask):
        resident.mbarriers.check_address(site, int(numbers[0]), key[1])
        for lane, number in zip(numbers.tolist(), np.broadcast_to(count, lanes.n)[positions].tolist(), strict=True):
            resident.mbarriers.init(site, lane, key, number)


@runtime
def mbarrier_inval(resident, lanes, site, address, mask, _):
    """Make the 8 bytes ordinary memory again."""
    for key, _positions, numbers in resident.mbarriers.groups(lanes, site, address, mask):
        for lane in numbers.tolist():
            resident.mbarriers.invalidate(site, lane, key)


@runtime
def mbarrier_bytes(resident, lanes, site, address, mask, size, sign):
    """Announce bytes (sign 1, expect_tx) or report them (sign -1, complete_tx)."""
    for key, positions, numbers in resident.mbarriers.groups(lanes, site, address, mask):
        barrier = resident.mbarriers.find(site, int(numbers[0]), key)
        for observer in resident.observers:
            observer.mbarrier_used(site, barrier, numbers)
        for lane, number in zip(numbers.tolist(), np.broadcast_to(size, lanes.n)[positions].tolist(), strict=True):
            resident.mbarriers.expect(site, lane, key, sign * number)


@runtime
def mbarrier_arrive(resident, lanes, site, address, mask, count, size, complete, drop, wanted):
    """Arrive, lane by lane; returns the states before the arrivals, (lanes.n,), if `wanted`, otherwise None."""
    barriers, states = resident.mbarriers, np.zeros(lanes.n, np.uint64) if wanted else None
    for key, positions, numbers in barriers.groups(lanes, site, address, mask):
        barrier = barriers.find(site, int(numbers[0]), key)
        for observer in resident.observers:
            observer.mbarrier_used(site, barrier, numbers)
        if count is None and size is None and not drop and not wanted and complete and len(numbers) <= barrier.pending:
            for observer in resident.observers:
                observer.mbarrier_arrives(site, barrier, numbers)
            barriers.arrive(site, int(numbers[0]), key, len(numbers))
            continue
        counts = [1] * len(numbers) if count is None else np.broadcast_to(count, lanes.n)[positions].tolist()
        sizes = [0] * len(numbers) if size is None else np.broadcast_to(size, lanes.n)[positions].tolist()
        for at, lane, number, more in zip(positions.tolist(), numbers.tolist(), counts, sizes, strict=True):
            if more:
                barriers.expect(site, lane, key, more)
            if drop:
                barriers.drop(site, lane, key, number)
            for observer in resident.observers:  # one by one, because the next arrival may belong to the next phase
                observer.mbarrier_arrives(site, barrier, np.array([lane]))
            state = barriers.arrive(site, lane, key, number, complete)
            if wanted:
                states[at] = state
    return states


@runtime
def pending_arrivals(state):
    """The arrivals still missing in a state that an arrival returned."""
    return (state & np.uint64((1 << 20) - 1)).astype(np.uint32)
