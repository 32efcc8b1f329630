"""Instructions between the lanes of a warp: shfl, vote, match, redux, activemask, elect."""

from __future__ import annotations

from functools import reduce

import numpy as np

from gpu_simulator.codegen.ops.scalar.arithmetic import float_max, float_min, nan_max, nan_min
from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.ptx.ir import Pair
from gpu_simulator.runtime import runtime

_LANE = np.arange(32)
_BIT = np.uint32(1) << np.arange(32, dtype=np.uint32)


def lanes_of(value, lanes):
    """A value that may be uniform, as (warps, 32)."""
    return np.broadcast_to(value, lanes.n).reshape(lanes.warps, 32)


def write_with_predicate(e, destination, t: str) -> None:
    """Write t[0], and also t[1] if the destination is a `value|predicate` pair."""
    if type(destination) is Pair:
        e.write(destination.first, f"{t}[0]", "b32")
        e.write(destination.second, f"{t}[1]", "pred")
    else:
        e.write(destination, f"{t}[0]", "b32")


@op("shfl", forms="sync; up, down, bfly, idx; b32; with or without a predicate")
def shfl(e, i):
    """Values from other lanes."""
    e.allow("sync", "up", "down", "bfly", "idx")
    mode = next(p for p in i.parts if p in ("up", "down", "bfly", "idx"))
    value, lane, clamp = (e.read(o, "b32") for o in i.operands[1:4])
    t = e.temporary()
    e.line(f"{t} = shuffle(lanes, {mode!r}, {value}, {lane}, {clamp})")
    write_with_predicate(e, i.operands[0], t)


@runtime
def shuffle(lanes, mode, value, lane, clamp):
    """(value, in range) of shfl. The clamp operand has the segment mask in bits 8-12 and the bound in bits 0-4."""
    if value.ndim == 0 and lane.ndim == 0 and mode == "idx" and clamp.ndim == 0 and int(clamp) & 31 == 31:
        return value, np.bool_(True)
    values = lanes_of(value, lanes)
    lane = lanes_of(lane.astype(np.int64) & 31, lanes)
    clamp = clamp.astype(np.int64)
    bound, segment = lanes_of(clamp & 31, lanes), lanes_of(clamp >> 8 & 31, lanes)
    low = _LANE & segment
    high = low | (bound & ~segment)
    if mode == "up":
        source = _LANE - lane
        good = source >= high
    elif mode == "down":
        source = _LANE + lane
        good = source <= high
    elif mode == "bfly":
        source = _LANE ^ lane
        good = source <= high
    else:
        source = low | (lane & ~segment)
        good = source <= high
    source = np.where(good, source, _LANE)
    out = np.take_along_axis(values, source, 1).reshape(-1)
    return out, np.ascontiguousarray(np.broadcast_to(good, (lanes.warps, 32))).reshape(-1)


@op("vote", forms="sync; all, any, uni, ballot")
def vote(e, i):
    """A vote on a predicate within the warp."""
    e.allow("sync", "all", "any", "uni", "ballot")
    mode = i.parts[2] if i.parts[1] == "sync" else i.parts[1]
    predicate = e.read(i.operands[1], "pred")
    members = e.read(i.operands[2], "b32") if "sync" in i.parts else e.constant(np.uint32(2**32 - 1))
    e.write(i.operands[0], f"votes(lanes, {mode!r}, {predicate}, {members})", "b32" if mode == "ballot" else "pred")


def members_of(lanes, members):
    """(warps, 32) Boolean: the executing lanes that the mask names."""
    return ((lanes_of(members, lanes) & _BIT) != 0) & lanes.active().reshape(-1, 32)


@runtime
def votes(lanes, mode, predicate, members):
    """vote.sync among the lanes that `members` names: ballot, any, all or uni."""
    inside = members_of(lanes, members)
    said = lanes_of(predicate, lanes)
    if mode == "ballot":
        bits = np.where(said & inside, _BIT, np.uint32(0)).sum(1, dtype=np.uint32)
        return np.repeat(bits, 32)
    if mode == "any":
        return np.repeat((said & inside).any(1), 32)
    every = (said | ~inside).all(1)
    return np.repeat(every if mode == "all" else every | ~(said & inside).any(1), 32)


@op("activemask", forms="b32")
def activemask(e, i):
    """The lanes that execute together."""
    e.allow()
    e.write(i.operands[0], "active_bits(lanes)", "b32")


@runtime
def active_bits(lanes):
    """activemask: one bit for each lane that executes."""
    bits = np.where(lanes.active().reshape(-1, 32), _BIT, np.uint32(0)).sum(1, dtype=np.uint32)
    return np.repeat(bits, 32)


@op("match", forms="sync; any, all; b32 b64")
def match(e, i):
    """Lanes with equal values."""
    e.allow("sync", "any", "all")
    kind = i.parts[-1]
    value, members = e.read(i.operands[1], kind), e.read(i.operands[2], "b32")
    t = e.temporary()
    e.line(f"{t} = matching(lanes, {value}, {members}, {'all' in i.parts})")
    write_with_predicate(e, i.operands[0], t)


@runtime
def matching(lanes, value, members, every):
    """match.sync: the lanes with the same value, and whether all have it."""
    inside, values = members_of(lanes, members), lanes_of(value, lanes)
    same = (values[:, :, None] == values[:, None, :]) & inside[:, None, :]
    bits = np.where(same, _BIT, np.uint32(0)).sum(2, dtype=np.uint32)
    if not every:
        return bits.reshape(-1), np.ones(lanes.n, bool)
    whole = np.where(inside, _BIT, np.uint32(0)).sum(1, dtype=np.uint32)[:, None]
    good = ((bits == whole) | ~inside).all(1)
    out = np.where(good[:, None], np.broadcast_to(whole, bits.shape), np.uint32(0))
    return out.reshape(-1), np.repeat(good, 32)


_REDUCTIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_FLOAT_REDUCTIONS = {"float_min": float_min, "float_max": float_max, "nan_min": nan_min, "nan_max": nan_max}


@op("redux", forms="sync; add min max (u32 s32), and or xor (b32), min max (f32; abs, NaN)")
def redux(e, i):
    """A reduction over the lanes of a warp."""
    e.allow("sync", "abs", "NaN", *_REDUCTIONS)
    kind = types_of(i.parts)[-1]
    which = next(p for p in i.parts if p in _REDUCTIONS)
    value, members = e.read(i.operands[1], kind), e.read(i.operands[2], "b32")
    if kind == "f32":
        value = f"np.abs({value})" if "abs" in i.parts else value
        which = ("nan_" if "NaN" in i.parts else "float_") + which
    e.write(i.operands[0], f"reduced(lanes, {which!r}, {value}, {members})", kind)


@runtime
def reduced(lanes, which, value, members):
    """redux.sync among the lanes that `members` names. Sums are modulo 2³²."""
    inside, values = members_of(lanes, members), lanes_of(value, lanes)
    out = np.zeros(lanes.warps, values.dtype)
    for number in range(lanes.warps):
        chosen = values[number][inside[number]]
        if not len(chosen):
            continue
        if which in _REDUCTIONS:
            out[number] = _REDUCTIONS[which].reduce(chosen, dtype=chosen.dtype)
        else:
            out[number] = reduce(_FLOAT_REDUCTIONS[which], chosen)
    return np.repeat(out, 32)


@op("elect", forms="sync")
def elect(e, i):
    """Elects one lane of the warp: the lowest."""
    e.allow("sync")
    members = e.read(i.operands[1], "b32")
    t = e.temporary()
    e.line(f"{t} = elected(lanes, {members})")
    destination = i.operands[0]
    e.write(destination.first, f"{t}[0]", "b32")
    e.write(destination.second, f"{t}[1]", "pred")


@runtime
def elected(lanes, members):
    """(elected lane, whether a lane is that one), for each lane. The first of `members` is elected."""
    inside = members_of(lanes, members)
    first = inside.argmax(1)
    return np.repeat(first.astype(np.uint32), 32), (first[:, None] == _LANE).reshape(-1)
