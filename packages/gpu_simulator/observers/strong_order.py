"""Follows strong accesses: what they publish and acquire, which pairs are no race, and which depend on timing."""

from __future__ import annotations

import numpy as np

from gpu_simulator.observers.access import Access
from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS, LANE_MASK
from gpu_simulator.observers.publications import Chain
from gpu_simulator.observers.race_messages import unordered_read
from gpu_simulator.observers.severities import RACE, SUSPICIOUS
from gpu_simulator.observers.strong_accesses import CLUSTER, DEVICE, WEAK


class StrongOrder:
    """Part of the `RaceDetector`."""

    def __init__(self, detector):
        self.detector, self.hazards, self.order = detector, detector.hazards, detector.order
        self._cluster = self.order.span // self.order.own  # blocks
        self._wide = CLUSTER if self._cluster > 1 else DEVICE  # the scope that reaches other blocks

    def see(self, access: Access, last, event: int = ALWAYS) -> None:
        """Note the strong writes that a strong read sees. last: `event << 32 | lane` of the last writes.

        event: of an atomic access, in which each lane also sees the lanes before it that update the same place.
        """
        accesses, shadow = self.hazards.accesses, access.shadow
        events = np.where(accesses.scope[self.hazards.site_of[last >> LANE_BITS]] > WEAK, last >> LANE_BITS, ALWAYS)
        numbers, scope = access.lanes[:, 0] - self.detector.first_lane, accesses.acquires[access.site]
        for places, column in self._places(access):
            seen = events[:, column]
            if event > ALWAYS:
                _, first = np.unique(places, return_index=True)
                later = np.ones(len(seen), bool)
                later[first] = False
                seen[later] = event
            chains = [None] * len(places)
            if shadow.chains:
                chains = [shadow.chains.get(place) for place in places.tolist()]
            self.order.see(numbers, chains, seen, scope > WEAK, scope >= self._wide)

    def publish(self, access: Access, last, event: int) -> None:
        """Add what a strong write publishes to the chains of its places. last: the writes before, of atomic updates."""
        accesses, chains, order = self.hazards.accesses, access.shadow.chains, self.order
        scope, numbers = accesses.releases[access.site], access.lanes[:, 0] - self.detector.first_lane
        order.strong_write(numbers, event)
        if not (scope or order.fenced or chains):
            return
        for places, column in self._places(access):
            if last is None:
                continues = np.zeros(len(places), bool)
            else:
                continues = accesses.scope[self.hazards.site_of[last[:, column] >> LANE_BITS]] > WEAK
            begun: set[int] = set()  # several lanes of one instruction may update one place
            for lane, place, follows in zip(numbers.tolist(), places.tolist(), continues.tolist(), strict=True):
                if not follows and place not in begun:
                    chains.pop(place, None)
                if last is not None:
                    begun.add(place)
                chain, state = chains.get(place), (int(order.version[lane >> 5]), event if scope else 0)
                if chain is not None and chain.latest.get(lane) == state:
                    continue
                made = order.publish(lane, event, scope > WEAK, scope >= self._wide)
                if made:
                    chain = chains.setdefault(place, Chain())
                    chain.latest[lane] = state
                    for one in made:
                        chain.add(one)

    def _places(self, access: Access):
        """Yields the places of an access, one for each element of a vector: (bytes in the memory, column of cells)."""
        cell = access.shadow.cell
        step = max(self.hazards.accesses.width[access.site] // cell, 1)
        for column in range(0, access.cells.shape[1], step):
            yield access.cells[:, column] * cell, column

    def check_scope(self, access: Access) -> None:
        """Report lanes of several blocks that update one place in one atomic instruction whose scope is the block."""
        if self.hazards.accesses.scope[access.site] >= self._wide:
            return
        last = access.shadow.written[access.cells]
        foreign = (last & LANE_MASK) // (32 * self.order.own) != access.lanes // (32 * self.order.own)
        if foreign.any():
            row, column = np.argwhere(foreign)[0]
            self.detector.race(access, row, column, int(last[row, column]), "wrote", False, True)

    def weak_pairs(self, access: Access, before, past: str):
        """Report what depends on timing among the pairs of strong accesses, and leave them out.

        Returns (`before` with 0 in their place, which of the others are strong).
        """
        accesses, others, lanes = self.hazards.accesses, before & LANE_MASK, 32 * self.order.own
        sites = self.hazards.site_of[before >> LANE_BITS]
        mine, theirs = access.lanes // lanes, others // lanes
        in_cluster = mine // self._cluster == theirs // self._cluster
        pairs = accesses.together(access.site, sites, mine == theirs, in_cluster) & (before != 0)
        if pairs.any():
            if past == "read":
                once = pairs & ~accesses.retried[sites]
            else:
                once = pairs if access.verb == "reads" and not accesses.retried[access.site] else None
            if once is not None and once.any():
                self._check_strong(access, np.where(once, before, 0), past)
            before = np.where(pairs, 0, before)
        return before, (accesses.scope[sites] > WEAK) & (past == "wrote")

    def _check_strong(self, access: Access, before, past: str) -> None:
        """Report strong accesses in no order, of which one reads a value only once."""
        everything = np.ones(before.shape, bool)
        bad = self.order.unordered(access.lanes, before, access.shadow is self.detector.shared, everything)
        if bad is None:
            return
        row, column = np.argwhere(bad)[0]
        stamp, words = int(before[row, column]), self.detector.words(access, row, column)
        other, lane = int(self.hazards.site_of[stamp >> LANE_BITS]), stamp & LANE_MASK
        atomic = self.hazards.accesses.atomic
        # Volatile loads and stores of one warp: code from before Volta, which takes the lanes to be in step.
        in_step = lane >> 5 == words.lane >> 5 and not (atomic[access.site] or atomic[other])
        if say := self.hazards.new("unordered read", access.site, other, severity=RACE if in_step else SUSPICIOUS):
            say(unordered_read(words, access.site, access.verb, lane, past, other))
