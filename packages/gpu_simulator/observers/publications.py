"""What threads know of other threads by strong accesses: release and acquire patterns, followed write by write.

A `Chain` is a strong write and the atomic updates that follow it at its place. Who reads a value of the chain has seen
all that the writers before published with it. What a thread has seen becomes what it may rely on (its `Past`) by a
fence or an acquire, and what it can publish itself by a further fence or a release. PTX ISA, "Memory Consistency Model:
Release and Acquire Patterns", "Observation Order", "Base Causality Order".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Past(NamedTuple):
    """What a thread may rely on besides barriers.

    chains: for each chain, the events up to which the thread has acquired what was published for its own block at
    least, and for all blocks.   lanes: by lane of the launch, the last event of that single lane.
    """

    chains: dict[Chain, tuple[int, int]]
    lanes: dict[int, int]


class Told(NamedTuple):
    """What a thread has from strong accesses of others.

    seen: by chain, the event of the last write that it has read, and not yet acquired.   past: what it may rely on.
    fenced, fenced_wide: the past at its last fence of block or of wider scope, which its next strong write publishes.
    """

    seen: dict[Chain, int]
    past: Past
    fenced: Past
    fenced_wide: Past


NO_PAST = Past({}, {})
NOTHING = Told({}, NO_PAST, NO_PAST, NO_PAST)


@dataclass(frozen=True, eq=False)
class Publication:
    """What one strong write published. Its readers may rely on all accesses that it covers.

    event, warp, block, cluster: of the write, in the launch.   wide: for all blocks, otherwise for its own alone.
    others: the last events of each warp of its cluster.   own: those of each lane of its own warp.
    """

    event: int
    warp: int
    block: int
    cluster: int
    wide: bool
    others: np.ndarray
    own: np.ndarray
    past: Past

    def covers(self, lane: int, event: int) -> bool:
        """Whether it covers an access of a lane of its cluster."""
        if lane >> 5 == self.warp:
            return bool(self.own[lane & 31] >= event)
        return bool(self.others[(lane >> 5) % len(self.others)] >= event)


@dataclass(eq=False)
class Chain:
    """The publications of a chain in their order, by cluster, and those of them that pass on what others published.

    latest: by lane, what its last publication was made of, to leave out those that add nothing.
    """

    by_cluster: dict[int, list[Publication]] = field(default_factory=dict)
    passing_on: list[Publication] = field(default_factory=list)
    latest: dict[int, tuple] = field(default_factory=dict)

    def add(self, publication: Publication) -> None:
        self.by_cluster.setdefault(publication.cluster, []).append(publication)
        if publication.past.chains or publication.past.lanes:
            self.passing_on.append(publication)


def known(past: Past, block: int, lane: int, cluster: int, event: int, asked: dict | None = None) -> bool:
    """Whether a thread of a block with this past may rely on an access of a lane of some cluster.

    A publication that is older than the access cannot cover it, which bounds the search. asked: the chains followed so
    far, by the block that read them, with the events up to which it had.
    """
    if past.lanes.get(lane, 0) >= event:
        return True
    asked = {} if asked is None else asked
    for chain, (near, far) in past.chains.items():
        before = asked.get((chain, block), (0, 0))
        if max(near, far) <= event or (near <= before[0] and far <= before[1]):
            continue
        asked[chain, block] = max(near, before[0]), max(far, before[1])
        for one in _received(chain.by_cluster.get(cluster, ()), block, near, far, event):
            if one.covers(lane, event):
                return True
        for one in _received(chain.passing_on, block, near, far, event):
            if known(one.past, one.block, lane, cluster, event, asked):
                return True
    return False


def heard_of_block(past: Past, block: int, other: int, event: int) -> bool:
    """Whether a thread of a block with this past has acquired what a thread of another block published later."""
    return any(
        one.block == other
        for chain, (near, far) in past.chains.items()
        for publications in chain.by_cluster.values()
        for one in _received(publications, block, near, far, event)
    )


def _received(publications, block: int, near: int, far: int, event: int) -> Iterator[Publication]:
    """The publications after an event that a block has acquired, newest first."""
    for one in reversed(publications):
        if one.event <= event:
            return
        if one.event <= (near if one.block == block else far if one.wide else 0):
            yield one


def union(many: Iterable[Told]) -> Told:
    """All that several threads have together."""
    different = list({id(told): told for told in many if told is not NOTHING}.values())
    if len(different) < 2:
        return different[0] if different else NOTHING
    seen: dict[Chain, int] = {}
    for told in different:
        for chain, event in told.seen.items():
            seen[chain] = max(event, seen.get(chain, 0))
    return Told(seen, *(_joined([told[part] for told in different]) for part in (1, 2, 3)))


def _joined(many: list[Past]) -> Past:
    chains, lanes = dict(many[0].chains), dict(many[0].lanes)
    for past in many[1:]:
        for chain, (near, far) in past.chains.items():
            one = chains.get(chain, (0, 0))
            chains[chain] = max(near, one[0]), max(far, one[1])
        for lane, event in past.lanes.items():
            lanes[lane] = max(event, lanes.get(lane, 0))
    return Past(chains, lanes)


def sees(told: Told, chain: Chain, event: int, near: bool, far: bool) -> Told:
    """After a strong read of a chain, whose last write was this event. near, far: it is an acquire of such a scope."""
    if near or far:
        one = told.past.chains.get(chain, (0, 0))
        both = max(event, one[0]), max(event, one[1]) if far else one[1]
        if both == one:
            return told
        told = told._replace(past=Past({**told.past.chains, chain: both}, told.past.lanes))
    if far or told.seen.get(chain, 0) >= event:
        return told
    return told._replace(seen={**told.seen, chain: event})


def after_fence(told: Told, wide: bool, own: dict[int, int]) -> Told:
    """After a fence. own: by lane of the launch, up to where the fence covers a lane alone."""
    past = told.past
    if told.seen:
        past = Past(dict(past.chains), past.lanes)
        for chain, event in told.seen.items():
            near, far = past.chains.get(chain, (0, 0))
            past.chains[chain] = max(event, near), max(event, far) if wide else far
    fenced = Past(past.chains, {**past.lanes, **told.fenced.lanes, **own})
    if not wide:
        return told._replace(past=past, fenced=fenced)
    return Told({}, past, fenced, Past(past.chains, {**past.lanes, **told.fenced_wide.lanes, **own}))


def and_seen(told: Told) -> Past:
    """What a thread could rely on if it had a fence after all that it has seen."""
    return after_fence(told, True, {}).past


class Holders:
    """What the threads of a group of resident blocks have, by lane where the lanes of a warp differ, else by warp."""

    def __init__(self) -> None:
        self.lanes: dict[int, Told] = {}
        self.warps: dict[int, Told] = {}
        self.split: set[int] = set()  # warps of which lanes have entries of their own; these include the warp's

    def any(self) -> bool:
        return bool(self.warps or self.lanes)

    def of(self, lane: int) -> Told:
        if lane >> 5 in self.split:
            return self.lanes.get(lane) or self.warps.get(lane >> 5, NOTHING)
        return self.warps.get(lane >> 5, NOTHING)

    def of_warp(self, warp: int) -> Told:
        """What the lanes of a warp have together."""
        told = self.warps.get(warp, NOTHING)
        if warp not in self.split:
            return told
        return union([told, *(self.lanes[lane] for lane in range(32 * warp, 32 * warp + 32) if lane in self.lanes)])

    def give(self, warp: int, told: Told) -> None:
        """All lanes of a warp have this from now on."""
        self.warps[warp] = told
        if warp in self.split:
            self.split.discard(warp)
            for lane in range(32 * warp, 32 * warp + 32):
                self.lanes.pop(lane, None)

    def change(self, numbers: np.ndarray, function: Callable[[Told, int], Told]) -> None:
        """Replace what each of some lanes has by function(what it has, lane); the lane is -1 for a whole warp."""
        warps, first, count = np.unique(numbers >> 5, return_index=True, return_counts=True)
        for warp, start, lanes in zip(warps.tolist(), first.tolist(), count.tolist(), strict=True):
            if lanes == 32 and warp not in self.split:
                self.warps[warp] = function(self.warps.get(warp, NOTHING), -1)
                continue
            for lane in numbers[start : start + lanes].tolist():
                old = self.of(lane)
                new = function(old, lane)
                if new is not old:
                    self.lanes[lane] = new
                    self.split.add(warp)

    def meet(self, numbers: np.ndarray) -> None:
        """Some lanes have synchronised with those of them that are in the same warp."""
        if not self.split:
            return
        warps, first, count = np.unique(numbers >> 5, return_index=True, return_counts=True)
        for warp, start, lanes in zip(warps.tolist(), first.tolist(), count.tolist(), strict=True):
            if warp in self.split:
                some = numbers[start : start + lanes].tolist()
                told = union(map(self.of, some))
                if lanes == 32:
                    self.give(warp, told)
                else:
                    self.lanes.update(dict.fromkeys(some, told))

    def join(self, arrived: np.ndarray, waited: np.ndarray) -> None:
        """Some warps of a block have met. waited: those that also learn what the others have."""
        told = union(map(self.of_warp, arrived.tolist()))
        for warp in waited.tolist():
            self.give(warp, union([told, self.of_warp(warp)]))
