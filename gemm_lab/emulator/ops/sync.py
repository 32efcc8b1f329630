"""Barriers, fences and the small instructions that order or delay."""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.registry import op


@op("bar", "barrier", forms="sync, arrive, red.popc, red.and, red.or, warp.sync; named, with a thread count; "
    "cluster.arrive, cluster.wait of a block that is its own cluster")
def barrier(e, i, following=None):
    """Barriers of a block; `following` is the next code block."""
    if "warp" in i.parts:
        e.allow("warp", "sync")
        e.line("pass")  # the scheduler has brought the lanes together
        return None
    if "cluster" in i.parts:
        e.allow("cluster", "arrive", "wait", "release", "relaxed", "acquire", "aligned")
        if "wait" in i.parts:
            return f"return S.cluster_barrier.wait(L, {i.site}, {following})"
        e.line(f"S.cluster_barrier.arrive(L, {i.site}, {e.mask})")
        return None
    e.allow("sync", "arrive", "red", "popc", "and", "or", "cta", "aligned")
    operands = list(i.operands)
    if "red" in i.parts:
        destination = operands.pop(0)
        predicate = e.read(operands.pop(), "pred")
        how = next(p for p in i.parts if p in ("popc", "and", "or"))
        number = e.read(operands[0], "u32")
        count = e.read(operands[1], "u32") if len(operands) > 1 else "None"
        return (
            f"return S.barriers.reduce(L, {i.site}, {number}, {count}, {how!r}, {predicate}, {destination.index}, "
            f"{following})"
        )
    kind = "arrive" if "arrive" in i.parts else "sync"
    number = e.read(operands[0], "u32")
    count = e.read(operands[1], "u32") if len(operands) > 1 else "None"
    return f"return S.barriers.{kind}(L, {i.site}, {number}, {count}, {following})"


@op("membar", "fence", forms="every level and scope: memory here is always in order")
def fence(e, i):
    """Memory fences: the emulator's memory is sequentially consistent; only the search for races heeds them."""
    wide = bool({"gl", "gpu", "sys"} & set(i.parts))
    if not e.hazards or "tensormap__generic" in i.parts:
        e.line("pass")
    elif "proxy" in i.parts or "mbarrier_init" in i.parts:
        e.line(f"S.hazards.proxies.proxy_fence(L, {e.mask}, {'mbarrier_init' in i.parts})")
    else:
        e.line(f"S.hazards.fence(L, {wide})")


@op("nanosleep", "pmevent", "griddepcontrol", forms="no effect on results")
def delay(e, i):
    """Delays and hints: they change no value."""
    e.line("pass")


@op("setmaxnreg", forms="inc, dec; 24 to 256 registers in steps of 8; no effect on results")
def setmaxnreg(e, i):
    """Registers that warps give back or take: no value changes."""
    e.allow("inc", "dec", "sync", "aligned")
    count = int(i.operands[0].text, 0)
    if not 24 <= count <= 256 or count % 8:
        raise e.unsupported(f"{count} registers; 24 to 256 in steps of 8 are possible")
    e.line("pass")


@op("createpolicy", forms="a cache policy: it changes no value, and is 0")
def createpolicy(e, i):
    """Policies for the operand of L2::cache_hint."""
    e.write(i.operands[0], e.constant(np.uint64(0)), "b64")


@op("mapa", forms="the address in block 0 of a cluster of one")
def mapa(e, i):
    """A shared address in another block of the cluster; alone, a block is its own cluster."""
    e.allow("shared__cluster")
    kind = i.parts[-1]
    e.write(i.operands[0], e.read(i.operands[1], kind), kind)
