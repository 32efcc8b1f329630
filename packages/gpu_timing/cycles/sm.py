"""Steps through one SM: which warp of which sub-partition issues when, and what every warp waits for.

Four sub-partitions issue one warp instruction a cycle each. A warp may issue its next instruction when the stall count
of the last one has passed, the scoreboards that it waits for are clear, its pipe is free, and its queue has room. Among
the warps that may issue, the one that issued last goes first if its instruction says so, and else the youngest: this
order gives the recorded stall reasons more often than the oldest or the one that has waited longest. What a warp waited
for gets the cycles: the reasons have Nsight Compute's names.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpu_simulator.errors import SimulatorError
from gpu_timing.cycles.asynchronous_units import NEVER, AsynchronousUnits, Mbarrier
from gpu_timing.cycles.constants_file import Constants
from gpu_timing.cycles.memory_path import Beyond, MemoryPath
from gpu_timing.cycles.pipes import PIPES, TCGEN05_KINDS, WGMMA_KINDS, Step, steps_of, wgmma_flop_per_cycle, wgmma_shape
from gpu_timing.cycles.stall_reasons import (
    BARRIER,
    BRANCH,
    GMMA,
    LG,
    LONG,
    MATH,
    MIO,
    NOT_SELECTED,
    REASONS,
    SELECTED,
    SHORT,
    WAIT,
)
from gpu_timing.cycles.tracing import Access, Trace
from gpu_timing.cycles.waiting_lines import waiting_lines

_TENSOR, _FMA, _HEAVY, _MIO = (PIPES.index(name) for name in ("tensor", "fma", "heavy", "mio"))


@dataclass(frozen=True)
class SmResult:
    """What an SM did. Cycles from the first issue to the end of the last block; `stalls[instruction, reason]` in warp
    cycles; `busy[pipe]` in cycles summed over the sub-partitions; `ends` of each block."""

    cycles: float
    stalls: np.ndarray
    busy: dict[str, float]
    ends: tuple[float, ...]
    issued: int
    memory: MemoryPath


class SmModel(AsynchronousUnits):
    """One SM with its resident blocks. `traces` has a `Trace` for each of them."""

    def __init__(
        self,
        traces: Sequence[Trace],
        of: Constants,
        beyond: Beyond,
        l1_bytes: float,
        starts: Sequence[float] | None = None,
        cluster: int = 1,
    ) -> None:
        self.of = of
        self.memory = MemoryPath(of, beyond, l1_bytes)
        code = traces[0].code
        self.steps: list[Step] = steps_of(code, of)
        self.code = code
        self.wgmma = {one.index: wgmma_shape(one) for one in code if one.op in WGMMA_KINDS}
        self.cluster = cluster
        self.pairs = any(one.op in TCGEN05_KINDS and "2CTA" in one.modifiers for one in code)
        self.heap: list[tuple[float, int, int, object]] = []
        self.order = 0
        self.paths: list[list[int]] = []
        self.accesses: list[list[Access | None]] = []
        self.block_of: list[int] = []
        self.warps_of: list[list[int]] = []
        self.parts: list[list[int]] = [[], [], [], []]
        for block, one in enumerate(traces):
            mine = []
            for path, accesses in zip(one.paths, one.accesses, strict=True):
                if not len(path):
                    continue
                warp = len(self.paths)
                mine.append(warp)
                self.paths.append(path.tolist())
                self.accesses.append(accesses)
                self.block_of.append(block)
            self.warps_of.append(mine)
            for warp in mine:
                self.parts[warp % 4].append(warp)
        count = len(self.paths)
        begin = list(starts or [0.0] * len(traces))
        self.part_of = [warp % 4 for warp in range(count)]
        self.at = [0] * count  # place on the path
        self.access_at = [0] * count
        self.ready = [begin[self.block_of[warp]] for warp in range(count)]
        self.why = [WAIT] * count
        self.cause = [path[0] for path in self.paths]  # the instruction to which the wait is charged
        self.last = list(self.ready)  # cycle of the last issue
        self.boards = [[0.0] * 6 for _ in range(count)]
        self.board_reason = [[SHORT] * 6 for _ in range(count)]
        self.groups: list[list[list[float]]] = [[[] for _ in range(6)] for _ in range(count)]  # of each scoreboard
        self.copies_done = [0.0] * count
        self.bulk_done = [0.0] * count
        self.gmma_groups: list[list[float]] = [[] for _ in range(count)]
        self.tensor_free = [0.0] * 4
        self.pipe_free = [[0.0] * len(PIPES) for _ in range(4)]
        self.issue_free = [0.0] * 4
        self.latest = [-1, -1, -1, -1]
        self.issued_at = [-1.0] * 4
        self.kept = [False] * 4
        self.banks = [[0.0, 0.0] for _ in range(4)]  # when each bank of registers has delivered what was asked for
        self.slack = of["operand_queue_cycles"]
        self.write_cycles = of["load_write_cycles"]
        self.imad_fma_cycles = of["imad_fma_cycles"]
        self.barriers: dict[tuple[int, int], list[int]] = {}
        self.barrier_count: dict[tuple[int, int], int] = {}
        self.barrier_free: dict[int, float] = {}
        self.mbarriers: dict[tuple[int, int], Mbarrier] = {}
        self.stalls = np.zeros((len(code), len(REASONS)))
        self.busy = [0.0] * len(PIPES)
        self.ends = [0.0] * len(traces)
        self.left = [len(warps) for warps in self.warps_of]
        self.issued = 0
        self.tma_free = 0.0
        self.products_free = 0.0  # when the tensor core has done all products of tcgen05 that were issued
        self.products_done = [0.0] * count  # of each warp
        self.tmem_free = [0.0] * 4

    # ---- The clock ----

    def run(self) -> SmResult:
        """Step until every warp has ended. Raises `SimulatorError` if all that are left wait for what does not come."""
        for part in range(4):
            if self.parts[part]:
                self._push(min(self.ready[warp] for warp in self.parts[part]), part)
        heap = self.heap
        while heap:
            now, _, part, event = heapq.heappop(heap)
            if event is not None:
                event(now)  # type: ignore[operator]
                continue
            if now < self.issue_free[part]:
                continue  # an older entry of the same sub-partition
            self._turn(part, now)
        if any(self.left):
            raise SimulatorError(self._stuck())
        busy = {name: self.busy[i] for i, name in enumerate(PIPES)}
        return SmResult(max(self.ends), self.stalls, busy, tuple(self.ends), self.issued, self.memory)

    def _stuck(self) -> str:
        """The sentence for a run that does not end: which lines wait. It need not be the kernel's fault."""
        lines = waiting_lines(self.code)
        waiting = {lines[self.cause[warp]] for part in self.parts for warp in part}
        places = " and ".join(sorted({f"line {one.line} of {one.file}" for one in waiting})[:3])
        return (
            f"There is no prediction: in the time model, what {places} waits for never comes. Either this use of a "
            "barrier is not modelled, or the kernel does not end; running it on the simulator says which."
        )

    def _push(self, when: float, part: int, event: object = None) -> None:
        self.order += 1
        heapq.heappush(self.heap, (when, self.order, part, event))

    def _turn(self, part: int, now: float) -> None:
        """Let a sub-partition issue at `now` if one of its warps can; else look again when one may."""
        best = -1
        soonest = NEVER
        ready, latest = self.ready, self.latest[part]
        for warp in self.parts[part]:
            when = ready[warp]
            if when < soonest or when <= now:
                if when <= now:
                    when = self._free_at(warp, part, now)
                    if when <= now:
                        if warp == latest and self.kept[part]:
                            best = warp
                            break
                        best = warp
                        continue
                if when < soonest:
                    soonest = when
        if best >= 0:
            following = now + 1
            even, odd = self._issue(best, part, now)
            if even or odd:
                banks = self.banks[part]
                banks[0] = max(banks[0], now) + even
                banks[1] = max(banks[1], now) + odd
                following = max(following, math.ceil(max(banks) - self.slack))
            self.issued_at[part] = following - 1
            self.issue_free[part] = following
            self._push(following, part)
        elif soonest < NEVER:
            self._push(soonest, part)
            self.issue_free[part] = soonest if soonest > now else now

    def _free_at(self, warp: int, part: int, now: float) -> float:
        """When pipe and queue let the warp's next instruction pass."""
        step = self.steps[self.paths[warp][self.at[warp]]]
        pipe = step.pipe
        if pipe is None:
            return now
        if pipe == _MIO:
            return self.memory.room_at(part, now)
        free = self.pipe_free[part]
        if pipe == _FMA:  # an FFMA takes either half of the pipe
            return free[_FMA] if free[_FMA] > now else now
        when = math.ceil(free[pipe] - 0.5)
        return when if when > now else now

    # ---- An instruction ----

    def _issue(self, warp: int, part: int, now: float) -> tuple[int, int]:
        path = self.paths[warp]
        at = self.at[warp]
        number = path[at]
        step = self.steps[number]
        self._book(warp, number, step, now)
        self.latest[part] = warp
        self.kept[part] = self.code[number].keep
        self.issued += 1
        pipe = step.pipe
        if pipe is not None and step.cycles:
            free = self.pipe_free[part]
            free[pipe] = max(free[pipe], now) + step.cycles
            if pipe == _HEAVY:
                free[_FMA] = max(free[_FMA], now + self.imad_fma_cycles)
            elif pipe == _FMA and step.cycles > 1:  # no second half of the pipe is left for IMAD
                free[_HEAVY] = max(free[_HEAVY], free[_FMA])
            self.busy[pipe] += step.cycles
        bubble = 0.0
        following = at + 1
        if step.kind == "branch" and following < len(path) and path[following] != number + 1:
            bubble = self.of["taken_branch_bubble"]
        self.last[warp] = now
        self.at[warp] = following
        ready = now + step.stall + bubble
        why = WAIT if not bubble else BRANCH
        cause = -1  # the instruction whose wait it is: a barrier, say, and else the one that cannot issue
        kind = step.kind
        if kind != "fixed" and kind != "branch":
            blocked = self._effect(warp, part, number, step, now)
            if blocked is not None and blocked[0] > ready:
                ready, why, cause = *blocked, number
        if following >= len(path):
            self._end(warp, part, now)
        else:
            self.cause[warp] = path[following] if cause < 0 else cause
            self._next(warp, ready, why)
        return step.reads

    def _next(self, warp: int, ready: float, why: int) -> None:
        """Note when the warp may issue its next instruction, as far as its own dependences decide it."""
        if ready == NEVER:
            self.ready[warp], self.why[warp] = ready, why
            return
        step, given = self.steps[self.paths[warp][self.at[warp]]], ready
        boards = self.boards[warp]
        for board in step.waits:
            if boards[board] > ready:
                ready, why = boards[board], self.board_reason[warp][board]
        if step.kind == "depbar":
            done = self.groups[warp][step.board]
            index = len(done) - 1 - step.group
            if index >= 0 and done[index] > ready:
                ready, why = done[index], LONG
        elif step.kind == "gsb":
            done = self.gmma_groups[warp]
            index = len(done) - 1 - step.group
            if index >= 0 and done[index] > ready:
                ready, why = done[index], BARRIER  # Nsight Compute counts a wait for wgmma as one for a barrier
        if ready > given:
            self.cause[warp] = self.paths[warp][self.at[warp]]
        self.ready[warp] = math.ceil(ready)
        self.why[warp] = why

    def _book(self, warp: int, number: int, step: Step, now: float) -> None:
        """Divide the cycles since the warp's last issue among the reasons for which it waited."""
        waited = now - self.last[warp]
        row = self.stalls[number]
        row[SELECTED] += 1
        if waited <= 1:
            return
        bound = min(self.ready[warp], now) - self.last[warp]  # until its own dependences let it issue
        why = self.why[warp]
        before = min(max(bound - 1, 0), waited - 1)
        self.stalls[self.cause[warp]][why] += before
        rest = waited - 1 - before
        if rest > 0:
            pipe = step.pipe
            if pipe == _MIO:
                reason = LG if step.kind in ("global", "copy", "local") else MIO
            elif pipe is not None and step.cycles > 1:
                reason = MATH
            else:
                reason = NOT_SELECTED
            # A unit that another warp of the sub-partition has just taken: for one cycle that warp was the chosen one.
            row[NOT_SELECTED] += min(rest, 1) if reason in (MATH, MIO) else 0
            row[reason] += rest - min(rest, 1) if reason in (MATH, MIO) else rest

    def _end(self, warp: int, part: int, now: float) -> None:
        self.parts[part].remove(warp)
        block = self.block_of[warp]
        self.left[block] -= 1
        self.ends[block] = max(self.ends[block], now)

    # ---- What happens beyond the pipes ----

    def _effect(self, warp: int, part: int, number: int, step: Step, now: float) -> tuple[float, int] | None:
        kind, of, memory = step.kind, self.of, self.memory
        released = done = now + step.latency
        reason = SHORT
        if kind in ("shared", "global", "copy", "local", "barrier", "mbarrier", "tma", "tcgen05", "tcgen05_commit"):
            access = self.accesses[warp][self.access_at[warp]]
            self.access_at[warp] += 1
            if kind == "barrier":
                return self._barrier(warp, part, number, access, now)
            if access is None:
                released = done = now + 2 if step.pipe != _MIO else memory.simple(part, now)
            elif kind == "shared":
                released, done = memory.shared(part, now, access.wavefronts)
            elif kind == "global" and not access.lines:  # a generic address that lies in shared memory
                released, done = memory.shared(part, now, int(of["generic_wavefronts"]) * access.wavefronts)
                memory.tag_free = max(memory.tag_free, now) + of["generic_tag_cycles"]
                done += of["generic_latency"]
                reason = LONG
            elif kind == "local":
                released, done = memory.local(part, now, warp, access, step.is_load)
                reason = LONG
            elif kind == "copy":
                released, done = memory.copy(part, now, access)
                self.copies_done[warp] = max(self.copies_done[warp], done)
                reason = LONG
            elif kind == "global":
                if step.is_load:
                    released, done = memory.load(part, now, access)
                    reason = LONG
                else:
                    released = done = memory.store(part, now, access)
            elif kind == "mbarrier":
                return self._mbarrier(warp, part, number, step, access, now)
            elif kind == "tcgen05":
                released = self._tcgen05(warp, number, access, now)
            elif kind == "tcgen05_commit":
                released = self._commit(warp, part, access, now)
            else:
                self._tma(warp, number, access, now)
                released = done = now + of["tma_issue_cycles"]
        elif kind == "shuffle":
            released, done = memory.shared(part, now, 1)
            done = max(done, now + step.latency)
        elif kind == "slow" and step.pipe == _MIO:
            done = memory.simple(part, now) + step.latency
        elif kind == "commit":
            done = max(self.copies_done[warp], self.bulk_done[warp], now + 2)
            if step.sets is None:
                self.groups[warp][0].append(done)
            else:
                self.groups[warp][step.sets].append(done)
                if self.boards[warp][step.sets] < done:
                    self.boards[warp][step.sets] = done
                    self.board_reason[warp][step.sets] = LONG
            return None
        elif kind == "wgmma":
            return self._wgmma(warp, part, number, now)
        elif kind == "tmem":
            done, reason = self._read_tensor_memory(part, number, now), LONG
        if step.writes:
            self.pipe_free[part][_TENSOR] += step.writes * self.write_cycles
        if step.sets is not None and done > self.boards[warp][step.sets]:
            self.boards[warp][step.sets] = done
            self.board_reason[warp][step.sets] = reason
        if step.frees is not None and released > self.boards[warp][step.frees]:
            self.boards[warp][step.frees] = released
            self.board_reason[warp][step.frees] = LONG if kind in ("copy", "global", "local") else SHORT
        return None

    def _wgmma(self, warp: int, part: int, number: int, now: float) -> tuple[float, int] | None:
        m, n, k = self.wgmma[number]
        one = self.code[number]
        cycles = 2.0 * m * n * k / wgmma_flop_per_cycle(one, self.of)
        start = max(now, self.tensor_free[part])
        self.tensor_free[part] = start + cycles
        self.busy[_TENSOR] += cycles
        if any(str(source.value) == "gsb0" for source in one.sources):
            self.gmma_groups[warp].append(start + cycles + self.of["wgmma_latency"])
        depth = self.of.values.get("wgmma_queue", 4)
        if start > now + depth * cycles:
            return start - depth * cycles, GMMA
        return None

    def _barrier(
        self, warp: int, part: int, number: int, access: Access | None, now: float
    ) -> tuple[float, int] | None:
        self.memory.simple(part, now)
        if access is None:
            return None
        block = self.block_of[warp]
        key = (block, access.base)
        wanted = access.amount // 32 if access.amount else len(self.warps_of[block]) - self._gone(block)
        free = max(self.barrier_free.get(block, 0.0), now) + self.of["barrier_warp_cycles"]
        self.barrier_free[block] = free
        waiting = self.barriers.setdefault(key, [])
        count = self.barrier_count.get(key, 0) + 1
        arrives_only = "ARV" in self.code[number].modifiers
        if count < wanted:
            self.barrier_count[key] = count
            if arrives_only:
                return None
            waiting.append(warp)
            return NEVER, BARRIER
        released = free + self.of["barrier_latency"]
        self.barrier_count[key] = 0
        self.barriers[key] = []
        for other in waiting:
            self._wake(other, released, BARRIER)
        return None if arrives_only else (released, BARRIER)

    def _gone(self, block: int) -> int:
        return len(self.warps_of[block]) - self.left[block]

    def _wake(self, warp: int, when: float, why: int) -> None:
        self._next(warp, max(when, self.last[warp] + 1), why)
        part = self.part_of[warp]
        soonest = max(self.ready[warp], self.issued_at[part] + 1)
        self.issue_free[part] = min(self.issue_free[part], soonest)
        self._push(soonest, part)
