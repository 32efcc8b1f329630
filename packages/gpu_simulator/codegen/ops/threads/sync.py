"""Barriers, fences, delays, hints, and the addresses of other blocks' shared memory (mapa, getctarank)."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.threads.warp import members_read
from gpu_simulator.codegen.registry import op
from gpu_simulator.faults import ClusterFault
from gpu_simulator.machine.clusters import OFFSET_MASK, RANK_BITS, RANK_SHIFT
from gpu_simulator.runtime import runtime


@op(
    "bar",
    "barrier",
    forms="sync, arrive, red.popc, red.and, red.or, warp.sync; named, with a thread count; "
    "cluster.arrive, cluster.wait",
)
def barrier(e, i, following=None):
    """Barriers of warps, blocks and clusters. following: the next basic block."""
    if "warp" in i.parts:
        e.allow("warp", "sync")
        members_read(e, i.operands[0])  # the scheduler has waited for all lanes already
        e.line("pass")
        return None
    if "cluster" in i.parts:
        e.allow("cluster", "arrive", "wait", "release", "relaxed", "acquire", "aligned")
        if "wait" in i.parts:
            return f"return resident.cluster_barrier.wait(lanes, {i.site}, {following})"
        e.line(f"resident.cluster_barrier.arrive(lanes, {i.site}, {e.mask})")
        return None
    e.allow("sync", "arrive", "red", "popc", "and", "or", "cta", "aligned")
    operands = list(i.operands)
    if "red" in i.parts:
        destination = operands.pop(0)
        predicate = e.read(operands.pop(), "pred")
        how = next(p for p in i.parts if p in ("popc", "and", "or"))
        register = e.written_later(destination, "u4" if how == "popc" else "?")
        number = e.read(operands[0], "u32")
        count = e.read(operands[1], "u32") if len(operands) > 1 else "None"
        return (
            f"return resident.barriers.reduce(lanes, {i.site}, {number}, {count}, {how!r}, {predicate}, {register}, "
            f"{following})"
        )
    kind = "arrive" if "arrive" in i.parts else "sync"
    number = e.read(operands[0], "u32")
    count = e.read(operands[1], "u32") if len(operands) > 1 else "None"
    return f"return resident.barriers.{kind}(lanes, {i.site}, {number}, {count}, {following})"


@op("membar", "fence", forms="every level and scope: memory here is always in order")
def fence(e, i):
    """Memory fences. They only inform observers, because the simulator's memory is sequentially consistent."""
    wide = bool({"gl", "gpu", "sys", *(["cluster"] if e.clustered else [])} & set(i.parts))
    elsewhere = "proxy" in i.parts and {"tensormap__generic", "alias"} & set(i.parts)
    if elsewhere:
        e.line("pass")
    elif "proxy" in i.parts or "mbarrier_init" in i.parts:
        e.tell("proxy_fence", i.site, e.mask, "mbarrier_init" in i.parts)
    else:
        e.tell("fence", wide)


@op("nanosleep", "pmevent", "griddepcontrol", forms="no effect on results")
def delay(e, i):
    """Delays and hints, which change no value."""
    e.line("pass")


@op("setmaxnreg", forms="inc, dec; 24 to 256 registers in steps of 8; no effect on results")
def setmaxnreg(e, i):
    """The number of registers that a warp may use; it changes no value."""
    e.allow("inc", "dec", "sync", "aligned")
    count = int(i.operands[0].text, 0)
    if not 24 <= count <= 256 or count % 8:
        raise e.unsupported(f"{count} registers; 24 to 256 in steps of 8 are possible")
    e.tell("registers_shared", i.site)


@op("createpolicy", forms="a cache policy: it changes no value, and is 0")
def createpolicy(e, i):
    """Policies for the operand of L2::cache_hint."""
    e.write(i.operands[0], e.constant(np.uint64(0)), "b64")


@op("mapa", forms="u32 and u64; shared::cluster and generic addresses")
def mapa(e, i):
    """The address of a shared variable in the block of a given rank."""
    e.allow("shared__cluster")
    kind = i.parts[-1]
    rank = e.read(i.operands[2], "u32")
    generic = "shared__cluster" not in i.parts
    e.write(
        i.operands[0],
        f"mapped(resident, lanes, {i.site}, {e.mask}, {e.read(i.operands[1], kind)}, {rank}, {generic})",
        kind,
    )


@runtime
def mapped(resident, lanes, site, mask, address, rank, generic):
    """The addresses with other ranks. generic: whether they are generic. Raises `ClusterFault` for invalid ones."""
    kin, active = address.dtype.type, lanes.active() if mask is None else mask
    ranks, at = np.broadcast_to(rank, lanes.n), np.broadcast_to(address, lanes.n)
    bad = active & (ranks >= resident.cluster_size)
    if bad.any():
        raise ClusterFault(
            f"{resident.describe(site)}: {resident.who(lanes, 0)} asks for the block of rank "
            f"{int(ranks[bad][0])}; its cluster has {resident.cluster_size} block"
            f"{'s' if resident.cluster_size > 1 else ''}."
        )
    window = resident.program.shared_window if generic else 0
    if (active & (at < window)).any():
        raise ClusterFault(
            f"{resident.describe(site)}: {resident.who(lanes, 0)} maps the address "
            f"{int(at[active & (at < window)][0]):#x}, which is not in shared memory."
        )
    offset = (address - kin(window)) & kin(OFFSET_MASK)
    return kin(window) + (offset | rank.astype(kin) << kin(RANK_SHIFT))


@op("getctarank", forms="u32 and u64; shared::cluster and generic addresses")
def getctarank(e, i):
    """The rank of the block whose shared memory an address is in."""
    e.allow("shared__cluster")
    kind = i.parts[-1]
    address = e.read(i.operands[1], kind)
    if "shared__cluster" not in i.parts:
        address = f"({address} - {e.constant(np.uint64(e.program.shared_window))})"
    shift, ranks = (e.constant(np.uint32(v) if kind.endswith("32") else np.uint64(v)) for v in (RANK_SHIFT, RANK_BITS))
    e.write(i.operands[0], f"(({address} >> {shift}) & {ranks}).astype(u4)", "u32")
