"""Messages about races: which two threads, at which place, and what would have ordered their accesses."""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """Describes one access in messages.

    lane: number of the lane in the launch.   place: the address, in words.   shared: whether it is in shared memory.
    """

    launch: object
    lane: int
    place: str
    shared: bool = True

    def site(self, site: int) -> str:
        return self.launch.describe(self.launch.program.sites[site]) if site >= 0 else "an earlier instruction"

    def here(self, site: int) -> str:
        return f"{self.site(site)}: {block_of(self.launch, self.lane)}, {thread_of(self.launch, self.lane)}"


def is_bulk(item) -> bool:
    """Whether an instruction is a bulk copy, of a tensor or of bytes, or writes like one (clusterlaunchcontrol)."""
    return item.family == "clusterlaunchcontrol" or (item.family == "cp" and "bulk" in item.parts)


def reports_to_mbarrier(item) -> bool:
    """Whether an instruction is an asynchronous copy or store that reports its completion to an mbarrier."""
    if item.family == "cp":
        return bool({"bulk", "mbarrier"} & set(item.parts))
    return item.family in ("st", "red", "clusterlaunchcontrol") and "async" in item.parts


def in_flight(
    words: Words, access, other: int, leaving: bool, barrier: int | None, phase: int | None, missing: int | None
) -> str:
    """The message about an access to shared memory that an asynchronous copy still writes, or (leaving) still reads.

    missing: as `RaceDetector._groups_missing`.
    """
    start = f"{words.here(access.site)} {access.verb} {words.place} while"
    if leaving and barrier is None:
        return f"{start} a bulk copy may still be reading it; its thread needs wait_group.read before."
    if barrier is not None:
        return (
            f"{start} the copy at {words.site(other)} may still be "
            f"{'reading' if leaving else 'writing'} it: no thread has waited for the end of "
            f"phase {phase} (parity {phase & 1}) of the mbarrier at shared address {barrier}."
        )
    why = "it needs cp.async.commit_group and cp.async.wait_group before the barrier."
    if missing is None:
        why = "no cp.async.commit_group follows it, so no wait covers it; commit before the wait."
    elif missing:
        few = "one group" if missing == 1 else f"{missing} groups"
        why = (
            f"the cp.async.wait_group that its thread has executed since waits for {few} too few: let it leave fewer "
            "groups in flight, or commit the next copies before it."
        )
    return f"{start} a cp.async may still be writing it ({words.site(other)}); {why}"


def lanes_per_block(launch) -> int:
    """Lanes of a block; a partial last warp counts as 32."""
    return 32 * -(-launch.threads // 32)


def block_of(launch, lane: int) -> str:
    """The block of a lane, in words."""
    x, y, _ = launch.grid
    block = int(launch.clusters.block(lane // lanes_per_block(launch)))
    return f"block ({block % x}, {block // x % y}, {block // (x * y)})"


def thread_of(launch, lane: int) -> str:
    """The thread of a lane and its warp, in words."""
    a, b, _ = launch.block
    thread = lane % lanes_per_block(launch)
    return f"thread ({thread % a}, {thread // a % b}, {thread // (a * b)}) of warp {thread // 32}"


LANES, WARPS, BLOCKS = 1, 2, 3  # a race between lanes of a warp, warps of a block, or blocks


def reach_of(launch, lane: int, other_lane: int) -> int:
    """LANES, WARPS or BLOCKS: whether two lanes of a launch are in one warp, two warps of a block, or two blocks."""
    size = lanes_per_block(launch)
    if lane // size != other_lane // size:
        return BLOCKS
    return LANES if lane >> 5 == other_lane >> 5 else WARPS


# Why two accesses race, where `explain` is given a step that says it alone.
_WHY = {
    "scope": (
        "both are atomic, volatile, acquire or release, but the scope of one of them is its own block; they need "
        "the scope of the device, as atomicAdd has it and atomicAdd_block has not."
    ),
    "size": (
        "both are atomic, volatile, acquire or release, but of different sizes, so neither sees the other as one "
        "access; use one size for this place."
    ),
    "passed on": (
        "the lanes have exchanged what was read before this write, so it does no harm in practice; but shfl, vote, "
        "match and redux promise no order of memory, as __syncwarp() does."
    ),
    "guessed": (
        "the plain read only gives a first value, which atomicCAS compares with memory again, so an old one does "
        "no harm; read through a volatile pointer, it is no race."
    ),
    "exchanged": (
        "the lanes have met in a shfl, vote, match or redux since then, but these order no memory; it needs "
        "__syncwarp()."
    ),
    "counted": (
        "nothing orders the two blocks: a thread of that block has published something later, but its fence "
        "orders its own stores. The threads of the block have to meet at __syncthreads() after their stores, and "
        "before one of them counts the block, sets a flag or unlocks (within one warp __syncwarp() is enough)."
    ),
}


def explain(
    words: Words,
    site: int,
    verb: str,
    other_lane: int,
    past: str,
    other: int,
    equal: bool,
    together: bool,
    step: str = "",
) -> str:
    """The message about a race, in one or two sentences.

    step: see `Ordering.missing_step` and `StrongAccesses.mixed`; or "exchanged" if the lanes of one warp have exchanged
    values since then, "counted" if a thread of the other block has published something later, "passed on" if these are
    what the other one read; "guessed" if atomicCAS compares it again.
    """
    launch, lane, size = words.launch, words.lane, lanes_per_block(words.launch)
    who = thread_of(launch, other_lane)
    reach = reach_of(launch, lane, other_lane)
    one_block, one_warp = reach < BLOCKS, reach == LANES
    fence = "__threadfence_block()" if one_block else "__threadfence()"
    copied = past == "wrote" and other >= 0 and launch.program.sites[other].family == "cp"
    together_in = size * launch.clusters.size
    one_cluster = words.shared and lane // together_in == other_lane // together_in
    if one_cluster and past == "wrote" and other >= 0 and is_bulk(launch.program.sites[other]):
        return (
            f"{words.here(site)} {verb} {words.place}, which the copy at {words.site(other)} has filled: "
            "this thread has not waited for the mbarrier of that copy, nor met a thread that has."
        )
    if not one_block:
        who = f"{block_of(launch, other_lane)}, {who}"
    if step in ("scope", "size"):
        why = _WHY[step]
    elif together and one_warp:
        why = "which of the two values stays is not defined."
    elif step in _WHY:
        why = _WHY[step]
    elif step == "acquire":
        why = (
            "it has seen an atomic or volatile write that was made later, but there is no fence between that read and "
            f"this access; it needs {fence} there."
        )
    elif step == "publish" and not one_warp:
        why = (
            "an atomic or volatile write was made later and has been seen, but there is no fence between the access "
            f"and that write; it needs {fence} there."
        )
    elif one_warp and not is_bulk(launch.program.sites[site]):  # a bulk copy also reads what other warps wrote
        behind = " behind the wait, cp.async.wait_group" if copied else ""
        why = f"nothing brought the lanes of the warp together in between; it needs __syncwarp(){behind}"
        why += ", which a __syncthreads() there includes." if launch.threads > 32 else "."
    elif one_cluster and is_bulk(launch.program.sites[site]) and past == "read":
        why = "nothing tells that it has read it; wait for the mbarrier at which the readers of a stage arrive."
    elif one_block:
        why = "there is no barrier between them."
        if copied:
            why = (
                "there is no barrier between them: a cp.async counts as a write when its own thread has waited for it "
                "(cp.async.wait_group), so first the wait, then the barrier."
            )
    elif one_cluster:
        why = (
            "nothing orders the two blocks of the cluster; barrier.cluster does (arrive, then wait), or an mbarrier at "
            "which the other arrives."
        )
        if any({"barrier", "cluster", "arrive", "relaxed"} <= {*item.parts} for item in launch.program.sites):
            why += " An arrival that is .relaxed orders nothing without fence.acq_rel.cluster before it."
    elif step == "plain":
        why = (
            "nothing orders the two blocks, and one of the accesses is a plain one; make both atomic or volatile, or "
            "order them by __threadfence() and an atomic or volatile write that the other block reads."
        )
    elif verb == "writes" and (past == "wrote" or together):
        why = "nothing orders the two blocks, so either value may stay; let one thread alone write this place."
    else:
        why = (
            "nothing orders the two blocks; only __threadfence() and then an atomic or volatile write that the other "
            "one reads does, or another launch."
        )
    when = "writes in the same instruction" if together else f"{past} at {words.site(other)}"
    note = " Both write the same value, so the result does not show it; it is a race all the same." if equal else ""
    return f"{words.here(site)} {verb} {words.place}, which {who} {when}: {why}{note}"


def unordered_read(words: Words, site: int, verb: str, other_lane: int, past: str, other: int) -> str:
    """The message about two strong accesses in no order, of which one reads a value that it does not wait for."""
    launch, who = words.launch, thread_of(words.launch, other_lane)
    if reach_of(launch, words.lane, other_lane) == BLOCKS:
        who = f"{block_of(launch, other_lane)}, {who}"
    why = "Only a read that is repeated until the value has changed waits for it."
    if reach_of(words.launch, words.lane, other_lane) == LANES:
        why = "They do not keep the lanes of a warp in step; __syncwarp() between the two does."
    return (
        f"{words.here(site)} {verb} {words.place}, which {who} {past} at {words.site(other)}: volatile and atomic "
        f"accesses do not race, but nothing orders these two, so it depends on timing which value is read. {why}"
    )


def changed(words: Words, site: int, verb: str, past: str, other: int) -> str:
    """The message about a load by ld.global.nc of what the kernel itself writes."""
    return (
        f"{words.here(site)} {verb} {words.place}, which this kernel {past} at {words.site(other)}: ld.global.nc, as "
        "__ldg and const __restrict__ pointers give it, may only load what nobody writes during the launch."
    )
