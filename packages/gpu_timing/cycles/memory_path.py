"""The way of a memory request: a queue for each sub-partition, the units that an SM shares, L1, and the port to L2.

Every unit keeps the time at which it is free again; a request that comes earlier waits. Nothing here has a clock of its
own: `SmModel` calls in the order of time.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass

from gpu_timing.cycles.constants_file import Constants
from gpu_timing.cycles.tracing import Access

LINE = 128
DRAM_BYTES = 64  # that a request to DRAM brings to L2


@dataclass(frozen=True)
class Beyond:
    """What lies behind an SM's port.

    latency: cycles until a request comes back.   local: of a thread's stack: bytes a cycle, and cycles until a request
    comes back.   cold: further cycles of a request of bytes that this SM has not asked for before, while nothing is in
    L2.
    """

    latency: float
    local: tuple[float, float]
    cold: float = 0.0


class MemoryPath:
    """The memory units of one SM."""

    def __init__(self, of: Constants, beyond: Beyond, l1_bytes: float) -> None:
        self.of, self.beyond = of, beyond
        self.queues: list[deque[float]] = [deque() for _ in range(4)]
        self.depth = int(of["queue_depth"])
        self.dispatched = [0.0] * 4
        self.data_free = 0.0  # the stage that moves wavefronts between banks and registers
        self.tag_free = 0.0  # the stage that looks up lines
        self.port_free = 0.0
        self.store_free = 0.0
        self.l1: OrderedDict[int, float] = OrderedDict()  # line: when it is there
        self.l1_lines = int(l1_bytes) // LINE
        self.touched: dict[int, int] = {}  # bytes of a line that were asked for, while nothing is in L2
        self.flying: deque[tuple[float, float]] = deque()  # arrival and bytes of loads that miss L1
        self.bytes_flying, self.most_flying = 0.0, of["load_bytes_in_flight"]
        self.busy_data = self.busy_tag = self.busy_port = 0.0
        self.hits = self.misses = 0
        self.queue_latency, self.queue_cycles = of["queue_latency"], of["queue_cycles"]
        self.wavefront_cycles, self.line_cycles = of["wavefront_cycles"], of["line_cycles"]
        self.load_rate, self.copy_rate = of["load_bytes_per_cycle"], of["copy_bytes_per_cycle"]
        self.shared_latency, self.slope = of["shared_latency"], of["shared_wavefront_latency"]

    def room_at(self, part: int, now: float) -> float:
        """When the queue of a sub-partition has room for another instruction."""
        queue = self.queues[part]
        while queue and queue[0] <= now:
            queue.popleft()
        return now if len(queue) < self.depth else queue[len(queue) - self.depth]

    def _leave(self, part: int, now: float, free: float) -> float:
        start = max(now + self.queue_latency, self.dispatched[part] + self.queue_cycles, free)
        self.dispatched[part] = start
        self.queues[part].append(start)
        return start

    def _look_up(self, start: float, cycles: float) -> None:
        """The stage of the lines is taken from `start` on."""
        self.tag_free = start + cycles
        self.busy_tag += cycles

    def _trim(self) -> None:
        """Drop the lines of L1 that were used longest ago."""
        while len(self.l1) > self.l1_lines:
            self.l1.popitem(last=False)

    def _buffer(self, start: float, amount: float) -> None:
        """Bytes that leave L1 for L2; if more wait than the buffer holds, the stage of the lines waits with them."""
        self.store_free = max(self.store_free, start) + amount / self.of["store_bytes_per_cycle"]
        full = self.store_free - self.of["store_queue_cycles"]
        if full > start:
            self.tag_free = max(self.tag_free, full)

    def simple(self, part: int, now: float) -> float:
        """An instruction that only passes the queue. Returns when it leaves."""
        return self._leave(part, now, 0.0)

    def shared(self, part: int, now: float, wavefronts: int) -> tuple[float, float]:
        """LDS, STS, LDSM. Returns when the sources are read, and when the result is there."""
        start = self._leave(part, now, self.data_free)
        taken = max(wavefronts, 1) * self.wavefront_cycles
        self.data_free = start + taken
        self.busy_data += taken
        done = start - self.queue_latency + self.shared_latency + self.slope * max(wavefronts - 1, 0)
        return start + taken, max(done, start + taken + self.shared_latency / 2)

    def load(self, part: int, now: float, access: Access) -> tuple[float, float]:
        """LDG. Returns when the addresses are read, and when all of the result is there."""
        start = self._leave(part, now, self.tag_free)
        lines = max(len(access.lines), 1)
        data = max(access.amount / LINE, 1) * self.wavefront_cycles
        self._look_up(start, max(lines * self.line_cycles, data))
        self.data_free = max(self.data_free, start) + data
        self.busy_data += data
        missing = 0
        ready = self.tag_free
        for line in access.lines:
            number = access.base + line
            there = self.l1.get(number)
            if there is None:
                missing += 1
            else:
                self.l1.move_to_end(number)
                ready = max(ready, there)
        self.hits += lines - missing
        self.misses += missing
        if missing:
            amount = fetched = access.sectors * 32 * missing / lines
            if access.sectors < 2 * lines:  # single sectors of many lines
                amount = max(amount, missing * self.of["lone_sector_bytes"])
            arrived = self._from_l2(self._room_from(fetched), amount, access, self.load_rate)
            self.flying.append((arrived, fetched))
            ready = max(ready, arrived)
            for line in access.lines:
                self.l1.setdefault(access.base + line, ready)
            self._trim()
        released = start + self.of["load_release_latency"] + self.of["load_release_line_cycles"] * lines
        return released, ready + self.of["l1_latency"] + self.slope * (access.amount / LINE - 1)

    def _room_from(self, amount: float) -> float:
        """When L1 has room for the lines of a load that misses: so many may be on their way."""
        start = self.tag_free
        self.bytes_flying += amount
        while self.flying and (self.flying[0][0] <= start or self.bytes_flying > self.most_flying):
            arrived, fewer = self.flying.popleft()
            start = max(start, arrived)
            self.bytes_flying -= fewer
        return start

    def local(self, part: int, now: float, warp: int, access: Access, loads: bool) -> tuple[float, float]:
        """LDL and STL: each word of the stack is a line of a warp. L1 keeps lines, and writes through to L2.

        The bytes that are read and those that are written share the way to L2, because no two SMs share a line.
        """
        start = self._leave(part, now, self.tag_free)
        words = max(access.amount // LINE, 1)
        self._look_up(start, words)
        self.data_free = max(self.data_free, start) + words
        self.busy_data += words
        ready = self.tag_free
        rate, latency = self.beyond.local
        for word in range(words):
            number = -1 - (warp << 20 | (access.base + word) % (1 << 20))  # no array has negative lines
            if number in self.l1:
                ready = max(ready, self.l1[number])
                self.l1.move_to_end(number)
            elif loads:
                ready = max(ready, self._through_port(self.tag_free, LINE, rate) + latency)
                self.misses += 1
            self.l1[number] = ready
        self._trim()
        if not loads:
            done = self._through_port(start, words * LINE, min(rate, self.of["store_bytes_per_cycle"]))
            self.tag_free = max(self.tag_free, done - self.of["store_queue_cycles"])
        return start + words, ready + self.of["l1_latency"]

    def copy(self, part: int, now: float, access: Access) -> tuple[float, float]:
        """LDGSTS. Returns when its addresses are free, and when the bytes are in shared memory."""
        start = self._leave(part, now, self.tag_free)
        lines = max(len(access.lines), access.sectors / 4, 1)
        self._look_up(start, lines * self.line_cycles)
        self.data_free = max(self.data_free, start) + access.wavefronts
        self.busy_data += access.wavefronts
        done = self._from_l2(self.tag_free, access.sectors * 32, access, self.copy_rate)
        return start + self.of["copy_release_latency"], done + 18

    def store(self, part: int, now: float, access: Access) -> float:
        """STG. Returns when its registers are read."""
        start = self._leave(part, now, self.tag_free)
        lines = max(len(access.lines), 1)
        self._look_up(start, lines * self.line_cycles)
        self._buffer(start, access.sectors * 32)
        return start + lines * self.line_cycles

    def bulk(self, now: float, amount: float) -> float:
        """A copy of TMA. Returns when all its bytes are in shared memory."""
        done = self._through_port(now, amount, self.of["tma_bytes_per_cycle"])
        return done + self.beyond.latency + self.beyond.cold + self.of["tma_latency"]

    def _from_l2(self, now: float, amount: float, access: Access, rate: float) -> float:
        latency = self.beyond.latency + (self.beyond.cold if self.beyond.cold and self._is_new(access) else 0.0)
        return self._through_port(now, amount, rate) + latency - self.of["l1_latency"]

    def _is_new(self, access: Access) -> bool:
        """Whether DRAM has to be asked: it delivers 64 bytes, so the other half of them is in L2 the next time."""
        new = False
        for line in access.lines:
            before = self.touched.get(access.base + line, 0)
            new = new or (before < LINE and before % DRAM_BYTES == 0)
            self.touched[access.base + line] = before + 32 * access.sectors // len(access.lines)
        return new

    def _through_port(self, now: float, amount: float, rate: float) -> float:
        """When the last of some bytes has passed between L1 and L2."""
        taken = amount / rate
        self.port_free = max(now, self.port_free) + taken
        self.busy_port += taken
        return self.port_free
