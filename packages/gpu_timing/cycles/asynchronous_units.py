"""mbarriers, TMA and tcgen05 of an SM: what arrives without a warp waiting for it, and the warps that wait for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from gpu_timing.cycles.constants_file import Constants
from gpu_timing.cycles.integer_ops import TOKEN
from gpu_timing.cycles.machine_code import Instruction
from gpu_timing.cycles.memory_path import MemoryPath
from gpu_timing.cycles.pipes import PIPES, Step, tcgen05_shape
from gpu_timing.cycles.stall_reasons import LONG
from gpu_timing.cycles.tracing import Access

NEVER = math.inf
_TENSOR = PIPES.index("tensor")
_RANK = 24  # bits of a shared address below the block's rank in its cluster
_RESERVED = 1024  # bytes of shared memory that belong to the system


@dataclass
class Mbarrier:
    """An mbarrier: arrivals and bytes that its phase still expects, and the warps that wait for a parity."""

    expected: int
    pending: int
    bytes: float = 0
    phase: int = 0
    waiting: list[tuple[int, int]] = field(default_factory=list)  # (warp, parity)
    arrived: dict[int, int] = field(default_factory=dict)  # of each warp, the phase in which it arrived last


class AsynchronousUnits:
    """The part of `SmModel` that waits for arrivals; the rest of the model gives it its clock and its warps."""

    of: Constants
    memory: MemoryPath
    code: tuple[Instruction, ...]
    cluster: int
    pairs: bool  # tcgen05.mma of two blocks
    tma_free: float
    products_free: float
    products_done: list[float]
    tmem_free: list[float]
    busy: list[float]
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
        key = self._place(warp, access)
        if "EXCH" in one.modifiers:
            count = (1 << 20) - (access.amount >> 1 & (1 << 20) - 1)
            self.mbarriers[key] = Mbarrier(count, count)
            return None
        if key[1] < _RESERVED:  # two blocks agree on an allocation of tensor memory
            return (left + self.of["cluster_barrier_latency"], LONG) if "PHASECHK" in one.modifiers else None
        barrier = self.mbarriers.setdefault(key, Mbarrier(1, 1))
        if "PHASECHK" in one.modifiers:
            token = access.amount & TOKEN
            parity = (barrier.arrived.get(warp, barrier.phase) if token else access.amount >> 31) & 1
            if barrier.phase & 1 != parity:
                return left + step.latency, LONG
            barrier.waiting.append((warp, parity))
            return NEVER, LONG
        # The word is a number of arrivals (ART0) or of bytes to come (A1TR); A1T0 has none.
        count, amount = (access.amount, 0) if "ART0" in one.modifiers else (1, access.amount)
        amount = 0 if "A1T0" in one.modifiers else amount
        # Both blocks of a pair arrive at the first one's barriers; the second is not stepped through.
        lanes = access.lanes * (2 if "RED" in one.modifiers and self.pairs else 1)
        self._arrival(key, left + 4, part, lanes * count, -amount * lanes, warp)
        return None

    def _place(self, warp: int, access: Access) -> tuple[int, int]:
        """Block and shared address of the mbarrier that an instruction names."""
        return self.block_of[warp], access.base & (1 << _RANK) - 1

    def _arrival(
        self, key: tuple[int, int], when: float, part: int, count: int = 0, amount: float = 0, warp: int = -1
    ) -> None:
        """Let so many arrivals and so many bytes reach an mbarrier at `when`."""
        barrier = self.mbarriers.setdefault(key, Mbarrier(1, 1))

        def arrive(now: float) -> None:
            barrier.arrived[warp] = barrier.phase
            barrier.pending -= count
            barrier.bytes -= amount
            self._check(barrier, now)

        self._push(when, part, arrive)

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
        start = max(now, self.tma_free) + self.of["tma_issue_cycles"]
        self.tma_free = start
        if one.op == "UTMASTG":
            self.memory.store_free = (
                max(self.memory.store_free, start) + access.amount / self.of["store_bytes_per_cycle"]
            )
            self.bulk_done[warp] = self.memory.store_free + self.of["tma_store_latency"]
            return
        shares = self.cluster if "MULTICAST" in one.modifiers or "2CTA" in one.modifiers else 1
        amount = access.amount * shares  # that the barrier counts: the other blocks copy as much as this one
        done = self.memory.bulk(start, access.amount if "2CTA" in one.modifiers else amount)
        self._arrival(self._place(warp, access), done, self.part_of[warp], amount=amount)

    # ---- tcgen05 ----

    def _tcgen05(self, warp: int, number: int, access: Access, now: float) -> float:
        """A product of one or two blocks, asynchronous. Returns when its descriptors are read.

        The tensor core of an SM multiplies the block's rows of A by all of B. It reads A and its share of B from
        shared memory, 32 bytes of each row, and waits for these bytes if there are few columns.
        """
        m, n, blocks = tcgen05_shape(self.code[number], access.amount)
        operands = 32 * (m + n) / blocks
        cycles = max(
            2.0 * (m / blocks) * n * 16 / self.of["tcgen05_flop_per_cycle"],  # as long for 8 and 32 bits: 32 bytes
            operands / self.of["tcgen05_operand_bytes_per_cycle"],
        )
        self.products_free = max(self.products_free, now) + cycles
        self.busy[_TENSOR] += 4 * cycles  # of all sub-partitions
        latency = self.of["tcgen05_pair_latency" if blocks > 1 else "tcgen05_latency"]
        self.products_done[warp] = self.products_free + latency
        return now + self.of["tma_issue_cycles"]

    def _commit(self, warp: int, part: int, access: Access, now: float) -> float:
        """tcgen05.commit: an mbarrier gets an arrival when the warp's products are done."""
        self._arrival(self._place(warp, access), max(self.products_done[warp], now), part, count=1)
        return now + self.of["tma_issue_cycles"]

    def _read_tensor_memory(self, part: int, number: int, now: float) -> float:
        """tcgen05.ld: a sub-partition reads its lanes of tensor memory. Returns when the registers are written."""
        amount = self.code[number].width * 128
        self.tmem_free[part] = max(self.tmem_free[part], now) + amount / self.of["tmem_bytes_per_cycle"]
        return self.tmem_free[part] + self.of["tmem_latency"]
