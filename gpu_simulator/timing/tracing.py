"""Follows every warp of one block through its machine code: which instructions run, and what memory they touch.

Integer instructions are executed, all warps of the block at once; floating point is skipped, because no address, branch
or predicate of a matrix product depends on it. Asynchronous waits succeed: the time model decides how long they take.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_simulator.compiler.disassembly import HasCubin, disassemble
from gpu_simulator.errors import LabError
from gpu_simulator.hardware import banks
from gpu_simulator.timing import integer_ops
from gpu_simulator.timing.integer_ops import Writer
from gpu_simulator.timing.machine_code import Instruction, decode

SHARED_WINDOW = 0x7F00_0000_0000  # where generic addresses of shared memory begin, in this model
LOCAL_WINDOW = 0x7E00_0000_0000
PARAMETERS_AT = 0x7D00_0000_0000  # generic address of the kernel's parameters
SHARED_BASE = 1024  # first byte of shared memory that a kernel of sm_90 and later may use
MAX_STEPS = 2_000_000  # basic blocks that a trace may have

_SHARED = frozenset(("LDS", "STS", "LDSM", "STSM", "LDGSTS", "ATOMS"))
_GLOBAL = frozenset(("LDG", "STG", "LDGSTS", "LD", "ST", "LDL", "STL", "RED", "ATOMG", "ATOM"))
_UNITS = frozenset(("SYNCS", "UTMALDG", "UTMASTG", "BAR", "UBLKCP"))
RECORDED = _SHARED | _GLOBAL | _UNITS
_ENDS = frozenset(("BRA", "EXIT", "CALL", "RET", "BRX", "JMP"))


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
    transactions that an mbarrier expects, or threads of a barrier. key: the kind of arrival, or 0.
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
    """

    code: tuple[Instruction, ...]
    paths: tuple[np.ndarray, ...]
    accesses: tuple[list[Access | None], ...]
    unknown: frozenset[str] = frozenset()

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


def trace(compiled: HasCubin, arch: str, launch: Launch, block: tuple[int, int, int] = (0, 0, 0)) -> Trace:
    """Follow the warps of `block`. Raises `LabError` if the path does not end or the machine code cannot be read."""
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
        if one.op in _ENDS:
            starts.add(one.index + 1)
        goal = one.line.target if one.line.target is not None else one.line.callee if one.op == "CALL" else None
        if goal is not None and goal in by_address:
            starts.add(by_address[goal])
    edges = sorted(start for start in starts if start < len(code))
    blocks = tuple(zip(edges, [*edges[1:], len(code)], strict=True))
    number = {first: i for i, (first, _) in enumerate(blocks)}
    constant = _Constants(cubin, entry, arch, grid, threads, parameters)
    writer = Writer(constant)
    needed = _needed(code)
    functions, targets = [], []
    for first, last in blocks:
        functions.append(_function(code[first:last], writer, needed))
        end = code[last - 1]
        goal = end.line.target if end.op == "BRA" else end.line.callee if end.op == "CALL" else None
        targets.append(number[by_address[goal]] if goal in by_address else -1)
    return _Program(code, blocks, tuple(functions), tuple(targets), frozenset(writer.unknown))


class _Code:
    def __init__(self, cubin: bytes, entry: str) -> None:
        self.cubin, self.entry = cubin, entry


@lru_cache(maxsize=64)
def _decoded(cubin: bytes, entry: str) -> tuple[Instruction, ...]:
    return decode(disassemble(_Code(cubin, entry)))


# ---- Constant memory ----


def generation_of(arch: str) -> int:
    """The number of an architecture: 90 of "sm_90a"."""
    return int("".join(letter for letter in arch if letter.isdigit()))


def first_parameter(arch: str) -> int:
    """Where the kernel's parameters begin in constant bank 0."""
    generation = generation_of(arch)
    return 0x160 if generation < 90 else 0x210 if generation < 100 else 0x380


class _Constants:
    """Words of constant memory: launch shapes and parameters in bank 0, literals in the other banks."""

    def __init__(
        self, cubin: bytes, entry: str, arch: str, grid: tuple[int, int, int], threads: int, parameters: bytes
    ) -> None:
        generation, first = generation_of(arch), first_parameter(arch)
        shapes, pointer = ((0x0, 0xC), 0x198) if generation < 100 else ((0x360, 0x370), 0x348)
        bank = bytearray(max(first + len(parameters), 0x400))
        bank[first : first + len(parameters)] = parameters
        struct.pack_into("<3I", bank, shapes[0], threads, 1, 1)
        struct.pack_into("<3I", bank, shapes[1], *grid)
        struct.pack_into("<Q", bank, 0x18, SHARED_WINDOW)
        struct.pack_into("<Q", bank, 0x20, LOCAL_WINDOW)
        if generation >= 90:
            struct.pack_into("<Q", bank, pointer, PARAMETERS_AT)
        self.banks = {0: bytes(bank), **_literals(cubin, entry)}

    def __call__(self, bank: int, offset: int) -> int:
        words = self.banks.get(bank, b"")
        return struct.unpack_from("<I", words, offset)[0] if offset + 4 <= len(words) else 0


def _literals(cubin: bytes, entry: str) -> dict[int, bytes]:
    """The constant banks that the compiler filled, from the sections `.nv.constant<N>.<entry>` of the ELF file."""
    at, size, count, names = struct.unpack_from("<Q10xHHH", cubin, 40)
    headers = [struct.unpack_from("<IIQQQQ", cubin, at + i * size) for i in range(count)]
    text = headers[names][4]
    banks = {}
    for name, _, _, _, offset, length in headers:
        end = cubin.index(b"\0", text + name)
        label = cubin[text + name : end].decode()
        if label.startswith(".nv.constant") and label.endswith(entry) and label[12].isdigit():
            banks[int(label[12])] = cubin[offset : offset + length]
    banks.pop(0, None)
    return banks


# ---- Which instructions decide where the kernel goes ----


def _names(operands: Sequence[Any], width: int) -> set[tuple[str, int]]:
    found = set()
    for operand in operands:
        if operand.kind in ("R", "UR"):
            found |= {(operand.kind, operand.value + i) for i in range(width) if operand.value is not None}
        elif operand.kind in ("P", "UP") and operand.value != 7:
            found.add((operand.kind, operand.value))
        elif operand.kind == "address":
            for kind, number, is_wide in operand.value[0]:
                found |= {(kind, number + i) for i in range(max(width, 2 if is_wide else 1))}
    return found


def spilled(one: Instruction) -> list[tuple[str, int]]:
    """The words of the stack that a spill (STL) writes or a refill (LDL) reads, as names of registers."""
    address = next((s for s in one.sources if s.kind == "address"), None)
    if one.op not in ("STL", "LDL") or address is None or address.value[0] != (("R", 1, False),):
        return []
    words = max(one.width, _stored_bytes(one) // 4)
    return [("L", int(address.value[2]) + 4 * i) for i in range(words)]


def _reads(one: Instruction) -> set[tuple[str, int]]:
    if places := spilled(one):
        values = [s for s in one.sources if s.kind == "R"]
        return _guard(one) | (set(places) if one.op == "LDL" else _names(values, len(places)))
    pairs = 2 if any("64" in m or m in ("WIDE", "HI") for m in one.modifiers) else 1
    return _names(one.sources, pairs) | _guard(one)


def _guard(one: Instruction) -> set[tuple[str, int]]:
    return {(one.guard[0], one.guard[1])} - {("P", 7), ("UP", 7)} if one.guard else set()


def _needed(code: Sequence[Instruction]) -> frozenset[int]:
    """Indices of the instructions on whose results an address, a branch or a guard may depend."""
    wanted: set[tuple[str, int]] = set()
    for one in code:
        if one.op in RECORDED:
            # Of a store, the address and not the value; of an mbarrier, the address and the count.
            keep = one.sources if one.op in _UNITS else [s for s in one.sources if s.kind == "address"]
            wanted |= _names(keep, 4 if one.op in ("UTMALDG", "UTMASTG") else 1) | _guard(one)
        elif one.op in _ENDS:
            wanted |= _names(one.sources, 1) | _guard(one)
    writers: dict[tuple[str, int], list[Instruction]] = {}
    for one in code:
        if one.op not in (
            "HMMA",
            "IMMA",
            "HGMMA",
            "QMMA",
            "FFMA",
            "FMUL",
            "FADD",
            "HADD2",
            "F2FP",
            "F2F",
            "LDSM",
            "LDS",
            "LDG",
            "LD",
            "MOVM",
        ):
            places = spilled(one)
            if one.op == "LDL" and not places:
                continue  # an element of an array: data, as what other loads bring
            for name in places if one.op == "STL" else _names(one.destinations, one.width):
                writers.setdefault(name, []).append(one)
    chosen: set[int] = set()
    todo = list(wanted)
    seen = set(todo)
    while todo:
        for one in writers.get(todo.pop(), ()):
            if one.index not in chosen:
                chosen.add(one.index)
                fresh = _reads(one) - seen
                seen |= fresh
                todo += fresh
    return frozenset(chosen)


def _function(code: Sequence[Instruction], writer: Writer, needed: frozenset[int]) -> Callable[..., Any]:
    """The function of a basic block: executes it for the lanes `m`, and returns the lanes that jump."""
    lines = []
    for one in code:
        if one.op in RECORDED:
            lines.append(f"g = {writer.guard(one)}")
            address = next((s for s in one.sources if s.kind == "address"), None)
            lines.append(f"record({one.index}, {_address(address, writer)}, g, {_extra(one, writer)})")
            if one.index in needed and spilled(one):
                lines += _spill(one, writer)
        if one.op in ("BRA", "CALL", "EXIT"):
            lines.append(f"taken = full({writer.guard(one)}).copy()")
            for source in one.sources:
                if source.kind in ("P", "UP"):
                    lines.append(f"taken &= {writer.predicate(source)}")
        elif one.index in needed and spilled(one):
            lines += _spill(one, writer)
        elif one.index in needed:
            made = writer.lines(one)
            if made and one.guard and one.op not in RECORDED:
                lines.append(f"g = {writer.guard(one)}")
            lines += made
    ended = code[-1].op in ("BRA", "CALL", "EXIT")
    text = "def block(m, record, special):\n    " + "\n    ".join([*lines, "return taken" if ended else "return None"])
    scope = dict(_SCOPE)
    exec(compile(text, "<machine code>", "exec"), scope)
    scope["source"] = text
    return scope["block"]


def _spill(one: Instruction, writer: Writer) -> list[str]:
    """Lines that move words between registers and the stack; `g` are the lanes."""
    lines = []
    for i, (_, place) in enumerate(spilled(one)):
        if one.op == "LDL":
            lines += writer.store(one.destinations[0], f"stack({place})", "g", i)
        else:
            value = next(s for s in one.sources if s.kind == "R")
            lines.append(f"put(stack({place}), {writer.word(value, i)}, where=g)")
    return lines


def _address(operand: Any, writer: Writer) -> str:
    if operand is None:
        return "None"
    registers, _, offset = operand.value
    terms = []
    for kind, number, is_wide in registers:
        bank = "R" if kind == "R" else "U"
        terms.append(
            f"wide({bank}[{number}], {bank}[{number + 1}])" if is_wide else f"{bank}[{number}].astype(np.uint64)"
        )
    if not terms:
        return f"K({offset}).astype(np.uint64)"
    return " + ".join(terms) + (f" + np.uint64({offset & (1 << 64) - 1})" if offset else "")


def _extra(one: Instruction, writer: Writer) -> str:
    """What else a record needs: the source of a copy, the count of an mbarrier, the number of a barrier."""
    addresses = [s for s in one.sources if s.kind == "address"]
    if one.op == "LDGSTS" or (one.op in ("UTMALDG", "UTMASTG") and len(addresses) > 1):
        second = addresses[1].value[0][0] if one.op != "LDGSTS" else None
        if second is not None:
            first = addresses[0].value[0][0][1]
            words = ", ".join(f"U[{first + i}]" for i in range(4))
            return f"(wide(U[{second[1]}], U[{second[1] + 1}]), {words})"
        return _address(addresses[1], writer)
    if one.op == "SYNCS":
        words = [s for s in one.sources if s.kind in ("R", "UR", "imm")]
        return writer.word(words[0]) if words else "None"
    if one.op == "BAR":
        words = [s for s in one.sources if s.kind in ("R", "UR", "imm")]
        return "(" + "".join(writer.word(word) + ", " for word in words) + ")"
    return "None"


def _put(target: np.ndarray, value: np.ndarray, where: np.ndarray) -> None:
    np.copyto(target, value, where=where)


def _put_uniform(target: np.ndarray, value: np.ndarray, lanes: np.ndarray) -> None:
    lanes = np.broadcast_to(lanes, (len(target), 32))
    if value.shape[-1] != 1:
        value = integer_ops.of_first_lane(value, lanes)
    np.copyto(target, value, where=lanes.any(1, keepdims=True))


_SCOPE: dict[str, Any] = {
    "np": np,
    "put": _put,
    "put_uniform": _put_uniform,
    "M32": np.uint64(0xFFFFFFFF),
    **{name: getattr(integer_ops, name) for name in dir(integer_ops) if not name.startswith("_")},
}


# ---- The walk ----


class _Walk:
    def __init__(self, program: _Program, launch: Launch, block: tuple[int, int, int]) -> None:
        self.program, self.launch, self.block = program, launch, block
        self.warps = -(-launch.threads // 32)
        self.events: list[tuple[int, np.ndarray]] = []
        self.accesses: list[list[Access | None]] = [[] for _ in range(self.warps)]
        self.known: dict[Any, list[Access | None]] = {}

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
                    raise LabError("The kernel's path does not end: its loop depends on a value that is not modelled.")
                self.events.append((number, lanes.any(1)))
                taken = program.functions[number](lanes, self.record, self.special)
                last = program.code[program.blocks[number][1] - 1]
                following = number + 1 if number + 1 < len(program.blocks) else -1
                if taken is None:
                    here[lanes] = following if last.op not in ("EXIT", "RET", "BRX", "JMP") else -1
                else:
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

    def trace(self) -> Trace:
        program = self.program
        spans = [np.arange(first, last) for first, last in program.blocks]
        numbers = np.array([number for number, _ in self.events])
        present = np.array([warps for _, warps in self.events])
        paths = []
        for warp in range(self.warps):
            mine = numbers[present[:, warp]]
            paths.append(np.concatenate([spans[number] for number in mine]) if len(mine) else np.arange(0))
        return Trace(program.code, tuple(paths), tuple(self.accesses), program.unknown)

    def special(self, name: str) -> np.ndarray:
        thread = np.arange(self.warps * 32, dtype=np.uint32).reshape(self.warps, 32)
        cluster = self.launch.cluster
        rank = self.block[0] % cluster[0] + cluster[0] * (self.block[1] % cluster[1])
        word = {
            "SR_TID.X": thread,
            "SR_LANEID": thread % 32,
            "SR_CTAID.X": self.block[0],
            "SR_CTAID.Y": self.block[1],
            "SR_CTAID.Z": self.block[2],
            "SR_CgaCtaId": rank,
            "SR_SWINHI": SHARED_WINDOW >> 32,
            "SR_VIRTID": thread // 32,
        }.get(name, 0)
        return np.asarray(word, np.uint32).reshape((1, 1) if np.ndim(word) == 0 else (self.warps, 32))

    # ---- What memory instructions ask for ----

    def record(self, index: int, address: np.ndarray | None, lanes: np.ndarray, extra: Any) -> None:
        one = self.program.code[index]
        lanes = np.broadcast_to(lanes, (self.warps, 32))
        present = self.events[-1][1]
        if one.op in _UNITS:
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
                cost = Access(1, cost.lines, cost.sectors, word, cost.amount, cost.lanes)
            elif cost is not None and cost.lines:
                cost = Access(cost.wavefronts, cost.lines, cost.sectors, int(base[warp]) >> 7, cost.amount, cost.lanes)
            self.accesses[warp].append(cost)

    def _costs(
        self, one: Instruction, address: np.ndarray, source: np.ndarray | None, lanes: np.ndarray
    ) -> list[Access | None]:
        width = 4 * one.width if one.op.startswith("LD") else _stored_bytes(one)
        width = (
            2
            if any(m in ("U16", "S16") for m in one.modifiers)
            else 1
            if any(m in ("U8", "S8") for m in one.modifiers)
            else width
        )
        generic = one.op in ("LD", "ST") and bool((address[lanes] >= SHARED_WINDOW).all()) and lanes.any()
        shared = one.op in _SHARED or generic
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
            elif one.op == "SYNCS":
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


def _stored_bytes(one: Instruction) -> int:
    return 16 if "128" in one.modifiers else 8 if "64" in one.modifiers else 4


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
