"""Schedules a trace in logical time: every unit works at a stated rate, and a wait ends when its event has happened.

A unit of time is one clock of a multiprocessor (SM) whose tensor cores run at the data sheet's peak. Bytes arrive at
most as fast as shared memory can be written; L2 and DRAM are assumed to keep up. Latencies are round numbers of the
right order of magnitude, not measurements. Address arithmetic, `ldmatrix` and branches cost nothing. A timeline
therefore shows the *order* of events and the gaps that follow from it; its length does not predict a speed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.data_sheets import Gpu
from gpu_timing.logical.pipeline_timeline import Event, Timeline
from gpu_timing.logical.trace import COPIES, LOAD, STORES, TCGEN05, WAIT, Step, Trace

# Dense FLOP of one SM per clock, for 16-bit inputs and FP32 accumulators: the data sheet's peak ÷ SMs ÷ the clock for
# which the peak is given. The B200's clock is not published; with 8,192, its 2,250 TFLOPS mean 1.86 GHz. GeForce GPUs
# run at half rate with FP32 accumulators.
FLOP_PER_CLOCK = {"t4": 1024, "a100": 2048, "rtx5090": 512, "h100": 4096, "h200": 4096, "b200": 8192}
SUBCORES = 4  # tensor cores of an SM; warp w uses number w mod 4


@dataclass(frozen=True)
class Costs:
    """The model's assumptions. Rates are per SM and unit of time; the other values are in units of time.

    flop: of the tensor cores.   load_bytes: into shared memory.   store_bytes: out of the SM.
    tmem_bytes: out of tensor memory; each of its 128 lanes delivers one word per unit.
    load_latency: from the request to the first byte.   mma_latency: from the last product to the signal.
    signal: from the end of a phase until a waiting warp continues.   issue: a warp's time to issue one request.
    """

    flop: float
    load_bytes: float = 128.0
    store_bytes: float = 128.0
    tmem_bytes: float = 512.0
    load_latency: float = 600.0
    mma_latency: float = 128.0
    signal: float = 64.0
    issue: float = 16.0

    @classmethod
    def of(cls, gpu: Gpu, **changes: float) -> Costs:
        """The rates of a GPU, from its data sheet; `changes` replace any field.

        Raises `SimulatorError` for a rate that is not positive or a time below 0.
        """
        width = float(gpu.smem_bytes_per_clock)
        made = replace(cls(float(FLOP_PER_CLOCK[gpu.key]), width, width), **changes)
        for name in made.__dataclass_fields__:
            value, rate = getattr(made, name), name in ("flop", "load_bytes", "store_bytes", "tmem_bytes")
            if value < 0 or (rate and value == 0):
                raise SimulatorError(f"{name} is {value:g}; it must be {'more than' if rate else 'at least'} 0.")
        return made

    def words(self) -> str:
        return (
            f"{self.flop:,.0f} FLOP and {self.load_bytes:g} bytes of a load a unit, {self.load_latency:g} units "
            f"until its first byte, {self.mma_latency:g} + {self.signal:g} until a warp hears of finished "
            "products."
        )


class _Warp:
    def __init__(self, key, agent: str, steps: list[Step]):
        self.key, self.agent, self.steps, self.at, self.clock = key, agent, steps, 0, 0.0
        self.open: dict[str, float] = {}  # unit -> end of the operations issued since the last commit
        self.groups: dict[str, list[float]] = {}  # unit -> end of each committed group
        self.last: dict[str, float] = {}  # unit -> end of all operations issued so far
        self.tile: int | None = None


class _Placing:
    def __init__(self, trace: Trace, costs: Costs):
        self.trace, self.costs = trace, costs
        self.left, self.over = trace.signals(), {}
        self.tile_of: dict[tuple, int] = {}  # signal -> the tile whose work it completes
        self.free: dict[tuple, float] = {}
        self.events: list[Event] = []
        many = len(trace.blocks) > 1
        self.prefix = {block: f"block {block} · " if many else "" for block in trace.blocks}
        self.warps = [
            _Warp(key, f"{self.prefix[key[0]]}warp {key[1]} · {trace.role(*key)}", steps)
            for key, steps in sorted(trace.steps.items())
        ]

    # ---- Order ----

    def run(self) -> list[Event]:
        while True:
            ready = [(self.when(warp), number) for number, warp in enumerate(self.warps) if warp.at < len(warp.steps)]
            if not ready:
                return self.events
            time, number = min(ready)
            if time == float("inf"):
                raise SimulatorError(
                    "The trace ends in a deadlock: "
                    + "; ".join(
                        f"{warp.agent} waits for {warp.steps[warp.at].signal}"
                        for warp in self.warps
                        if warp.at < len(warp.steps)
                    )
                    + "."
                )
            warp = self.warps[number]
            step = warp.steps[warp.at]
            warp.at += 1
            getattr(self, f"do_{step.what}")(warp, step)

    def when(self, warp: _Warp) -> float:
        """The time at which a warp's next step can begin; infinite while a signal that it waits for is incomplete."""
        step = warp.steps[warp.at]
        if step.what != WAIT or self.left.get(step.signal) is None:
            return warp.clock  # no step of the trace counts for this phase, so it completed earlier
        if self.left[step.signal] > 0:
            return float("inf")
        return max(warp.clock, self.over[step.signal])

    def count(self, signal: tuple, time: float, tile: int | None = None) -> None:
        self.left[signal] -= 1
        self.over[signal] = max(self.over.get(signal, 0.0), time)
        if tile is not None:
            self.tile_of[signal] = max(tile, self.tile_of.get(signal, 0))

    def event(self, agent, kind, step: Step, start, end, tile=None) -> None:
        if end > start:
            self.events.append(Event(agent, kind, step.stage, step.tile if tile is None else tile, start, end))

    def occupy(self, blocks, unit: str, ready: float, length: float) -> tuple[float, float]:
        """Reserve a unit in the SMs of all these blocks for `length`, from `ready` on: (start, end)."""
        start = max([ready, *(self.free.get((block, unit), 0.0) for block in blocks)])
        self.free |= {(block, unit): start + length for block in blocks}
        return start, start + length

    def issue(self, warp: _Warp, step: Step) -> None:
        self.event(warp.agent, "issue", step, warp.clock, warp.clock + self.costs.issue)
        warp.clock += self.costs.issue

    # ---- Steps ----

    def do_load(self, warp: _Warp, step: Step) -> None:
        if not step.more:
            self.issue(warp, step)
        (block,) = step.blocks or warp.key[:1]
        start, end = self.occupy(
            [block], "TMA", warp.clock + self.costs.load_latency, step.amount / self.costs.load_bytes
        )
        self.event(f"{self.prefix[block]}TMA", "load", step, start, end)
        self.count(step.signal, end)

    def do_async(self, warp: _Warp, step: Step) -> None:
        costs, block = self.costs, warp.key[0]
        self.issue(warp, step)
        prefix = self.prefix[block]
        if step.unit == COPIES:
            start, end = self.occupy([block], COPIES, warp.clock + costs.load_latency, step.amount / costs.load_bytes)
            self.event(f"{prefix}cp.async", "copy", step, start, end)
        elif step.unit == STORES:
            start, end = self.occupy([block], "out", warp.clock, step.amount / costs.store_bytes)
            self.event(f"{prefix}TMA store", "store", step, start, end, warp.tile)
        elif step.unit == TCGEN05:
            together = step.blocks or (block,)
            start, end = self.occupy(together, "tensor core", warp.clock, step.amount / costs.flop)
            for each in together:
                self.event(f"{self.prefix[each]}tensor core", "mma", step, start, end)
            end += costs.mma_latency
        else:
            start, end = self.subcore(warp, step)
            end += costs.mma_latency
        if step.unit != STORES:
            warp.tile = step.tile if step.tile is not None else warp.tile
        warp.open[step.unit] = max(warp.open.get(step.unit, 0.0), end)
        warp.last[step.unit] = max(warp.last.get(step.unit, 0.0), end)

    def do_commit(self, warp: _Warp, step: Step) -> None:
        if step.signal is not None:
            self.count(step.signal, max(warp.last.get(step.unit, 0.0), warp.clock), warp.tile)
        else:
            warp.groups.setdefault(step.unit, []).append(warp.open.pop(step.unit, 0.0))

    def do_drain(self, warp: _Warp, step: Step) -> None:
        groups = warp.groups.get(step.unit, [])
        ends = groups[: len(groups) - step.newest] if step.newest else groups
        self.sleep(warp, step, max(ends, default=0.0))

    def do_mma(self, warp: _Warp, step: Step) -> None:
        start, end = self.subcore(warp, step)
        self.event(warp.agent, "issue", step, start, end)
        warp.clock, warp.tile = end, step.tile

    def subcore(self, warp: _Warp, step: Step) -> tuple[float, float]:
        """Run a product on the warp's tensor core, number (warp mod 4) of its SM: (start, end)."""
        block, number = warp.key
        start, end = self.occupy(
            [block], f"tensor core {number % SUBCORES}", warp.clock, step.amount / (self.costs.flop / SUBCORES)
        )
        self.event(f"{self.prefix[block]}tensor core {number % SUBCORES}", "mma", step, start, end)
        return start, end

    def do_epilogue(self, warp: _Warp, step: Step) -> None:
        costs = self.costs
        if step.unit == "tensor memory":
            start, end = warp.clock, warp.clock + step.amount / (costs.tmem_bytes / SUBCORES)
        else:
            start, end = self.occupy(warp.key[:1], "out", warp.clock, step.amount / costs.store_bytes)
        self.event(warp.agent, "epilogue", step, start, end, warp.tile)
        warp.clock = end

    def do_arrive(self, warp: _Warp, step: Step) -> None:
        self.count(step.signal, warp.clock, warp.tile)

    def do_wait(self, warp: _Warp, step: Step) -> None:
        if step.signal in self.over:
            self.sleep(warp, step, self.over[step.signal])
            warp.tile = self.tile_of.get(step.signal, warp.tile)

    def sleep(self, warp: _Warp, step: Step, until: float) -> None:
        """Let a warp wait until `until` and then for `costs.signal`; nothing if that time has passed already."""
        if until > warp.clock:
            self.event(warp.agent, "wait", step, warp.clock, until + self.costs.signal)
            warp.clock = until + self.costs.signal


def place(trace: Trace, costs: Costs) -> Timeline:
    """The trace as a timeline in logical time, events by start. Raises `SimulatorError` for a trace with a deadlock."""
    events = _Placing(_with_tiles(trace), costs).run()
    return Timeline(
        tuple(sorted(events, key=lambda e: (e.start, e.end))), stages=trace.stages, title=trace.name, note=costs.words()
    )


def _with_tiles(trace: Trace) -> Trace:
    """The trace with each load assigned to the output tile whose products use its data."""
    steps = [step for steps in trace.steps.values() for step in steps]
    tiles = {(step.stage, step.turn): step.tile for step in steps if step.turn is not None and step.tile is not None}

    def named(step: Step) -> Step:
        return step._replace(tile=tiles.get((step.stage, step.turn))) if step.what == LOAD else step

    return replace(trace, steps={key: [named(step) for step in steps] for key, steps in trace.steps.items()})
