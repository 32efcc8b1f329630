"""cp.async: copies from global to shared memory that are complete when their group is waited for."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.memory.addresses import shared_address, wide_address
from gpu_simulator.codegen.ops.memory.bulk import bulk
from gpu_simulator.codegen.registry import op
from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.counting import based
from gpu_simulator.machine.memory import picked_lanes
from gpu_simulator.ptx.ir import Immediate
from gpu_simulator.runtime import runtime


@op(
    "cp",
    forms="async.ca, async.cg (4, 8, 16 bytes, source size, zero fill); commit_group, wait_group, wait_all; "
    "bulk and bulk.tensor (tile, 1d … 5d) with mbarrier or bulk groups, multicast, block to block, reduce; "
    "mbarrier.arrive",
)
def cp(e, i):
    """Asynchronous copies and their groups."""
    if "async" not in i.parts:
        raise e.unsupported()
    if "bulk" in i.parts or "mbarrier" in i.parts:
        bulk(e, i)
        return
    if "commit_group" in i.parts:
        e.line(f"resident.groups.commit(lanes, {i.site}, {e.mask})")
        return
    if "wait_group" in i.parts or "wait_all" in i.parts:
        left = e.read(i.operands[0], "u32") if "wait_group" in i.parts else None
        e.line(f"resident.groups.wait(lanes, {i.site}, {e.mask}, {left})")
        return
    e.allow(
        "async",
        "ca",
        "cg",
        "shared",
        "shared__cta",
        "global",
        "L2__64B",
        "L2__128B",
        "L2__256B",
        "L2__cache_hint",
        "ignore-src",
    )
    size = int(i.operands[2].text, 0)
    if size not in (4, 8, 16) or ("cg" in i.parts and size != 16):
        raise e.unsupported(f"{size} bytes")
    destination, source = i.operands[0], i.operands[1]
    rest = list(i.operands[3:])
    if "L2__cache_hint" in i.parts:
        rest = rest[:-1]
    length = "None"
    if rest:
        operand = rest[0]
        if getattr(operand, "type", "") == "pred" or "ignore-src" in i.parts:
            length = f"sel({e.read(operand, 'pred')}, {e.constant(np.uint32(0))}, {e.constant(np.uint32(size))})"
        else:
            length = e.read(operand, "u32")
    to = shared_address(e, i, destination)
    e.line(
        f"copy_async(resident, lanes, {i.site}, {to}, {wide_address(e, source)}, {e.mask}, {size}, {length}, "
        f"{form_of_copy(e.program, i)!r})"
    )


INVERTED = {"eq", "lt", "le", "equ", "ltu", "leu"}  # comparisons for which ptxas computes the opposite predicate


def form_of_copy(program, i) -> str:
    """The form into which ptxas translates a cp.async (not a bulk one); the forms are counted differently.

    "ca"; "cg" a plain copy; "cg if" one that copies if a predicate register is set, "cg unless" if it is not; "cg
    zfill" one with the flag ZFILL. ptxas uses a predicate if the length is ignore-src, a constant 0, or selected by
    selp between 0 and the size. It recognises more arithmetic than this function: a bool shifted to the left by 4
    counts as ZFILL here.
    """
    if "cg" not in i.parts:
        return "ca"
    size, rest = int(i.operands[2].text, 0), i.operands[3:]
    if "L2__cache_hint" in i.parts:
        rest = rest[:-1]
    if not rest:
        return "cg"
    length = rest[0]
    if type(length) is Immediate:
        return {size: "cg", 0: "cg unless"}.get(int(length.text, 0), "cg zfill")
    predicate, where_set = length, False  # ignore-src: nothing is copied if it is set
    if length.type != "pred":
        writers = _writers(program, length)
        choices = [[getattr(o, "text", "") for o in i.operands[1:3]] for i in writers if i.family == "selp"]
        if len(choices) < len(writers) or not choices or any(set(c) - {"0", str(size)} for c in choices):
            return "cg zfill"
        predicate, where_set = writers[0].operands[3], choices[0][0] != "0"
    inverted = any(
        i.family == "setp" and len(i.parts) == 3 and i.parts[1] in INVERTED for i in _writers(program, predicate)
    )
    return "cg if" if where_set != inverted else "cg unless"


def _writers(program, register) -> list:
    return [i for i in program.sites if i.operands and i.operands[0] == register]


@runtime
def copy_async(resident, lanes, site, to, source, mask, size, length, kind):
    """One cp.async: checked and counted now. The bytes move now (timing "early") or when the group is waited for."""
    picked = picked_lanes(lanes, mask)
    if picked is not None and not picked.size:
        return
    to = np.broadcast_to(to, lanes.n) if to.ndim == 0 else to
    source = np.broadcast_to(source, lanes.n) if source.ndim == 0 else source
    if length is not None and length.ndim == 0 and int(length) == size:
        length = None
    reading = mask
    if length is not None:
        reading = np.broadcast_to(length, lanes.n) > 0
        reading = reading if mask is None else reading & mask
    counts = resident.sites[site]
    sectors = counts.sectors
    found = (
        resident.memory.resolve(resident, lanes, site, source, reading, size)
        if length is None or reading.any()
        else None
    )
    if found is not None:
        for observer in resident.observers:
            observer.read(lanes, site, resident.memory, *found, size)
    if kind.startswith("cg"):
        counts.sectors = sectors  # counted below, because they also depend on the destination
    global_counts = counts.requests
    before = counts.bytes
    index_to, _ = resident.shared.resolve(lanes, site, to, mask, size, "uncounted")
    count_copy(resident, counts, lanes, to, source, mask, size, kind, None if length is None else reading)
    counts.requests, counts.bytes = global_counts, before
    positions = np.arange(lanes.n) if picked is None else picked
    index_from = np.full(lanes.n, -1, np.int64)
    if found is not None:
        index_from[np.arange(lanes.n) if found[1] is None else found[1]] = found[0]
    index_from = index_from[positions]
    kept = None if length is None else np.broadcast_to(length, lanes.n)[positions]
    if kept is not None and int(kept.max()) > size:  # PTX ISA, "cp.async": undefined behaviour
        most = int(np.argmax(kept))
        raise MemoryFault(
            f"{resident.describe(site)}: {resident.name_lane(int(lanes.lane_numbers()[positions[most]]))} "
            f"copies {size} bytes with a source size of {int(kept[most])}; it can be {size} at most, and "
            "the rest is filled with zeros."
        )
    for observer in resident.observers:
        observer.copy_issued(lanes, site, index_to, picked, size)
    resident.groups.copy(lanes, positions, index_to, index_from, size, kept)


def count_copy(resident, counts, lanes, to, source, mask, size, kind, reading):
    """Count the wavefronts of one cp.async of each warp. They depend on the sources as well as the destinations.

    kind: "ca", "cg", "cg if", "cg unless" or "cg zfill".   reading: lanes that do not fill with zeros, or None for all.
    """
    use = None if mask is None else mask.reshape(lanes.warps, 32)
    parts = [based(a.astype(np.int64).reshape(lanes.warps, 32), use, 128) for a in (source, to)]
    if reading is not None:
        parts.append(np.broadcast_to(reading, lanes.n).astype(np.int64).reshape(lanes.warps, 32))
    rows, every = np.concatenate(parts, axis=1), None if use is None else np.concatenate([use] * len(parts), axis=1)
    total = resident.launch.patterns.total
    counts.wavefronts += total(kind, size, rows, every)
    if kind.startswith("cg"):
        counts.sectors += total("copy sectors", size, rows, every)
    if kind in ("cg", "cg zfill"):
        counts.ideal += total("ideal cg", size, rows, every)
    if kind != "cg":
        per_warp = np.full(lanes.warps, 32) if use is None else use.sum(1)
        counts.ideal += int((-(-per_warp * size // 128)).sum())
