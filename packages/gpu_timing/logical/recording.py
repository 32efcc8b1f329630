"""Records the schedule of a launch as a `Trace`: what each warp requests and what it waits for, without times.

    trace = record(compiled, grid, block, args)          block 0 alone
    place(trace, Costs.of(gpu("b200")))                  in logical time (`gpu_timing.logical.pipeline_placing`)

The recorder sets probes at the relevant instructions, as `inspect` does, so a launch that is not recorded is not
slower. The phases of mbarriers are those that the simulator counted when a copy or a commit completed, and when a wait
succeeded.
"""

from __future__ import annotations

import re
from math import prod

import numpy as np

from gpu_simulator.codegen.ops.memory.bulk import descriptor, destinations
from gpu_simulator.codegen.program import program_of
from gpu_simulator.effort import Effort
from gpu_simulator.launching import _only_entry, run_block
from gpu_simulator.machine.observer import Observer
from gpu_simulator.ptx.ir import Memory, Register
from gpu_simulator.ptx.types import CODES, SIZE
from gpu_timing.logical.stops import Stop
from gpu_timing.logical.trace import (
    ARRIVE,
    ASYNC,
    COMMIT,
    COPIES,
    DRAIN,
    EPILOGUE,
    LOAD,
    MMA,
    STORES,
    TCGEN05,
    WAIT,
    WGMMA,
    Step,
    Trace,
    with_stages,
    with_tiles,
)

FAMILIES = {"mma", "wmma", "wgmma", "tcgen05", "cp", "mbarrier", "st"}
SUBCORES = 4
K_OF_KIND = {"f16": 16, "tf32": 8}  # K of one instruction (PTX ISA, tcgen05.mma); 32 for types of 8 bits and less
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")


def record(
    compiled,
    grid,
    block,
    args,
    *,
    cluster=(1, 1, 1),
    first_block: int = 0,
    name: str = "",
    max_instructions: int | None = None,
    max_seconds: float | None = None,
    max_steps: float | None = None,
) -> Trace:
    """Run one block, with the other blocks of its cluster, and return the `Trace` of their warps.

    compiled, grid, block, args, cluster and the limits: as for `launch`; the arrays of `args` are not changed.
    first_block: number of the block in the grid.   name: of the trace; by default the kernel's. Raises as `launch`.
    """
    entry = getattr(compiled, "entry", None) or _only_entry(compiled.ptx)
    program = program_of(compiled.ptx, entry)
    probes = frozenset(site for site, item in enumerate(program.sites) if item.family in FAMILIES)
    recorders = []

    def observer_of(resident):
        recorders.append(Recorder(resident))
        return recorders[-1]

    effort = Effort(max_instructions, max_steps, max_seconds)
    run_block(program, compiled, grid, block, args, cluster, first_block, probes, observer_of, effort)
    return recorders[0].trace(name or entry)  # the blocks of one cluster are resident together


class Recorder(Observer):
    """Observer that records the steps of some resident blocks. Signals name blocks by their number in the grid."""

    def __init__(self, resident):
        super().__init__(resident)
        self.steps: dict[tuple[int, int], list[Step]] = {}
        self.who: dict[tuple[int, int], list[int]] = {}  # for each step, a mask of the lanes that took part
        self.rounds: dict[tuple, int] = {}  # (block, number of a barrier) -> rounds completed
        self.boxes: list[tuple] = []  # of every load: (block, first byte, end, barrier, phase)
        self.tiles: dict[tuple[int, int], int] = {}
        self.epilogue_done: dict[tuple[int, int], bool] = {}

    # ---- Events of the scheduler ----

    def mbarrier_waits(self, site, barrier, numbers, phase) -> None:
        signal = (self.block(barrier.key[0]), barrier.key[1], phase)
        for _, some, warp in self.warps(numbers):
            self.add(warp, some, Step(WAIT, signal=signal))

    def barrier_arrived(self, arrival) -> None:
        self.meet(arrival.block, arrival.number, arrival.lanes, arrival.following is not None)

    def barrier_met(self, arrivals) -> None:
        self.next_round(arrivals[0].block, arrivals[0].number)

    def barrier_everyone(self, site, number) -> None:
        for block in range(self.resident.blocks):
            self.meet(block, number, self.resident.all_lanes[self.resident.block_of_lane == block], True)
            self.next_round(block, number)

    def meet(self, block: int, number: int, numbers, stays: bool) -> None:
        """Record that threads arrive at a barrier of their block. stays: they wait there, unlike bar.arrive."""
        place = (self.block(block), number)
        signal = (place[0], f"barrier {number}", self.rounds.get(place, 0))
        for _, some, warp in self.warps(numbers):
            self.add(warp, some, Step(ARRIVE, signal=signal))
            if stays:
                self.add(warp, some, Step(WAIT, signal=signal))

    def next_round(self, block: int, number: int) -> None:
        place = (self.block(block), number)
        self.rounds[place] = self.rounds.get(place, 0) + 1

    def cluster_arrived(self, site, numbers, rounds) -> None:
        self.at_cluster(ARRIVE, numbers, rounds)

    def cluster_waits(self, site, numbers, rounds) -> None:
        self.at_cluster(WAIT, numbers, rounds)

    def at_cluster(self, what: str, numbers, rounds) -> None:
        """Record that threads arrive at, or wait for, a round of barrier.cluster."""
        resident = self.resident
        for first, some, warp in self.warps(numbers):
            home = int(resident.block_of_lane[numbers[first]])
            signal = (self.block(home - home % resident.cluster_size), "cluster", int(rounds[first]))
            self.add(warp, some, Step(what, signal=signal))

    # ---- Events of instructions ----

    def stopped(self, lanes, site: int, values: dict, after: bool) -> None:
        """Record an instruction before it executes; the call after it is ignored."""
        if after:
            return
        item = self.resident.program.sites[site]
        active = self.executing(lanes, site, values)
        if active.any():
            stop = Stop(self, lanes, item, values)
            getattr(self, f"on_{item.family}")(stop, np.flatnonzero(active))

    def on_mma(self, stop, positions) -> None:
        self.multiplied(stop, positions, MMA, "", 1)

    on_wmma = on_mma

    def on_wgmma(self, stop, positions) -> None:
        parts = stop.item.parts
        if "mma_async" in parts:
            reads = [operand for operand in stop.item.operands if type(operand) is Register and operand.type == "b64"]
            filling = stop.filling(positions[0], reads[-1]) if reads else (None, None)
            self.multiplied(stop, positions, ASYNC, WGMMA, SUBCORES, filling)
        elif "commit_group" in parts:
            self.each(stop, positions, Step(COMMIT, unit=WGMMA))
        elif "wait_group" in parts:
            self.each(stop, positions, Step(DRAIN, unit=WGMMA, newest=stop.number(positions[0], 0)))

    def multiplied(self, stop, positions, what: str, unit: str, share: int, filling=(None, None)) -> None:
        """Record an mma. share: the number of warps over which its FLOP are divided."""
        found = next((match for part in stop.item.parts if (match := _SHAPE.match(part))), None)
        if found is None:
            return
        flop = 2 * prod(map(int, found.groups())) / share
        for _, lanes, warp in self.warps(stop.lanes[positions]):
            if self.epilogue_done.pop(warp, False):
                self.tiles[warp] = self.tiles.get(warp, 0) + 1
            step = Step(what, flop, unit, stage=filling[0], turn=filling[1], tile=self.tiles.get(warp, 0))
            self.add(warp, lanes, step)

    def on_tcgen05(self, stop, positions) -> None:
        parts, item = stop.item.parts, stop.item
        if parts[1] == "mma":
            for position in positions.tolist():
                self.issued(stop, position)
        elif parts[1] == "commit":
            for position, lanes, warp in self.warps(stop.lanes[positions], positions):
                ranks = stop.number(position, 1) if "multicast__cluster" in parts else None
                for signal in stop.signals(position, item.operands[0], ranks):
                    self.add(warp, lanes, Step(COMMIT, unit=TCGEN05, signal=signal))
        elif parts[1] == "ld":
            count = int(next(part[1:] for part in parts if re.fullmatch(r"x\d+", part)))
            self.each(stop, positions, Step(EPILOGUE, 128.0 * count, "tensor memory"))

    def issued(self, stop, position: int) -> None:
        """Record one tcgen05.mma. Operands: D, A, B, instruction descriptor, …, a predicate that adds to D if true."""
        operands, parts = stop.item.operands, stop.item.parts
        instruction = stop.number(position, 3)
        n, m = (instruction >> 17 & 0x3F) * 8, (instruction >> 24 & 0x1F) * 16
        k = next((k for kind, k in K_OF_KIND.items() if f"kind__{kind}" in parts), 32)
        pair = "cta_group__2" in parts
        warp = stop.warp(position)
        adds = next((operand for operand in reversed(operands) if getattr(operand, "type", "") == "pred"), None)
        if adds is not None and not bool(stop.value(position, adds)):
            self.tiles[warp] = self.tiles.get(warp, -1) + 1
        stage, turn = stop.filling(position, operands[2])
        own = int(self.resident.block_of_lane[stop.lanes[position]])
        blocks = tuple(sorted(self.block(block) for block in (own, own ^ 1))) if pair else ()
        self.add(
            warp,
            stop.bit(position),
            Step(
                ASYNC,
                2.0 * m * n * k / (2 if pair else 1),
                TCGEN05,
                stage=stage,
                turn=turn,
                tile=self.tiles.get(warp, 0),
                blocks=blocks,
            ),
        )

    def on_cp(self, stop, positions) -> None:
        parts = stop.item.parts
        if "prefetch" in parts or "mbarrier" in parts or "reduce" in parts:
            return
        unit = STORES if "bulk" in parts else COPIES
        if "commit_group" in parts:
            self.each(stop, positions, Step(COMMIT, unit=unit))
        elif "wait_group" in parts or "wait_all" in parts:
            newest = stop.number(positions[0], 0) if stop.item.operands else 0
            self.each(stop, positions, Step(DRAIN, unit=unit, newest=newest))
        elif "bulk" in parts:
            for position in positions.tolist():
                self.copied(stop, position)
        else:
            width = stop.number(positions[0], 2)
            for _, lanes, warp in self.warps(stop.lanes[positions]):
                self.add(warp, lanes, Step(ASYNC, float(width * lanes.bit_count()), COPIES))

    def copied(self, stop, position: int) -> None:
        """Record one bulk copy, into shared memory or out of it."""
        parts, operands, warp = stop.item.parts, stop.item.operands, stop.warp(position)
        out = "bulk_group" in parts
        inside, outside = (operands[1], operands[0]) if out else operands[:2]
        if "tensor" in parts:
            rank = int(next(part for part in parts if re.fullmatch(r"\dd", part))[0])
            address = int(stop.value(position, outside))
            size = descriptor(self.resident, stop.item.site, int(stop.lanes[position]), address, rank).size
        else:
            size = stop.number(position, 2)
        if out:
            self.epilogue_done[warp] = True
            self.add(warp, stop.bit(position), Step(ASYNC, float(size), STORES))
            return
        at = 2 if "tensor" in parts else 3
        block, first = stop.shared(position, inside)
        ranks = stop.number(position, at + 1) if "multicast__cluster" in parts else None
        made = destinations(
            self.resident,
            stop.item.site,
            int(stop.lanes[position]),
            block,
            stop.shared(position, operands[at]),
            ranks,
            "cta_group__2" in parts,
        )
        for number, (to, key) in enumerate(made):
            for signal in stop.signal(key):
                home = self.block(to)
                self.boxes.append((home, first, first + size, signal[1], signal[2]))
                self.add(
                    warp,
                    stop.bit(position),
                    Step(
                        LOAD,
                        float(size),
                        signal=signal,
                        stage=signal[1],
                        turn=signal[2],
                        blocks=(home,),
                        more=number > 0,
                    ),
                )

    def on_mbarrier(self, stop, positions) -> None:
        if stop.item.parts[1] not in ("arrive", "arrive_drop"):
            return
        memory = next(operand for operand in stop.item.operands if type(operand) is Memory)
        for position in positions.tolist():
            for signal in stop.signals(position, memory):
                self.add(stop.warp(position), stop.bit(position), Step(ARRIVE, signal=signal))

    def on_st(self, stop, positions) -> None:
        parts = stop.item.parts
        if "global" not in parts:
            return
        kind = next(part for part in reversed(parts) if part in CODES)
        width = SIZE[CODES[kind]] * next((int(part[1:]) for part in parts if re.fullmatch(r"v[248]", part)), 1)
        for _, lanes, warp in self.warps(stop.lanes[positions]):
            self.epilogue_done[warp] = True
            self.add(warp, lanes, Step(EPILOGUE, float(width * lanes.bit_count()), "registers"))

    # ---- Pieces ----

    def block(self, number: int) -> int:
        return int(self.resident.block_ids[number])

    def warps(self, lanes, positions=None):
        """Yield (position of its first lane, mask of its lanes, (block, warp)) for each warp among some lane numbers.

        positions: of these lanes; by default their indices.
        """
        numbers, first = np.unique(lanes >> 5, return_index=True)
        for number, at in zip(numbers.tolist(), first.tolist(), strict=True):
            block, warp = divmod(number, self.resident.warps_per_block)
            bits = int(np.bitwise_or.reduce(1 << (lanes[lanes >> 5 == number] & 31)))
            yield (at if positions is None else int(positions[at])), bits, (self.block(block), warp)

    def each(self, stop, positions, step: Step) -> None:
        for _, lanes, warp in self.warps(stop.lanes[positions]):
            self.add(warp, lanes, step)

    def add(self, warp, lanes: int, step: Step) -> None:
        """Append a step to a warp; consecutive steps of the same work are merged.

        A step is inserted before waits at the end of the list in which none of its lanes takes part.
        """
        steps, who = self.steps.setdefault(warp, []), self.who.setdefault(warp, [])
        at = len(steps)
        while at and steps[at - 1].what == WAIT and not who[at - 1] & lanes:
            if steps[at - 1] == step:
                who[at - 1] |= lanes
                return
            at -= 1
        joins = step.what in (MMA, EPILOGUE, ASYNC) and step.unit != TCGEN05
        if joins and at and steps[at - 1]._replace(amount=0.0) == step._replace(amount=0.0):
            steps[at - 1] = step._replace(amount=steps[at - 1].amount + step.amount)
            who[at - 1] |= lanes
        else:
            steps.insert(at, step)
            who.insert(at, lanes)

    def trace(self, name: str) -> Trace:
        """The recorded `Trace`. The mbarriers of loads are numbered as stages, in the order of their addresses."""
        fulls = sorted({box[3] for box in self.boxes})
        stage_of = {barrier: stage for stage, barrier in enumerate(fulls)}
        named = {None: None, **stage_of}
        steps = {
            warp: with_stages([step._replace(stage=named[step.stage]) for step in steps], stage_of)
            for warp, steps in sorted(self.steps.items())
        }
        return with_tiles(Trace(steps, len(fulls), name))
