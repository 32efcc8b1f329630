"""Barriers, fences and the small instructions that order or delay."""

from __future__ import annotations

from gemm_lab.emulator.registry import op


@op("bar", "barrier", forms="sync, arrive, red.popc, red.and, red.or, warp.sync; named, with a thread count")
def barrier(e, i, following=None):
    """Barriers of a block; `following` is the next code block."""
    if "warp" in i.parts:
        e.allow("warp", "sync")
        e.line("pass")  # the scheduler has brought the lanes together
        return None
    e.allow("sync", "arrive", "red", "popc", "and", "or", "cta", "aligned")
    if "cluster" in i.parts:
        raise e.unsupported()
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
    e.line(f"S.hazards.fence(L, {wide})" if e.hazards and "proxy" not in i.parts else "pass")


@op("nanosleep", "pmevent", "griddepcontrol", "setmaxnreg", forms="no effect on results")
def delay(e, i):
    """Delays and hints: they change no value."""
    e.line("pass")
