"""Instructions between the lanes of a warp: shfl, vote, match, redux, activemask, elect."""

from __future__ import annotations

from functools import reduce

import numpy as np

from gpu_simulator.codegen.ops.scalar.arithmetic import float_max, float_min, nan_max, nan_min
from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.faults import WarpFault
from gpu_simulator.ptx.ir import Immediate, Pair
from gpu_simulator.ptx.types import immediate
from gpu_simulator.runtime import runtime

_LANE = np.arange(32)
_BIT = np.uint32(1) << np.arange(32, dtype=np.uint32)
_EVERYBODY = 2**32 - 1


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


def members_read(e, operand) -> str:
    """The expression of a membermask. Adds the check that it names the lanes that execute, unless it names all."""
    members = e.read(operand, "b32")
    if type(operand) is not Immediate or int(immediate(operand.text, "u32")) != _EVERYBODY:
        e.line(f"check_members(resident, lanes, {e.site}, {members})")
    return members


@runtime
def check_members(resident, lanes, site, members):
    """Raise `WarpFault` for a lane that executes the instruction and that its membermask does not name.

    "The behavior is undefined if the executing thread is not in the membermask": PTX ISA, shfl.sync, vote.sync,
    match.sync, redux.sync, elect.sync, bar.warp.sync.
    """
    if members.ndim == 0 and int(members) == _EVERYBODY:
        return
    outside = ((lanes_of(members, lanes) & _BIT) == 0).reshape(-1) & lanes.active()
    if outside.any():
        at = int(np.argmax(outside))
        lane, mask = int(lanes.lane_numbers()[at]), int(np.broadcast_to(members, lanes.n)[at])
        raise WarpFault(
            f"{resident.describe(site)}: {resident.name_lane(lane)} executes it as lane {lane % 32} of its warp, which "
            f"its membermask {mask:#010x} does not name: what happens then is undefined. Each lane that executes the "
            "instruction has to be in the mask that it gives."
        )
    members = lanes_of(members, lanes)
    if (members != members[:, :1]).any():
        _check_agreement(resident, lanes, site, members)


def _check_agreement(resident, lanes, site, members):
    """Raise `WarpFault` for a lane whose mask names an executing lane that gives another mask. members: (warps, 32).

    "... until all threads corresponding to membermask have executed a bar.warp.sync with the same membermask value":
    PTX ISA, bar.warp.sync, and alike for the others.
    """
    here = lanes.active().reshape(-1, 32)
    for other in range(32):
        named = (members & _BIT[other] != 0) & here & here[:, other : other + 1]
        apart = np.argwhere(named & (members != members[:, other : other + 1]))
        if len(apart):
            row, at = apart[0].tolist()
            name = resident.name_lane(int(lanes.lane_numbers()[32 * row + at]))
            raise WarpFault(
                f"{resident.describe(site)}: {name} gives the membermask {members[row, at]:#010x}, which names lane "
                f"{other} of its warp; that lane gives {members[row, other]:#010x}: what happens then is undefined. "
                "All lanes that a mask names have to give the same mask."
            )


@op("shfl", forms="sync; up, down, bfly, idx; b32; with or without a predicate")
def shfl(e, i):
    """Values from other lanes."""
    e.allow("sync", "up", "down", "bfly", "idx")
    mode = next(p for p in i.parts if p in ("up", "down", "bfly", "idx"))
    value, lane, clamp = (e.read(o, "b32") for o in i.operands[1:4])
    t = e.temporary()
    members = members_read(e, i.operands[4]) if "sync" in i.parts else None
    e.line(f"{t} = shuffle(resident, lanes, {e.site}, {mode!r}, {value}, {lane}, {clamp}, {members})")
    write_with_predicate(e, i.operands[0], t)


@runtime
def shuffle(resident, lanes, site, mode, value, lane, clamp, members):
    """(value, in range) of shfl. The clamp operand has the segment mask in bits 8-12 and the bound in bits 0-4.

    members: the membermask, None without .sync. The value of a lane that does not execute the instruction, or that the
    mask does not name, is undefined. An H200 gave 0: results/profiles/h200/rules.json, shuffle_from_an_ended_lane.
    """
    whole = lanes.mask is None and (members is None or members.ndim == 0 and int(members) == _EVERYBODY)
    if whole and value.ndim == 0 and lane.ndim == 0 and mode == "idx" and clamp.ndim == 0 and int(clamp) & 31 == 31:
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
    out = np.take_along_axis(values, source, 1)
    if not whole:
        there = bits_of(lanes) if members is None else members_of(lanes, members)
        absent = there >> source.astype(np.uint32) & np.uint32(1) == 0
        out = np.where(absent, np.uint32(0), out)
        read = absent.reshape(-1) & lanes.active()
        if resident.observers and read.any():
            for observer in resident.observers:
                observer.absent_lane_read(lanes, site, read, np.broadcast_to(source, absent.shape).reshape(-1))
    return out.reshape(-1), np.ascontiguousarray(np.broadcast_to(good, (lanes.warps, 32))).reshape(-1)


@op("vote", forms="sync; all, any, uni, ballot")
def vote(e, i):
    """A vote on a predicate within the warp."""
    e.allow("sync", "all", "any", "uni", "ballot")
    mode = i.parts[2] if i.parts[1] == "sync" else i.parts[1]
    predicate = e.read(i.operands[1], "pred")
    members = members_read(e, i.operands[2]) if "sync" in i.parts else e.constant(np.uint32(_EVERYBODY))
    e.write(i.operands[0], f"votes(lanes, {mode!r}, {predicate}, {members})", "b32" if mode == "ballot" else "pred")


def bits_of(lanes, where=None):
    """(warps, 1) words with the bits of the executing lanes, or of those of them in `where`, (warps, 32) Boolean."""
    here = lanes.active().reshape(-1, 32)
    return np.packbits(here if where is None else here & where, axis=1, bitorder="little").view("<u4")


def members_of(lanes, members):
    """(warps, 32) words: for each lane, the bits of the executing lanes that its mask names.

    Lanes of one warp may have different masks, as two tiles of 16 lanes that execute one instruction together.
    """
    return lanes_of(members, lanes) & bits_of(lanes)


@runtime
def votes(lanes, mode, predicate, members):
    """vote.sync among the lanes that `members` names: ballot, any, all or uni."""
    inside = members_of(lanes, members)
    yes = inside & bits_of(lanes, lanes_of(predicate, lanes))
    if mode == "ballot":
        return yes.reshape(-1)
    if mode == "any":
        return (yes != 0).reshape(-1)
    every = yes == inside
    return (every if mode == "all" else every | (yes == 0)).reshape(-1)


@op("activemask", forms="b32")
def activemask(e, i):
    """The lanes that execute together."""
    e.allow()
    e.write(i.operands[0], "active_bits(lanes)", "b32")


@runtime
def active_bits(lanes):
    """activemask: one bit for each lane that executes."""
    return np.repeat(bits_of(lanes).reshape(-1), 32)


@op("match", forms="sync; any, all; b32 b64")
def match(e, i):
    """Lanes with equal values."""
    e.allow("sync", "any", "all")
    kind = i.parts[-1]
    value, members = e.read(i.operands[1], kind), members_read(e, i.operands[2])
    t = e.temporary()
    e.line(f"{t} = matching(lanes, {value}, {members}, {'all' in i.parts})")
    write_with_predicate(e, i.operands[0], t)


@runtime
def matching(lanes, value, members, every):
    """match.sync: the lanes with the same value, and whether all have it."""
    inside, values = members_of(lanes, members), lanes_of(value, lanes)
    same = values[:, :, None] == values[:, None, :]
    bits = np.packbits(same, axis=2, bitorder="little").view("<u4")[:, :, 0] & inside
    if not every:
        return bits.reshape(-1), np.ones(lanes.n, bool)
    good = bits == inside
    return np.where(good, inside, np.uint32(0)).reshape(-1), good.reshape(-1)


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
    value, members = e.read(i.operands[1], kind), members_read(e, i.operands[2])
    if kind == "f32":
        value = f"np.abs({value})" if "abs" in i.parts else value
        which = ("nan_" if "NaN" in i.parts else "float_") + which
    e.write(i.operands[0], f"reduced(lanes, {which!r}, {value}, {members})", kind)


@runtime
def reduced(lanes, which, value, members):
    """redux.sync among the lanes that `members` names. Sums are modulo 2³²."""
    inside, values = members_of(lanes, members), lanes_of(value, lanes)
    out = np.zeros((lanes.warps, 32), values.dtype)
    for number, words in enumerate(inside):
        for word in np.unique(words[words != 0]):
            chosen = values[number][(word & _BIT) != 0]
            if which in _REDUCTIONS:
                result = _REDUCTIONS[which].reduce(chosen, dtype=chosen.dtype)
            else:
                result = reduce(_FLOAT_REDUCTIONS[which], chosen)
            out[number, words == word] = result
    return out.reshape(-1)


@op("elect", forms="sync")
def elect(e, i):
    """Elects one lane of the warp: the lowest, or the highest in late timing, because PTX does not say which."""
    e.allow("sync")
    members = members_read(e, i.operands[1])
    t = e.temporary()
    e.line(f"{t} = elected(resident, lanes, {members})")
    destination = i.operands[0]
    e.write(destination.first, f"{t}[0]", "b32")
    e.write(destination.second, f"{t}[1]", "pred")


@runtime
def elected(resident, lanes, members):
    """(elected lane, whether a lane is that one), for each lane. One of `members` is elected."""
    inside = members_of(lanes, members)
    if resident.launch.timing != "late":
        inside = inside & (~inside + np.uint32(1))  # the lowest bit alone
    leader = np.log2(np.maximum(inside, np.uint32(1)).astype(np.float64)).astype(np.uint32)
    return leader.reshape(-1), (leader == _LANE).reshape(-1)
