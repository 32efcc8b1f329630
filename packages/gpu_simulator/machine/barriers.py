"""Barriers of blocks: lanes that arrive are parked until the others have arrived. Also explains deadlocks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from gpu_simulator.faults import BarrierFault, Deadlock
from gpu_simulator.machine.branching import DONE, PARKED
from gpu_simulator.machine.mbarrier_messages import waiting_clauses
from gpu_simulator.machine.thread_ranges import spans, threads_wait

NUMBERS = 16  # barriers of a block: PTX ISA, "bar, barrier"
WARP = 32


@dataclass(eq=False, slots=True)
class Arrival:
    """Lanes that arrived at a barrier together.

    block, number: of the barrier.   expected: number of threads that it waits for; None for all of the block.
    following: the basic block after it; None for bar.arrive, which does not wait.
    reduction: (how, values, register) of bar.red.
    """

    block: int
    number: int
    lanes: np.ndarray
    expected: int | None
    following: int | None
    site: int
    reduction: tuple | None


class Barriers:
    """The barriers of the resident blocks, as pairs (resident block, number), and the lanes that have arrived."""

    def __init__(self, resident):
        self.resident = resident
        self.waiting: dict[tuple[int, int], list[Arrival]] = {}

    def sync(self, lanes, site: int, number, count, following: int) -> int:
        """bar.sync: returns the next basic block, or -1 if the lanes are parked."""
        resident = self.resident
        if (
            lanes.full
            and not self.waiting
            and number.ndim == 0
            and (count is None or count.ndim == 0 and int(count) == 32 * resident.warps_per_block)
            and int(number) < NUMBERS
        ):
            for observer in resident.observers:
                observer.barrier_everyone(site, int(number))
            return following
        self.park(lanes, site, number, count, following)
        return -1

    def arrive(self, lanes, site: int, number, count, following: int) -> int:
        """bar.arrive: counts the threads, which continue at `following`."""
        self.add(lanes, site, number, count, None)
        return following

    def reduce(self, lanes, site: int, number, count, how: str, predicate, destination: int, following: int) -> int:
        """bar.red: combines a predicate over the threads of the block ("popc", "and" or "or"). Returns -1."""
        self.park(lanes, site, number, count, following, (how, predicate, destination))
        return -1

    def park(self, lanes, site, number, count, following, reduction=None) -> None:
        self.resident.goto(lanes, PARKED)
        self.resident.at = None
        self.add(lanes, site, number, count, following, reduction)

    def add(self, lanes, site, number, count, following, reduction=None) -> None:
        """Count lanes that arrive, and release the barriers that this completes."""
        resident = self.resident
        lane_numbers = lanes.lane_numbers()
        numbers = np.broadcast_to(number, lanes.n)
        counts = None if count is None else np.broadcast_to(count, lanes.n)
        active = lanes.active()
        blocks = resident.block_of_lane[lane_numbers]
        for block in np.unique(blocks[active]).tolist():
            inside = active & (blocks == block)
            wanted = [None] if counts is None else np.unique(counts[inside]).tolist()
            for which, expected in product(np.unique(numbers[inside]).tolist(), wanted):
                chosen = inside & (numbers == which)
                if counts is not None:
                    chosen &= counts == expected
                if not chosen.any():
                    continue
                self.check(site, int(lane_numbers[chosen][0]), which, expected, self.waiting.get((block, which), ()))
                for some in self.phases(np.flatnonzero(chosen), expected, (block, which)):
                    values = None
                    if reduction is not None:
                        values = reduction[0], np.broadcast_to(reduction[1], lanes.n)[some], reduction[2]
                    arrival = Arrival(block, which, lane_numbers[some], expected, following, site, values)
                    for observer in resident.observers:
                        observer.barrier_arrived(arrival)
                    self.waiting.setdefault((block, which), []).append(arrival)
                    self.recheck()

    def phases(self, arriving: np.ndarray, expected: int | None, key: tuple[int, int]) -> list[np.ndarray]:
        """Split lanes that arrive together by the phases of the barrier that count them.

        A phase ends with as many threads as it expects; those that are too many arrive for the next one. Recorded on
        an H200: the third of three warps at a barrier of 64 threads waits for a fourth (too_many_at_a_barrier).
        """
        if expected is None:
            return [arriving]
        missing = expected - sum(len(entry.lanes) for entry in self.waiting.get(key, ()))
        return np.split(arriving, range(missing, len(arriving), expected))

    def check(self, site: int, lane: int, number: int, expected: int | None, others) -> None:
        """Raise `BarrierFault` for a barrier or a number of threads that no GPU has. others: who waits there."""
        resident, wrong = self.resident, ""
        everyone = WARP * resident.warps_per_block
        count = everyone if expected is None else expected
        if number >= NUMBERS:
            wrong = f"uses barrier {number:,}; a block has barriers 0 to {NUMBERS - 1}."
        elif count % WARP or not count:
            wrong = f"arrives at barrier {number} for {count:,} threads; a barrier counts whole warps of {WARP}."
        elif others and count != (others[0].expected or everyone):
            wrong = (
                f"arrives at barrier {number} for {count} threads, and others wait there for "
                f"{others[0].expected or everyone} ({resident.describe(others[0].site)}); all threads that meet have "
                "to name the same number."
            )
        if wrong:
            raise BarrierFault(f"{resident.describe(site)}: {resident.name_lane(lane)} {wrong}")

    def recheck(self) -> None:
        """Release every barrier whose threads have all arrived or ended."""

        resident = self.resident
        for key in list(self.waiting):
            block, _ = key
            entries = self.waiting[key]
            arrived = sum(len(e.lanes) for e in entries)
            expected = next((e.expected for e in entries if e.expected is not None), None)
            lanes = slice(block * 32 * resident.warps_per_block, (block + 1) * 32 * resident.warps_per_block)
            absent = int((resident.pc[lanes] == DONE).sum())
            if expected is None:
                done = arrived + absent >= 32 * resident.warps_per_block
            else:
                done = arrived >= expected or (arrived + int((~resident.alive[lanes]).sum()) >= expected)
            if done:
                del self.waiting[key]
                self.release(entries)

    def release(self, entries: list[Arrival]) -> None:
        resident = self.resident
        for observer in resident.observers:
            observer.barrier_met(entries)
        reductions = [e.reduction for e in entries if e.reduction is not None]
        for entry in entries:
            lanes, values = entry.lanes, entry.reduction
            if entry.following is not None:
                resident.pc[lanes] = entry.following
            if values is not None:
                said = np.concatenate([v[1] for v in reductions])
                result = {"popc": np.uint32(said.sum()), "and": np.bool_(said.all()), "or": np.bool_(said.any())}[
                    values[0]
                ]
                old = resident.R[values[2]]
                new = np.full(resident.lanes, old) if old.ndim == 0 else old.copy()
                new[lanes] = result
                resident.R[values[2]] = new

    # ---- Deadlocks ----

    def nobody_left(self):
        raise Deadlock("Deadlock: no thread can go on. " + self.explain())

    def stuck_collective(self, index: int):
        resident = self.resident
        block = resident.program.blocks[index]
        if block.warp_mask == "warpgroup":
            raise Deadlock(resident.warpgroups.stuck(index))
        item = block.code[0] if block.code else block.terminator
        here = np.flatnonzero(resident.pc == index)
        warp = here[0] // 32
        lanes = resident.pc[warp * 32 : (warp + 1) * 32]
        missing = np.flatnonzero(lanes != index)
        raise Deadlock(
            f"{item.opcode} at {resident.launch.describe(item)} needs every lane that it names, but in the warp of "
            f"{resident.name_lane(int(here[0]))} {'lanes' if missing.size > 1 else 'lane'} "
            f"{spans(missing)} {'are' if missing.size > 1 else 'is'} elsewhere"
            + (" or do not exist (the block has a partial warp)" if not resident.whole_warps else "")
            + f". {self.explain()}"
        )

    def explain(self) -> str:
        """Which threads wait for what in the first waiting block and in the other blocks of its cluster, in words."""
        resident = self.resident
        blocks = {
            block for block, _ in (*self.waiting, *resident.mbarriers.waiting)
        } | resident.cluster_barrier.blocks()
        blocks |= resident.tensor_memory.blocks()
        if not blocks:
            return "No thread waits at a barrier."
        size = resident.cluster_size
        first = min(blocks) // size * size
        said, waits = [], ""
        for block in (block for block in range(first, first + size) if block in blocks):
            before, waits = waits, self.explain_block(block)
            name = resident.name_block(block)
            said.append(f"In {name}: {waits}." if waits != before else f"{name.capitalize()} waits in the same way.")
        ended = [block for block in range(first, first + size) if resident.has_ended(block)] if size > 1 else []
        return " ".join(said + [f"{resident.name_block(block).capitalize()} has ended." for block in ended])

    def explain_block(self, first: int) -> str:
        """Which threads wait for what in one block, in clauses."""

        resident = self.resident
        words = waiting_clauses(resident.mbarriers, first) + resident.cluster_barrier.explain(first)
        words += resident.tensor_memory.explain(first)
        for (block, number), entries in sorted(self.waiting.items()):
            if block != first:
                continue
            for entry in entries:
                item = resident.program.sites[entry.site]
                wanted = entry.expected if entry.expected is not None else "all"
                words.append(
                    f"{threads_wait(resident.thread_of_lane[entry.lanes])} at barrier {number} "
                    f"for {wanted} threads "
                    f"({resident.launch.describe(item)})"
                )
        return "; ".join(words)
