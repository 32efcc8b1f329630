"""Timelines of a real GPU, from a copy of a kernel that records the clock wherever it waits, copies or multiplies.

    text = instrument(kernel.source)             a copy with one more parameter, the buffer of stamps
    timeline = read(buffer, blocks, warps)       its events, as in the simulator's timelines

A stamp (`tile/stamps.cuh`) costs a warp some tens of clocks; otherwise the source is the same as the kernel's. The
hardware units record no stamps of their own. A load therefore lasts from its request until a warp first *sees* its
bytes, and the products of a stage last from the moment a warp may use the stage until it releases it.
"""

from __future__ import annotations

import re
from bisect import bisect_left

import numpy as np

from gemm_results.errors import LabError
from gpu_timing.logical.pipeline_timeline import Event, Timeline

STAMP = np.dtype(
    [("clock", "<u8"), ("nanoseconds", "<u8"), ("what", "<u4"), ("barrier", "<u4"), ("sm", "<u4"), ("set", "<u4")]
)
STAMPS_A_WARP = 512
WAITS, PASSED, ARRIVES, LOADS, COMMITS, EPILOGUE, STORED = range(1, 8)
CLOCKS = "clocks of the SM, several SMs aligned by the global timer"

# Function of a header -> (position of the barrier among its arguments, stamp before the call, stamp after it).
WRAPPED = {
    "mbarrier_wait_parity": (0, WAITS, PASSED),
    "mbarrier_arrive": (0, ARRIVES, None),
    "mbarrier_arrive_cluster": (0, ARRIVES, None),
    "mbarrier_arrive_remote": (0, ARRIVES, None),
    "tma_load_2d": (4, LOADS, None),
    "tma_load_2d_multicast": (4, LOADS, None),
    "tma_load_2d_pair": (4, LOADS, None),
    "tcgen05_commit": (0, COMMITS, None),
    "tcgen05_commit_multicast": (0, COMMITS, None),
}
OFFSET_MASK = (1 << 24) - 1  # offset in a shared address; the bits above it are the block's rank in its cluster
_ENTRY = re.compile(r"(\bgemm\([^{;]*?)\)\s*\{", re.S)
_INCLUDE = re.compile(r"^#include [^\n]*\n", re.M)


def instrument(source: str, stamps_a_warp: int = STAMPS_A_WARP) -> str:
    """The source of the kernel with stamps. Raises `LabError` if it calls none of WRAPPED or has no kernel `gemm`.

    stamps_a_warp: the most stamps that lane 0 of a warp can write, and its other lanes together.
    """
    used = [name for name in WRAPPED if re.search(rf"\b{name}\b", source)]
    entry, includes = _ENTRY.search(source), list(_INCLUDE.finditer(source))
    if not used or entry is None or not includes:
        raise LabError(
            "Only a kernel that is called gemm and waits at mbarriers can be stamped; this text has "
            f"{'no kernel gemm(…)' if entry is None else 'no calls of ' + ', '.join(WRAPPED)}."
        )
    source = re.sub(r"// region: epilogue\n", f"// region: epilogue\n    stamps({EPILOGUE}, 0);\n", source)
    start = source.find("// region: epilogue")
    end = source.find("// end region", start) if start >= 0 else -1
    if end >= 0:
        source = f"{source[:end]}stamps({STORED}, 0);\n    {source[end:]}"
    entry = _ENTRY.search(source)
    opened = f"{entry[1]}, void* gmem_stamps) {{\n  KernelStamps stamps(gmem_stamps, {stamps_a_warp});\n"
    source = source[: entry.start()] + opened + source[entry.end() :]
    last = list(_INCLUDE.finditer(source))[-1].end()
    return source[:last] + _wrappers(used) + source[last:]


def _wrappers(used: list[str]) -> str:
    """CUDA source of a class whose members stamp and call the headers' functions, and of macros that replace these."""
    lines = ['#include "tile/stamps.cuh"', "struct KernelStamps : Stamps {", "  using Stamps::Stamps;"]
    for name in used:
        place, before, after = WRAPPED[name]
        given = [f"const T{i}& a{i}" for i in range(place + 1)]
        passed = ", ".join(f"a{i}" for i in range(place + 1))
        group = "int G, " if name.startswith("tcgen05_commit") else ""
        called = f"::{name}<G>" if group else f"::{name}"
        types = ", ".join(f"class T{i}" for i in range(place + 1))
        lines += [
            f"  template <{group}{types}, class... Rest>",
            f"  __device__ __forceinline__ void {name}_stamped({', '.join(given)}, Rest... rest) {{",
            f"    (*this)({before}, a{place});",
            f"    {called}({passed}, rest...);",
            *([f"    (*this)({after}, a{place});"] if after else []),
            "  }",
        ]
    lines += ["};", *(f"#define {name} stamps.{name}_stamped" for name in used), ""]
    return "\n".join(lines)


def buffer(blocks: int, warps: int, stamps_a_warp: int = STAMPS_A_WARP) -> np.ndarray:
    """An array of zero bytes for the stamps of a launch, the last argument of the instrumented kernel.

    blocks: in the grid.   warps: in a block.   stamps_a_warp: as for `instrument`.
    """
    return np.zeros(blocks * warps * 2 * stamps_a_warp * STAMP.itemsize, np.uint8)


def read(written: np.ndarray, blocks: int, warps: int, *, block: int | None = 0, title: str = "") -> Timeline:
    """The events of one block, or of all blocks if `block` is None, in clocks since the first of these events.

    written: the buffer after the launch. Raises `LabError` if it has no stamp.
    """
    stamps = np.array(written).view(STAMP).reshape(blocks, warps, 2, -1)
    stamps["barrier"] &= OFFSET_MASK
    if not (stamps["set"] == 1).any():
        raise LabError("No stamp was written: was the instrumented kernel launched with this buffer?")
    chosen = range(blocks) if block is None else [block]
    shift = aligned(stamps)
    fulls = sorted({int(b) for b in np.unique(stamps["barrier"][(stamps["what"] == LOADS) & (stamps["set"] == 1)])})
    stage_of = {barrier: stage for stage, barrier in enumerate(fulls)}
    events: list[Event] = []
    for number in chosen:
        prefix = f"block {number} · " if block is None and blocks > 1 else ""
        tracks = {
            warp: [
                (int(s["clock"]) + shift[int(s["sm"])], int(s["what"]), int(s["barrier"]))
                for s in _of_warp(*stamps[number, warp])
            ]
            for warp in range(warps)
        }
        events += _block_events(tracks, stage_of, prefix)
    first = min((event.start for event in events), default=0.0)
    moved = sorted((e._replace(start=e.start - first, end=e.end - first) for e in events), key=lambda e: e.start)
    return Timeline(tuple(moved), CLOCKS, len(fulls), title)


def _of_warp(first: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The stamps of a warp, sorted by clock: those of lane 0, and of other lanes for calls that lane 0 never makes."""
    first, others = first[first["set"] == 1], others[others["set"] == 1]
    both = np.concatenate([first, others[~np.isin(others["what"], first["what"])]])
    return both[np.argsort(both["clock"], kind="stable")]


def aligned(stamps: np.ndarray) -> dict[int, float]:
    """{SM: clocks to add so that all SMs agree on the time}; 0 for the SM of the first stamp.

    The global timer advances in steps, so its value is never later than the true time. Of all stamps of an SM, the one
    at which the timer is furthest ahead of the SM's clock therefore gives the best estimate of their difference.
    """
    good = stamps[stamps["set"] == 1]
    sms = np.unique(good["sm"])
    clock, time = good["clock"].astype(np.float64), good["nanoseconds"].astype(np.float64)
    rate = 1.0
    longest = max(sms, key=lambda sm: np.ptp(time[good["sm"] == sm]))
    mine = good["sm"] == longest
    if np.ptp(time[mine]) > 0:
        rate = np.ptp(clock[mine]) / np.ptp(time[mine])  # clocks per nanosecond
    lead = {int(sm): float((time[good["sm"] == sm] * rate - clock[good["sm"] == sm]).max()) for sm in sms}
    base = lead[int(good["sm"][0])]
    return {sm: value - base for sm, value in lead.items()}


def _block_events(tracks: dict, stage_of: dict[int, int], prefix: str) -> list[Event]:
    """The events of one block, from the stamps of its warps: {warp: [(clock, what, barrier)]}.

    A load is identified by (stage, number of its request). A warp that passes the barrier of a stage has seen the bytes
    of the last request before that time.
    """
    events, seen = [], {}
    requests = _requests(tracks, stage_of)
    for warp, track in tracks.items():
        if track:
            whats = {what for _, what, _ in track}
            waits = any(what == PASSED and barrier in stage_of for _, what, barrier in track)
            role = "producer" if LOADS in whats else "MMA" if COMMITS in whats else "consumer" if waits else "epilogue"
            events += _warp_events(track, stage_of, f"{prefix}warp {warp} · {role}", requests, seen)
    for (stage, turn), end in seen.items():
        events.append(Event(f"{prefix}TMA {stage}", "load", stage, None, requests[stage][turn], end))
    return events


def _requests(tracks: dict, stage_of: dict[int, int]) -> dict[int, list]:
    """{stage: sorted clocks of the requests that load it}.

    All loads of a stage between two waits of their warp are one request.
    """
    found: dict[int, list] = {stage: [] for stage in stage_of.values()}
    for track in tracks.values():
        fresh = set(stage_of)
        for clock, what, barrier in track:
            if what == PASSED:
                fresh = set(stage_of)
            elif what == LOADS and barrier in fresh:
                fresh.discard(barrier)
                found[stage_of[barrier]].append(clock)
    return {stage: sorted(clocks) for stage, clocks in found.items()}


def _warp_events(track: list, stage_of: dict[int, int], agent: str, requests: dict, seen: dict) -> list[Event]:
    """The events of one warp. seen: {(stage, number of the request): clock at which its bytes were first seen}."""
    events: list[Event] = []
    open_stages: list[tuple[float, int]] = []  # (clock, stage) of waits that returned, not yet released
    begun = stored = 0.0
    let_go, tile, waited, asking = -np.inf, 0, False, None
    for clock, what, barrier in track:
        stage = stage_of.get(barrier)
        if what == WAITS:
            if asking is not None:
                events.append(Event(agent, "issue", asking[1], None, asking[0], clock))
            begun, waited, asking = clock, True, None
        elif what == PASSED and waited:
            events.append(Event(agent, "wait", None, None, begun, clock))
            waited = False
            if stage is not None and not agent.endswith("producer"):
                turn = bisect_left(requests[stage], clock) - 1
                if turn >= 0:
                    seen[stage, turn] = min(seen.get((stage, turn), clock), clock)
                open_stages.append((clock, stage))
        elif what == LOADS:
            asking = asking or (clock, stage)
        elif what in (ARRIVES, COMMITS) and open_stages:
            passed, mine = open_stages.pop(0)
            events.append(Event(agent, "issue", mine, tile, max(passed, let_go), clock))
            let_go = clock
        elif what == EPILOGUE:
            stored = clock
        elif what == STORED:
            events.append(Event(agent, "epilogue", None, tile, stored, clock))
            tile += 1
    return _cut(events)


def _cut(events: list[Event]) -> list[Event]:
    """The events without overlaps: waits interrupt epilogues, and both interrupt issuing, which then continues."""
    done = [event for event in events if event.kind == "wait"]
    for kind in ("epilogue", "issue"):
        pauses = sorted(done, key=lambda event: event.start)
        for event in events:
            if event.kind != kind:
                continue
            start = event.start
            for pause in pauses:
                if start < pause.start < event.end:
                    done.append(event._replace(start=start, end=pause.start))
                if pause.start < event.end and pause.end > start:
                    start = pause.end
            if start < event.end:
                done.append(event._replace(start=start))
    return sorted(done, key=lambda event: event.start)
