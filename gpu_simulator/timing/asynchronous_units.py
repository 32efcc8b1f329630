"""mbarriers and TMA of an SM: what arrives without a warp waiting for it, and the warps that wait for what arrives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from gpu_simulator.timing.constants_file import Constants
from gpu_simulator.timing.machine_code import Instruction
from gpu_simulator.timing.memory_path import MemoryPath
from gpu_simulator.timing.pipes import Step
from gpu_simulator.timing.stall_reasons import LONG
from gpu_simulator.timing.tracing import Access

NEVER = math.inf
_RANK = 24  # bits of a shared address below the block's rank in its cluster


@dataclass
class Mbarrier:
    """An mbarrier: arrivals and bytes that its phase still expects, and the warps that wait for a parity."""

    expected: int
    pending: int
    bytes: float = 0
    phase: int = 0
    waiting: list[tuple[int, int]] = field(default_factory=list)  # (warp, parity)


class AsynchronousUnits:
    """The part of `SmModel` that waits for arrivals; the rest of the model gives it its clock and its warps."""

    of: Constants
    memory: MemoryPath
    code: tuple[Instruction, ...]
    cluster: int
    tma_free: float
    block_of: list[int]
    part_of: list[int]
    boards: list[list[float]]
    board_reason: list[list[int]]
    bulk_done: list[float]
    mbarriers: dict[tuple[int, int], Mbarrier]
    _push: Callable[..., None]
    _wake: Callable[..., None]

    def _mbarrier(
        self, warp: int, part: int, number: int, step: Step, access: Access | None, now: float
    ) -> tuple[float, int] | None:
        left = self.memory.simple(part, now)
        if step.frees is not None:
            self.boards[warp][step.frees] = max(self.boards[warp][step.frees], left + 4)
        if step.sets is not None:
            self.boards[warp][step.sets] = max(self.boards[warp][step.sets], left + step.latency)
            self.board_reason[warp][step.sets] = LONG
        if access is None:
            return None
        one = self.code[number]
        key = (self.block_of[warp], access.base & (1 << _RANK) - 1)
        if "EXCH" in one.modifiers:
            count = (1 << 20) - (access.amount >> 1 & (1 << 20) - 1)
            self.mbarriers[key] = Mbarrier(count, count)
            return None
        barrier = self.mbarriers.setdefault(key, Mbarrier(1, 1))
        if "PHASECHK" in one.modifiers:
            parity = access.amount >> 31 & 1
            if barrier.phase & 1 != parity:
                return left + step.latency, LONG
            barrier.waiting.append((warp, parity))
            return NEVER, LONG
        amount = 0 if "A1T0" in one.modifiers else access.amount
        lanes = access.lanes

        def arrive(_: float) -> None:
            barrier.pending -= lanes
            barrier.bytes += amount * lanes
            self._check(barrier, left + 4)

        self._push(left + 4, part, arrive)
        return None

    def _check(self, barrier: Mbarrier, now: float) -> None:
        if barrier.pending > 0 or barrier.bytes > 0:
            return
        barrier.phase += 1
        barrier.pending = barrier.expected
        barrier.bytes = 0
        waiting, barrier.waiting = barrier.waiting, []
        for warp, parity in waiting:
            if barrier.phase & 1 != parity:
                self._wake(warp, now + self.of["mbarrier_latency"], LONG)
            else:
                barrier.waiting.append((warp, parity))

    def _tma(self, warp: int, number: int, access: Access, now: float) -> None:
        one = self.code[number]
        offset = access.lines[0]
        start = max(now, self.tma_free) + self.of["tma_issue_cycles"]
        self.tma_free = start
        if one.op == "UTMASTG":
            self.memory.store_free = (
                max(self.memory.store_free, start) + access.amount / self.of["store_bytes_per_cycle"]
            )
            self.bulk_done[warp] = self.memory.store_free + self.of["tma_store_latency"]
            return
        copies = self.cluster if "MULTICAST" in one.modifiers else 1
        amount = access.amount * copies
        done = self.memory.bulk(start, amount, offset)
        barrier = self.mbarriers.setdefault((self.block_of[warp], access.base & (1 << _RANK) - 1), Mbarrier(1, 1))

        def arrived(when: float) -> None:
            barrier.bytes -= amount
            self._check(barrier, when)

        self._push(done, self.part_of[warp], arrived)
