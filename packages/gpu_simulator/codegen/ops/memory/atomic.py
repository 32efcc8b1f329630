"""atom and red on global and shared memory. The lanes execute one after the other, in their order."""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.atomic_results import combine
from gpu_simulator.arithmetic.rounding import canonical
from gpu_simulator.codegen.ops.memory import async_store
from gpu_simulator.codegen.ops.memory.addresses import SPACES, resolve, space_of, split_generic, wide_address
from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.ptx.ir import Vector
from gpu_simulator.ptx.types import CODES
from gpu_simulator.runtime import runtime

_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
_QUALIFIERS = (
    "relaxed", "acquire", "release", "acq_rel", "gpu", "cta", "sys", "cluster", "noftz", "v2", "v4", "v8",
    "L2__cache_hint", "sync", *SPACES,
)  # fmt: skip


@op(
    "atom", "red", forms="add min max and or xor exch cas inc dec; b16 … b64, f16, f16x2, bf16, bf16x2, f32, f64; v2 v4"
)
def atomic(e, i):
    """Atomic operations."""
    kind = types_of(i.parts)[-1]
    which = next(p for p in i.parts[1:] if p in _OPERATIONS)
    if "async" in i.parts:
        e.allow(which, *async_store.KNOWN)
        async_store.emit(e, i, repr(which))
        return
    e.allow(which, *_QUALIFIERS)
    operands = list(i.operands)
    destination = operands.pop(0) if i.family == "atom" else None
    memory, values = operands[0], operands[1:]
    if "L2__cache_hint" in i.parts:
        values = values[:-1]
    space = space_of(e, i, memory)
    address = e.address(memory) if space in ("shared", "local") else wide_address(e, memory)
    wanted = destination is not None and getattr(destination, "name", "_") != "_"
    step = BYTES[kind]
    if type(values[0]) is Vector:
        for number, item in enumerate(values[0].items):
            offset = e.constant(np.uint64(number * step))
            t = e.temporary()
            e.line(
                f"{t} = atomic_(resident, lanes, {i.site}, {space!r}, {address} + {offset}, {e.mask}, {which!r}, "
                f"{kind!r}, ({e.read(item, 'b' + str(8 * step))},), {wanted})"
            )
            if wanted:
                e.write(destination.items[number], t, "b" + str(8 * step))
        return
    raw = "b" + str(8 * step)
    reads = ", ".join(e.read(v, raw) for v in values)
    t = e.temporary()
    e.line(
        f"{t} = atomic_(resident, lanes, {i.site}, {space!r}, {address}, {e.mask}, {which!r}, {kind!r}, ({reads},), "
        f"{wanted})"
    )
    if wanted:
        e.write(destination, t, raw)


def touches_subnormals(*arrays) -> bool:
    """Whether sums of these float32 numbers, in any order, can involve subnormal numbers.

    If all are 0 or at least 2^-100 in magnitude, every sum is a multiple of 2^-123, so none is subnormal.
    """
    small = np.float32(2.0**-100)
    return any(((np.abs(x) < small) & (x != 0)).any() for x in arrays)


@runtime
def atomic_(resident, lanes, site, space, address, mask, which, kind, values, wanted):
    """Execute an atomic operation of the lanes; returns the old values, (lanes.n,), if `wanted`, otherwise None."""
    if space == "generic":
        parts = split_generic(resident, lanes, address, mask)
        out = None
        for part_space, part_address, part_mask in parts:
            old = atomic_(resident, lanes, site, part_space, part_address, part_mask, which, kind, values, wanted)
            out = old if out is None or old is None else np.where(part_mask, old, out)
        return np.zeros(lanes.n, values[0].dtype) if out is None else out
    width = values[0].dtype.itemsize
    found = resolve(
        resident, lanes, site, space, np.broadcast_to(address, lanes.n) if address.ndim == 0 else address, mask, width
    )
    if found is None:
        return np.zeros(lanes.n, values[0].dtype)
    memory, index, picked = found
    for observer in resident.observers if space != "local" else ():
        observer.atomic(lanes, site, memory, index, picked, width)
    data = memory.views[width]
    count = lanes.n if picked is None else len(picked)
    values = tuple(np.full(count, v) if v.ndim == 0 else v if picked is None else v[picked] for v in values)
    # An H200 flushes subnormals in float32 additions to global memory, but not to shared memory.
    flushed = space == "global" and which == "add" and kind == "f32"
    flushed = flushed and touches_subnormals(data.view(np.float32)[index], values[0].view(np.float32))
    if not wanted and not flushed and which == "add" and kind in ("u32", "s32", "b32", "u64", "s64", "f32", "f64"):
        typed = data.view(CODES[kind])
        np.add.at(typed, index, values[0].view(typed.dtype))
        if kind == "f32":
            sums = typed[index]
            written = canonical(sums)
            if written is not sums:
                typed[index] = written
        return None
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    rank = np.arange(count) - np.repeat(starts, np.diff(np.r_[starts, count]))
    old = np.empty(count, data.dtype)
    rounds = int(rank.max()) + 1
    if rounds == 1:
        old = data[index]
        data[index] = combine(which, kind, old, values, flushed)
    else:
        by_rank = np.argsort(rank, kind="stable")
        ends = np.cumsum(np.bincount(rank))
        begin = 0
        for end in ends.tolist():
            turn = order[by_rank[begin:end]]
            at = index[turn]
            before = data[at]
            old[turn] = before
            data[at] = combine(which, kind, before, tuple(v[turn] for v in values), flushed)
            begin = end
    if not wanted:
        return None
    if picked is None:
        return old
    out = np.zeros(lanes.n, old.dtype)
    out[picked] = old
    return out
