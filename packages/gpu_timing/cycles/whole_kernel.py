"""Predicts the cycles of a whole kernel: the blocks of one SM for a short product, continued to the whole one.

The blocks that are resident together on an SM are traced and stepped through for two lengths of K. The difference gives
the cycles of a turn of the main loop, and so the time for any K. A grid then runs in waves: full ones, and a last one
with as few blocks an SM as are left. A kernel whose path is short enough is stepped through whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from gpu_simulator.errors import WITHOUT_MACHINE_CODE, NotHere, SimulatorError
from gpu_simulator.hardware import data_sheets
from gpu_timing.cycles.constants_file import Constants, constants
from gpu_timing.cycles.machine_code import Instruction
from gpu_timing.cycles.memory_path import LINE, Beyond
from gpu_timing.cycles.pipes import TCGEN05_KINDS, WGMMA_KINDS, flop_per_cycle
from gpu_timing.cycles.recording import RecordedSm, Recording
from gpu_timing.cycles.sm import REASONS, SmModel, SmResult
from gpu_timing.cycles.tracing import Launch, Trace, trace
from gpu_timing.cycles.waiting_lines import waiting_lines
from gpu_timing.occupancy import occupancy

BUDGET = 120_000  # warp instructions of the blocks of an SM that are stepped through
MOST = 250_000  # of the same, where BUDGET is too few for the shortest run that shows a steady state
MOST_WAVES = 8  # of a grid whose first wave matters

Model = TypeVar("Model", bound=SmModel)


@dataclass(frozen=True)
class Prediction:
    """A predicted run. It is no measurement.

    gpu: key of the GPU.   cycles: of the whole kernel, as Nsight Compute counts elapsed cycles.   clock_mhz: the clock
    that is assumed.   blocks_per_sm: resident blocks.   waves: of the grid.   stalls: warp cycles of each instruction
    (rows) and reason (columns, `REASONS`) in the part of the run that repeats.   busy: share of the cycles in which a
    pipe or a memory stage works.   assumed: what was taken for granted, in sentences.
    """

    gpu: str
    arch: str
    cycles: float
    clock_mhz: float
    blocks_per_sm: int
    waves: float
    stalls: np.ndarray
    busy: dict[str, float]
    code: tuple[Instruction, ...]
    unknown: frozenset[str]
    assumed: frozenset[str] = frozenset()

    @property
    def seconds(self) -> float:
        """The predicted time."""
        return self.cycles / (self.clock_mhz * 1e6)

    @cached_property
    def reasons(self) -> dict[str, float]:
        """Warp cycles for each issued instruction, by reason, the largest first; 1 of them is the issue itself."""
        total = self.stalls.sum(0) / max(self.stalls[:, 0].sum(), 1)
        order = np.argsort(-total)
        return {REASONS[i]: float(total[i]) for i in order if total[i] > 0.005}

    @property
    def top_reason(self) -> str:
        """What a warp waits for most."""
        return next((name for name in self.reasons if name not in ("selected", "not_selected")), "selected")

    @property
    def binding(self) -> tuple[str, float]:
        """The unit that is busy for the largest share of the cycles, and the share."""
        name = max(self.busy, key=self.busy.__getitem__)
        return name, self.busy[name]

    def by_line(self, file: str) -> dict[int, dict[str, float]]:
        """Share of all warp cycles of each source line of `file`, by reason."""
        total = self.stalls.sum() or 1.0
        lines: dict[int, dict[str, float]] = {}
        for line, stalls in zip(waiting_lines(self.code), self.stalls, strict=True):
            if line.file == file:
                row = lines.setdefault(line.line, {})
                for name, cycles in zip(REASONS, stalls, strict=True):
                    if cycles:
                        row[name] = row.get(name, 0.0) + cycles / total
        return lines


@dataclass(frozen=True)
class Product:
    """The launch of an M × N × K product, and of shorter ones that stand for it.

    launch: gives the `Launch` for another M and K, multiples of `m_step` and `k_step`.   row_tiles: tiles of D side by
    side along N.   sms: number of SMs that the grid was made for.   flop: operations that count as the product's.
    """

    launch: Callable[[int, int], Launch]
    m: int
    k: int
    m_step: int
    k_step: int
    row_tiles: int
    sms: int
    flop: float = 0.0

    def tiles(self, m: int) -> int:
        """Tiles of D with `m` rows."""
        return -(-m // self.m_step) * self.row_tiles


def predict(compiled: Any, gpu: str, product: Product) -> Prediction:
    """Predict the run of a compiled kernel on `gpu`, a key such as "t4".

    Raises `SimulatorError` for a GPU without constants, a kernel that does not fit onto an SM, a path that data decide,
    and a result above the peak of the kernel's instructions; `NotHere` for a kernel without machine code.
    """
    return _run(compiled, gpu, product).result()


def record(compiled: Any, gpu: str, product: Product) -> Recording:
    """What each warp and unit of an SM does in a predicted run with the product's M and N, and a K that may be shorter.

    Of a block that makes many tiles of D, the run has four. Raises what `predict` raises.
    """
    return _run(compiled, gpu, product).recording()


def _run(compiled: Any, gpu: str, product: Product) -> _Run:
    of, sheet = constants(gpu), data_sheets.gpu(gpu)
    if not compiled.cubin or not compiled.registers:
        raise NotHere(f"There is no prediction: {WITHOUT_MACHINE_CODE}")
    return _Run(compiled, of, sheet, product)


class _Run:
    def __init__(self, compiled: Any, of: Constants, sheet: data_sheets.Gpu, product: Product) -> None:
        self.compiled, self.of, self.sheet, self.product = compiled, of, sheet, product
        whole = product.launch(product.m, product.k)
        self.blocks = whole.grid[0] * whole.grid[1] * whole.grid[2]
        self.cluster = whole.cluster[0] * whole.cluster[1] * whole.cluster[2]
        most = occupancy(sheet, compiled.threads, compiled.registers, compiled.smem).blocks
        if not most:
            raise SimulatorError(f"A block of this kernel does not fit onto an SM of the {sheet.name}.")
        self.resident = max(min(most, -(-self.blocks // product.sms)), 1)
        tiles = product.tiles(product.m)
        self.turns = -(-tiles // self.blocks) if self.blocks < tiles else 1  # tiles of D that a block makes
        self.traced: dict[tuple[int, int, int], Trace] = {}
        self.stepped: dict[tuple[int, int, int, bool], SmResult] = {}
        self.loaded = of["l2_latency"] + of["first_touch_share"] * (of["dram_latency"] - of["l2_latency"])

    def result(self) -> Prediction:
        product = self.product
        first: SmResult | None = None
        if self.turns > 1:
            cycles, first, second = self._persistent()
        else:
            short, long = self._lengths(product.m)
            cycles, first, second = self._wave(self.resident, product.m, short, long)
            full, rest = divmod(self.blocks, self.resident * product.sms)
            last = -(-rest // product.sms)
            ending = 0.0
            if full and rest:
                ending = cycles if last == self.resident else self._wave(last, product.m, short, long)[0]
            cycles = cycles * max(full, 1) + ending
        cycles += self._cold_start() + self.of["launch_cycles"]
        span = second.cycles - (first.cycles if first else 0.0)
        code = self._decoded()
        self._require_below_peak(code, cycles)
        ops = {one.op for one in code}
        kind = "wgmma" if ops & {*WGMMA_KINDS, *TCGEN05_KINDS} else "mma" if ops & {"HMMA", "IMMA", "QMMA"} else "fp32"
        return Prediction(
            self.of.gpu,
            self.compiled.arch,
            cycles,
            self.of[f"clock_{kind}_mhz"],
            self.resident,
            self.blocks / (self.resident * product.sms),
            second.stalls - first.stalls if first else second.stalls,
            _busy(first, second, max(span, 1.0)),
            code,
            frozenset().union(*(one.unknown for one in self.traced.values())),
            frozenset().union(*(one.assumed for one in self.traced.values())),
        )

    def _require_below_peak(self, code: tuple[Instruction, ...], cycles: float) -> None:
        """Raise `SimulatorError` for cycles in which the kernel's instructions cannot do the product's operations."""
        least = self.product.flop / flop_per_cycle(code, self.of) / self.sheet.sms
        if cycles < least:
            raise SimulatorError(
                f"There is no prediction: the time model ends after {cycles:,.0f} cycles, but the instructions of this "
                f"kernel need {least:,.0f} for so many products. So the model leaves out a part of the kernel."
            )

    def _decoded(self) -> tuple[Instruction, ...]:
        return next(iter(self.traced.values())).code

    def _persistent(self) -> tuple[float, SmResult | None, SmResult]:
        """A block that makes several tiles of D: a few of them in full, then as many as there are."""
        product = self.product

        def turns_of(m: int) -> int:
            return -(-product.tiles(m) // self.blocks)

        few, many = self._rows(2), self._rows(4)
        short, long = self._lengths(few, 2)
        if long >= product.k and self._issued(product.m, product.k) <= BUDGET:
            one = self._step(self.resident, product.m, product.k)
            return one.cycles, None, one
        if turns_of(many) >= self.turns:
            return self._wave(self.resident, product.m, short, long)
        first, second = self._step(self.resident, few, long), self._step(self.resident, many, long)
        a_tile = (second.cycles - first.cycles) / (turns_of(many) - turns_of(few))
        cycles = second.cycles + a_tile * (self.turns - turns_of(many))
        if long < product.k:
            shorter = self._step(self.resident, many, short)
            slope = (second.cycles - shorter.cycles) / (long - short) / turns_of(many)
            cycles += slope * (product.k - long) * self.turns
        return cycles, first, second

    def _cold_start(self) -> float:
        """Cycles by which the first tiles of the SMs take longer, because nothing is in L2 yet."""
        product = self.product
        if self.turns > MOST_WAVES or self.blocks > MOST_WAVES * self.resident * product.sms:
            return 0.0
        m = product.m
        if self.turns > 1:
            m = -(-self.blocks // product.row_tiles) * product.m_step
        short, long = self._lengths(m)
        warm = self._wave(self.resident, m, short, long)[0]
        return self._wave(self.resident, m, short, long, cold=True)[0] - warm

    def _rows(self, turns: int) -> int:
        """M of a product of which a block makes this many tiles."""
        return -(-turns * self.blocks // self.product.row_tiles) * self.product.m_step

    def _issued(self, m: int, k: int) -> float:
        return self._trace(0, m, k).issued * self.resident

    def _lengths(self, m: int, share: int = 1) -> tuple[int, int]:
        """Two lengths of K to step through; equal if the whole product is short enough."""
        step = self.product.k_step
        steps = self.product.k / step
        few = min(4, max(int(steps), 1))
        fewer = max(few // 2, 1)
        long, short = self._trace(0, m, few * step).issued, self._trace(0, m, fewer * step).issued
        per_step = max((long - short) / max(few - fewer, 1), 1.0)
        fixed = max(long - per_step * few, 0.0)
        affordable = int((BUDGET / share / self.resident - fixed) / per_step)
        if affordable >= steps:
            return self.product.k, self.product.k
        # Six steps of K show the steady state; of very long ones two do, since a pipeline fills within one.
        fewest = 6 if (fixed + 6 * per_step) * self.resident <= MOST else 2
        if (issued := (fixed + min(fewest, steps) * per_step) * self.resident) > MOST:
            raise SimulatorError(
                f"There is no prediction: {min(fewest, int(steps))} of the {steps:,.0f} steps of K are {issued:,.0f} "
                f"instructions of an SM's warps, and the time model steps through {MOST:,} at most. With shorter loops "
                "or less unrolling there is one."
            )
        most = min(max(affordable, fewest), int(steps))
        most -= most % 2
        return most // 2 * step, most * step

    def _trace(self, place: int, m: int, k: int) -> Trace:
        if (place, m, k) not in self.traced:
            launch = self.product.launch(m, k)
            number = min(place * self.product.sms, self.blocks - 1)
            x, y = launch.grid[0], launch.grid[1]
            block = (number % x, number // x % y, number // (x * y))
            self.traced[place, m, k] = trace(self.compiled, self.compiled.arch, launch, block)
        return self.traced[place, m, k]

    def recording(self) -> Recording:
        """The run that `record` returns."""
        m = self._rows(min(self.turns, 4)) if self.turns > 1 else self.product.m
        sm = self._sm(self.resident, m, self._lengths(m)[1], RecordedSm)
        return Recording.of(sm, sm.run().cycles)

    def _step(self, resident: int, m: int, k: int, cold: bool = False) -> SmResult:
        if (resident, m, k, cold) not in self.stepped:
            self.stepped[resident, m, k, cold] = self._sm(resident, m, k, SmModel, cold).run()
        return self.stepped[resident, m, k, cold]

    def _sm(self, resident: int, m: int, k: int, model: type[Model], cold: bool = False) -> Model:
        traces = [self._trace(place, m, k) for place in range(resident)]
        taken = resident * (self.compiled.smem + self.sheet.smem_reserved_per_block)
        l1 = max(1024 * self.of["l1_kib"] - taken, 8192)
        starts = [place * self.of["block_launch_cycles"] for place in range(resident)]
        beyond = Beyond(self.loaded, self._local(traces), self.of["cold_latency"] if cold else 0.0)
        return model(traces, self.of, beyond, l1, starts, cluster=self.cluster)

    def _local(self, traces: list[Trace]) -> tuple[float, float]:
        """Bytes a cycle and latency of the stacks: those of all SMs together may be more than L2 holds."""
        stacks = sum(one.stack * len(one.paths) for one in traces) * LINE * self.sheet.sms
        if stacks < self.sheet.l2_mb * 2**20:
            return self.of["local_bytes_per_cycle"], self.of["l2_latency"]
        return self.of["dram_stack_bytes_per_cycle"], self.of["dram_latency"]

    def _wave(
        self, resident: int, m: int, short: int, long: int, cold: bool = False
    ) -> tuple[float, SmResult | None, SmResult]:
        """Cycles of a wave of `resident` blocks an SM, and what the SM did for the two lengths of K."""
        second = self._step(resident, m, long, cold)
        if long >= self.product.k:
            return second.cycles, None, second
        first = self._step(resident, m, short, cold)
        slope = (second.cycles - first.cycles) / (long - short)
        return second.cycles + slope * (self.product.k - long), first, second


def _busy(first: SmResult | None, second: SmResult, cycles: float) -> dict[str, float]:
    def of(one: SmResult | None) -> dict[str, float]:
        if one is None:
            return {}
        pipes = {name: value / 4 for name, value in one.busy.items() if name != "mio"}
        stages = {
            "shared_memory": one.memory.busy_data,
            "l1_tags": one.memory.busy_tag,
            "l2_port": one.memory.busy_port,
        }
        return {**pipes, **stages, "issue": one.issued / 4}

    before = of(first)
    return {name: (value - before.get(name, 0.0)) / cycles for name, value in of(second).items()}
