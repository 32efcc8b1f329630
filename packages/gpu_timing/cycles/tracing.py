"""Follows every warp of one block through its machine code: which instructions run, and what memory they touch.

Integer instructions are executed, all warps of the block at once; floating point and what loads bring are skipped,
because hardly an address, branch or predicate of a matrix product depends on them. Where a branch does, the trace says
which way it takes (`undecided`). Asynchronous waits succeed: the time model decides how long they take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_simulator.compiler.disassembly import INDIRECT, HasCubin, disassemble
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware import banks
from gpu_timing.cycles.constant_memory import PARAMETERS_AT, SHARED_WINDOW, ConstantMemory
from gpu_timing.cycles.integer_ops import Writer
from gpu_timing.cycles.machine_code import Instruction, decode
from gpu_timing.cycles.path_functions import ENDS, SHARED, UNITS, block_function, needed_of, stored_bytes
from gpu_timing.cycles.pipes import TCGEN05_KINDS
from gpu_timing.cycles.undecided import LOOP, choices

MAX_STEPS = 100_000  # basic blocks that a trace may have; recorded kernels have less than 2,000
_UNKNOWN = "a value that is not modelled, such as data"


@dataclass(frozen=True)
class Launch:
    """What a block needs to know: shapes in blocks and threads, and the bytes of the kernel's parameters."""

    grid: tuple[int, int, int]
    threads: int
    parameters: bytes
    cluster: tuple[int, int, int] = (1, 1, 1)
    boxes: dict[int, int] = field(default_factory=dict, hash=False)  # offset of a tensor map: bytes of its box


@dataclass(frozen=True)
class Access:
    """What one warp's memory instruction asks for, relative to `base`.

    wavefronts: passes over the banks.   lines: 128-byte lines of global memory, `sectors` of 32 bytes in each.
    base: number of the first line; for a unit (mbarrier, TMA, barrier) its address or number. amount: bytes of a copy,
    transactions that an mbarrier expects, threads of a barrier, or the descriptor of a tcgen05.mma.   lanes: active.
    """

    wavefronts: int = 0
    lines: tuple[int, ...] = ()
    sectors: int = 0
    base: int = 0
    amount: int = 0
    lanes: int = 32


@dataclass(frozen=True)
class Trace:
    """The path of each warp of a block.

    code: the kernel's instructions.   paths: of each warp, the indices of the instructions it issues, in order.
    accesses: of each warp, the `Access` of each recorded instruction on its path, in order (None if all lanes are off).
    unknown: opcodes that were not executed although an address or a branch may depend on them.
    stack: words of each thread's stack that are used.   assumed: what was taken for granted on the path, in sentences.
    """

    code: tuple[Instruction, ...]
    paths: tuple[np.ndarray, ...]
    accesses: tuple[list[Access | None], ...]
    unknown: frozenset[str] = frozenset()
    stack: int = 0
    assumed: frozenset[str] = frozenset()

    @property
    def issued(self) -> int:
        """Warp instructions of the block."""
        return sum(len(path) for path in self.paths)


@dataclass(frozen=True)
class _Program:
    """A kernel ready to be followed: its basic blocks as functions."""

    code: tuple[Instruction, ...]
    blocks: tuple[tuple[int, int], ...]  # first and last + 1 instruction of each
    functions: tuple[Callable[..., Any], ...]
    targets: tuple[int, ...]  # block that the last instruction jumps to, or -1
    unknown: frozenset[str]
    choices: dict[int, bool | str]  # of the blocks whose last instruction cannot be decided, see `undecided`

    def last(self, number: int) -> Instruction:
        """The last instruction of a block."""
        return self.code[self.blocks[number][1] - 1]


def trace(compiled: HasCubin, arch: str, launch: Launch, block: tuple[int, int, int] = (0, 0, 0)) -> Trace:
    """Follow the warps of `block`. Raises `SimulatorError` for a path without end and for unreadable machine code."""
    program = _program(compiled.cubin, compiled.entry, arch, launch.grid, launch.threads, launch.parameters)
    return _Walk(program, launch, block).run()


@lru_cache(maxsize=64)
def _program(
    cubin: bytes, entry: str, arch: str, grid: tuple[int, int, int], threads: int, parameters: bytes
) -> _Program:
    code = _decoded(cubin, entry)
    starts = {0}
    by_address = {one.line.address: one.index for one in code}
    for one in code:
        if one.op in ENDS:
            starts.add(one.index + 1)
        goal = one.line.target if one.line.target is not None else one.line.callee if one.op == "CALL" else None
        if goal is not None and goal in by_address:
            starts.add(by_address[goal])
    edges = sorted(start for start in starts if start < len(code))
    blocks = tuple(zip(edges, [*edges[1:], len(code)], strict=True))
    number = {first: i for i, (first, _) in enumerate(blocks)}
    constant = ConstantMemory(cubin, entry, arch, grid, threads, parameters)
    writer = Writer(constant)
    needed = needed_of(code)
    functions, targets = [], []
    for first, last in blocks:
        functions.append(block_function(code[first:last], writer, needed))
        end = code[last - 1]
        goal = end.line.target if end.op == "BRA" else end.line.callee if end.op == "CALL" else None
        targets.append(number[by_address[goal]] if goal in by_address else -1)
    ways = _without_traps(code, blocks, targets)
    decided = choices(code, blocks, ways, writer.follows)
    return _Program(code, blocks, tuple(functions), ways, frozenset(writer.unknown), decided)


def _without_traps(
    code: tuple[Instruction, ...], blocks: tuple[tuple[int, int], ...], targets: list[int]
) -> tuple[int, ...]:
    """The targets, where a branch to a trap goes on instead: the compiler's checks of tcgen05.alloc read shared memory,
    which is not followed, and are taken to hold."""
    traps = {i for i, (first, last) in enumerate(blocks) if any(one.op == "BPT" for one in code[first:last])}
    traps |= {i for i, (_, last) in enumerate(blocks) if code[last - 1].op == "CALL" and targets[i] in traps}
    return tuple(
        i + 1 if goal in traps and code[blocks[i][1] - 1].op == "BRA" else goal for i, goal in enumerate(targets)
    )


def _place(one: Instruction) -> str:
    return f"line {one.line.line} of {one.line.file}"


class _Code:
    def __init__(self, cubin: bytes, entry: str) -> None:
        self.cubin, self.entry = cubin, entry


@lru_cache(maxsize=64)
def _decoded(cubin: bytes, entry: str) -> tuple[Instruction, ...]:
    return decode(disassemble(_Code(cubin, entry)))


# ---- The walk ----


class _Walk:
    def __init__(self, program: _Program, launch: Launch, block: tuple[int, int, int]) -> None:
        self.program, self.launch, self.block = program, launch, block
        self.warps = -(-launch.threads // 32)
        self.events: list[tuple[int, np.ndarray]] = []
        self.accesses: list[list[Access | None]] = [[] for _ in range(self.warps)]
        self.known: dict[Any, list[Access | None]] = {}
        self.stack = 0
        self.assumed: set[str] = set()
        self.back: dict[int, np.ndarray] = {}  # of each function that was called: the block to which each lane returns

    def run(self) -> Trace:
        scope_of = [function.__globals__ for function in self.program.functions]
        state = _state(self.warps)
        state["full"] = lambda lanes: np.broadcast_to(lanes, (self.warps, 32))
        for scope in scope_of:
            scope.update(state)
        threads = np.arange(self.warps * 32).reshape(self.warps, 32)
        here = np.where(threads < self.launch.threads, 0, -1)  # the basic block in which each lane is; -1 after the end
        program = self.program
        with np.errstate(all="ignore"):
            while True:
                live = here >= 0
                if not live.any():
                    break
                number = int(here[live].min())
                lanes = here == number
                if len(self.events) > MAX_STEPS:
                    raise self._endless()
                self.events.append((number, lanes.any(1)))
                taken = program.functions[number](lanes, self.record, self.special)
                last = program.last(number)
                following = number + 1 if number + 1 < len(program.blocks) else -1
                if number in program.choices:
                    taken = self._chosen(last, program.choices[number], lanes)
                if last.op in ("BRX", "JMP"):
                    raise SimulatorError(
                        f"There is no prediction: {_place(last)} jumps to an address that is not followed."
                    )
                if last.op == "RET":
                    here[lanes] = self.back[last.line.function][lanes] if last.line.function in self.back else -1
                elif taken is None:
                    here[lanes] = following if last.op != "EXIT" else -1
                elif last.line.callee == INDIRECT:
                    self.assumed.add(f"The function called at {_place(last)} is not followed, so its time is missing.")
                    here[lanes] = following
                else:
                    if last.op == "CALL":
                        entered = program.code[program.blocks[program.targets[number]][0]].line.function
                        self.back.setdefault(entered, np.full(here.shape, -1))[lanes & taken] = following
                    here[lanes] = following
                    here[lanes & taken] = program.targets[number]
                    if (
                        last.op == "BRA"
                        and program.targets[number] == number
                        and last.guard is None
                        and not last.sources
                    ):
                        here[lanes & taken] = -1  # the endless loop behind the last EXIT
        return self.trace()

    def _chosen(self, last: Instruction, choice: bool | str, lanes: np.ndarray) -> np.ndarray:
        """The lanes that jump or exit where data decide. Raises `SimulatorError` for a loop."""
        if choice == LOOP:
            raise SimulatorError(
                f"There is no prediction: how often the loop at {_place(last)} runs depends on {_UNKNOWN}."
            )
        way = "no warp ends there" if last.op == "EXIT" else "the longer way is taken"
        self.assumed.add(f"The branch at {_place(last)} depends on {_UNKNOWN}; it is predicted as if {way}.")
        return lanes & bool(choice)

    def _endless(self) -> SimulatorError:
        """The error for a path that does not end, with the line of the loop in which it stays."""
        latest = Counter(number for number, _ in self.events[-1000:])
        by_data = {number: count for number, count in latest.items() if number in self.program.choices}
        open_ones = by_data or latest
        last = self.program.last(max(open_ones, key=open_ones.__getitem__))
        why = f"ends by {_UNKNOWN}" if by_data else "has no end, or one that is further away"
        return SimulatorError(
            f"There is no prediction: the path of a block does not end within {MAX_STEPS:,} steps. The loop at "
            f"{_place(last)} {why}."
        )

    def trace(self) -> Trace:
        program = self.program
        spans = [np.arange(first, last) for first, last in program.blocks]
        numbers = np.array([number for number, _ in self.events])
        present = np.array([warps for _, warps in self.events])
        paths = []
        for warp in range(self.warps):
            mine = numbers[present[:, warp]]
            paths.append(np.concatenate([spans[number] for number in mine]) if len(mine) else np.arange(0))
        accesses, assumed = tuple(self.accesses), frozenset(self.assumed)
        return Trace(program.code, tuple(paths), accesses, program.unknown, self.stack, assumed)

    def special(self, name: str) -> np.ndarray:
        thread = np.arange(self.warps * 32, dtype=np.uint32).reshape(self.warps, 32)
        cluster = self.launch.cluster
        rank = self.block[0] % cluster[0] + cluster[0] * (self.block[1] % cluster[1])
        word = {
            "SR_TID X": thread,
            "SR_LANEID": thread % 32,
            "SR_CTAID X": self.block[0],
            "SR_CTAID Y": self.block[1],
            "SR_CTAID Z": self.block[2],
            "SR_CgaCtaId": rank,
            "SR_SWINHI": SHARED_WINDOW >> 32,
            "SR_VIRTID": thread // 32 << 8,
        }.get(name, 0)
        return np.asarray(word, np.uint32).reshape((1, 1) if np.ndim(word) == 0 else (self.warps, 32))

    # ---- What memory instructions ask for ----

    def record(self, index: int, address: np.ndarray | None, lanes: np.ndarray, extra: Any) -> None:
        one = self.program.code[index]
        lanes = np.broadcast_to(lanes, (self.warps, 32))
        present = self.events[-1][1]
        if one.op in UNITS:
            self._record_unit(one, address, lanes, extra, present)
            return
        address = np.broadcast_to(address, (self.warps, 32)).astype(np.int64)
        source = None if extra is None else np.broadcast_to(extra, (self.warps, 32)).astype(np.int64)
        active = np.where(lanes, address, np.iinfo(np.int64).max)
        start = active.min(1, initial=np.iinfo(np.int64).max)
        any_lane = lanes.any(1)
        start = np.where(any_lane, start & ~127, 0)
        key = (index, (address - start[:, None])[lanes].tobytes(), lanes.tobytes())
        base = start
        if source is not None:
            low = np.where(lanes, source, np.iinfo(np.int64).max).min(1)
            base = np.where(any_lane, low & ~127, 0)
            key = (*key, (source - base[:, None])[lanes].tobytes())
        made = self.known.get(key)
        if made is None:
            made = self.known[key] = self._costs(one, address, source, lanes)
        for warp in np.flatnonzero(present):
            cost = made[warp]
            if cost is not None and one.op in ("LDL", "STL"):
                word = int(address[warp][lanes[warp]][0]) >> 2
                self.stack = max(self.stack, -word % (1 << 30))  # a stack grows down from address 0
                cost = Access(1, cost.lines, cost.sectors, word, cost.amount, cost.lanes)
            elif cost is not None and cost.lines:
                cost = Access(cost.wavefronts, cost.lines, cost.sectors, int(base[warp]) >> 7, cost.amount, cost.lanes)
            self.accesses[warp].append(cost)

    def _costs(
        self, one: Instruction, address: np.ndarray, source: np.ndarray | None, lanes: np.ndarray
    ) -> list[Access | None]:
        width = 4 * one.width if one.op.startswith("LD") else stored_bytes(one)
        width = (
            2
            if any(m in ("U16", "S16") for m in one.modifiers)
            else 1
            if any(m in ("U8", "S8") for m in one.modifiers)
            else width
        )
        generic = one.op in ("LD", "ST") and bool((address[lanes] >= SHARED_WINDOW).all()) and lanes.any()
        shared = one.op in SHARED or generic
        count = lanes.sum(1)
        waves = np.zeros(self.warps, np.int64)
        if one.op in ("LDSM", "STSM"):
            rows = 8 * max(one.width if one.op == "LDSM" else int(one.modifiers[-1]), 1)
            waves = banks.wavefronts(address[:, :rows], 16, lanes[:, :rows])
        elif one.op == "LDGSTS":
            width = 16 if "128" in one.modifiers else 8 if "64" in one.modifiers else 4
            waves = np.maximum(banks.wavefronts(address, width, lanes), 1)
        elif shared:
            waves = (banks.load_wavefronts if one.op[0] == "L" else banks.wavefronts)(address, width, lanes)
        made: list[Access | None] = []
        reached = address if source is None else source
        for warp in range(self.warps):
            if not count[warp]:
                made.append(None)
                continue
            lines: tuple[int, ...] = ()
            sectors = 0
            if not shared or one.op == "LDGSTS":
                mine = reached[warp][lanes[warp]]
                mine = mine - (int(mine.min()) & ~127)
                each = np.unique(np.concatenate([mine >> 5, (mine + width - 1) >> 5]))
                sectors, lines = len(each), tuple(int(line) for line in np.unique(each >> 2))
            amount = int(count[warp]) * width
            made.append(Access(int(waves[warp]), lines, sectors, 0, amount, int(count[warp])))
        return made

    def _record_unit(
        self, one: Instruction, address: np.ndarray | None, lanes: np.ndarray, extra: Any, present: np.ndarray
    ) -> None:
        for warp in np.flatnonzero(present):
            active = np.flatnonzero(lanes[warp])
            if not len(active):
                self.accesses[warp].append(None)
                continue
            lane = int(active[0])

            def at(value: np.ndarray, warp: int = int(warp), lane: int = lane) -> int:
                full = np.broadcast_to(value, (self.warps, value.shape[-1]))
                return int(full[warp, min(lane, full.shape[-1] - 1)])

            if one.op == "BAR":
                words = [at(word) for word in extra] or [0]
                made = Access(base=words[0], amount=words[1] if len(words) > 1 else 0, lanes=len(active))
            elif one.op in TCGEN05_KINDS:
                made = Access(amount=at(extra), lanes=len(active))
            elif one.op in ("SYNCS", "UTCBAR"):
                made = Access(base=at(address), amount=0 if extra is None else at(extra), lanes=len(active))
            else:
                box, *words = extra
                where, barrier, x, y = (at(word) for word in words)
                offset = at(box) - PARAMETERS_AT
                made = Access(
                    base=barrier if one.op == "UTMALDG" else where,
                    amount=self.launch.boxes.get(offset, 0),
                    lines=(offset, x, y, where),
                    lanes=len(active),
                )
            self.accesses[warp].append(made)


def _state(warps: int) -> dict[str, Any]:
    words: dict[int, np.ndarray] = {}
    places: dict[int, np.ndarray] = {}

    def stack(place: int) -> np.ndarray:
        return places.setdefault(place, np.zeros((warps, 32), np.uint32))

    def constant(value: int) -> np.ndarray:
        if value not in words:
            words[value] = np.full((1, 1), value, np.uint32)
        return words[value]

    return {
        "R": [np.zeros((warps, 32), np.uint32) for _ in range(257)],
        "U": [np.zeros((warps, 1), np.uint32) for _ in range(257)],
        "P": [np.zeros((warps, 32), bool) for _ in range(7)],
        "V": [np.zeros((warps, 1), bool) for _ in range(7)],
        "ZERO": np.zeros((1, 1), np.uint32),
        "TRUE": np.ones((1, 1), bool),
        "K": constant,
        "stack": stack,
    }
