"""Follows, while a kernel runs, the values of registers that nothing has written, and reports where one is used.

Liveness tells which registers a kernel may read before it writes them. In most kernels there are none, and then nothing
is followed. For each of the others, and each register to which its value can flow, the generated code keeps one more
register, a predicate: whether the value comes from written registers alone. Copies and arithmetic hand it on, because a
compiler may compute with such a value and then not use the result. It is reported where it has an effect: in an
address, in what is stored to global memory, in a barrier or a branch.

It is followed through shared memory if it is stored there, because threads beyond the edge of a tile may store what
nobody uses, and in a search for hazards through local memory, which begins unwritten, too: the copy of a structure may
hold such values. What comes from other lanes, or from an mma, whose unused rows may hold anything, counts as written.

Floats are left out: an unwritten one holds NaN, which the result shows, and accumulators that nobody sets are right
where the first product overwrites them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from gpu_simulator.codegen.warpgroup_code import Multiply
from gpu_simulator.ptx.basic_blocks import Block, bits, reads_and_writes, registers_in, writes_first
from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.ptx.ir import Instruction, Register, items_of
from gpu_simulator.runtime import runtime

# Where a value has an effect, and where the result comes from other lanes or from elsewhere, and counts as written.
EFFECTS = {"ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "wgmma", "mbarrier", "bar", "barrier", "bra", "brx",
           "tcgen05", "clusterlaunchcontrol"}  # fmt: skip
ELSEWHERE = {"shfl", "vote", "match", "redux", "activemask", "elect", "call", "enter", "leave", "mma", "movmatrix",
             "wmma", "stmatrix"}  # fmt: skip
# Instructions that may write shared memory other than by st; then values are not followed there.
FILLS = {"cp", "stmatrix", "wmma", "mbarrier", "clusterlaunchcontrol", "tcgen05", "mapa"}


class Flow(NamedTuple):
    """Numbers of registers: those whose values flow into the results, those that have an effect, the results."""

    sources: tuple[int, ...]
    used: tuple[int, ...]
    results: tuple[int, ...]


def flow_of(item: Instruction) -> Flow:
    """How values flow through an instruction."""
    results = tuple(reads_and_writes(item)[1])
    operands = item.operands[1:] if writes_first(item) else item.operands
    if item.family == "st" and memory_of(item) and "async" not in item.parts:
        operands = operands[:1]  # what is stored in the memory of a block or a thread may not be used either
    data = tuple(number for operand in operands for number in registers_in(operand))
    guard = tuple(registers_in(item.guard)) if item.guard is not None else ()
    if item.family == "wgmma" and "mma_async" not in item.parts:
        return Flow((), (), results)
    if item.family in EFFECTS:
        return Flow((), (*data, *guard), results)
    if item.family in ELSEWHERE:
        return Flow((), guard, results)
    if item.family in ("xor", "sub") and len(set(item.operands[1:])) == 1:  # 0, whatever the register holds
        data = ()
    return Flow((*data, *guard), (), results)


def holds_float(register: Register) -> bool:
    """Whether a register holds a float; the compiler also keeps floats in .b32 registers, which it calls %f1, %f2 …"""
    return register.type.startswith(("f", "bf", "tf")) or re.fullmatch(r"%fd?\d+", register.name) is not None


class UnwrittenRegisters:
    """The registers of a program that are followed.

    origins: by register, the unwritten ones whose values it may hold, and loads of local memory, as -1 - their site.
    places: the number of its predicate.   memories: those that are followed, "local" and "shared".
    direct: the registers to which such a value can come otherwise than through shared memory.
    """

    def __init__(
        self, blocks: list[Block], registers: list[Register], first: int, recursive: bool, local: bool = False
    ):
        start = () if recursive else bits(blocks[0].live_in)
        self.read_first = [number for number in start if not holds_float(registers[number])]
        self.origins = {number: {number} for number in self.read_first}
        self.memories: set[str] = set()
        code = [item for block in blocks for item in block.instructions]
        if local:
            self._follow("local", code)
        if self.origins:
            self._spread([flow_of(item) for item in code])
        self.direct = set(self.origins)
        if self.origins:
            stored = {number for item in code for number in stored_in(item, "shared")} & self.origins.keys()
            if stored and not any(item.family in FILLS for item in code):
                self._follow("shared", code, set().union(*(self.origins[number] for number in stored)))
                self._spread([flow_of(item) for item in code])
        self.places = {number: first + place for place, number in enumerate(self.origins)}

    def _follow(self, memory: str, code: list[Instruction], held: Collection[int] = ()) -> None:
        """Follow what is loaded from a memory. held: the origins of what is stored there; of none, the load itself."""
        self.memories.add(memory)
        for item in code:
            if item.family == "ld" and memory_of(item) == memory:
                for number in reads_and_writes(item)[1]:
                    self.origins.setdefault(number, set()).update(held or {-1 - item.site})

    def _spread(self, flows: list[Flow]) -> None:
        changed = True
        while changed:
            changed = False
            for sources, _, results in flows:
                held = set().union(*(self.origins[number] for number in sources if number in self.origins))
                for number in results if held else ():
                    known = self.origins.setdefault(number, set())
                    if not held <= known:
                        known |= held
                        changed = True

    def initial(self) -> list:
        """The initial value of each predicate."""
        return [np.bool_(number not in self.read_first) for number in self.places]

    def in_block(self, block: Block) -> list[list[int]]:
        """The predicates that the code of a block uses, and those that it changes."""
        flows = [flow_of(item) for item in block.instructions]
        stored = {number for item in block.code for memory in self.memories for number in stored_in(item, memory)}
        changed = {number for flow in flows for number in flow.results}
        used = {number for flow in flows for numbers in flow for number in numbers} | stored
        return [[self.places[n] for n in sorted(numbers & self.places.keys())] for numbers in (used, changed)]

    def emit(self, emitter, item: Instruction) -> None:
        """Generate the code that belongs before an instruction."""
        flow = flow_of(item)
        used, results = ([n for n in dict.fromkeys(numbers) if n in self.places] for numbers in flow[1:])
        if not used and not results:
            return
        emitter.begin(item)
        mask, guard = "m", ""
        if item.guard is not None and item.family != "bra":
            guard = emitter.temporary()
            emitter.line(f"{guard} = {emitter.read(item.guard, 'pred')}")
            mask = f"both(m, {guard}, lanes)"
        for number in used:
            by = number in registers_in(item.guard) if item.guard is not None else False
            where = "m" if by else mask
            emitter.line(f"use_of_unwritten(resident, lanes, {item.site}, {where}, {number}, r{self.places[number]})")
        if item.family == "ld" and memory_of(item) in self.memories:
            self._load(emitter, item, mask, guard)
            return
        written = self._written(emitter, item, flow)
        for number in results:
            place = f"r{self.places[number]}"
            emitter.line(f"{place} = sel({guard}, {written}, {place})" if guard else f"{place} = {written}")

    def _load(self, emitter, item: Instruction, mask: str, guard: str) -> None:
        width, items = BYTES[item.parts[-1]], items_of(item.operands[0])
        found = emitter.temporary()
        address = emitter.address(item.operands[1])
        emitter.line(
            f"{found} = memory_written(resident, lanes, '{memory_of(item)}', {address}, {width}, {len(items)})"
        )
        for part, register in enumerate(items):
            if type(register) is Register:
                place, value = f"r{self.places[register.index]}", f"{found}[{part}]"
                emitter.line(f"{place} = sel({guard}, {value}, {place})" if guard else f"{place} = {value}")

    def emit_after(self, emitter, item: Instruction) -> None:
        """Generate the code that belongs behind an instruction: memory may hold a value that nothing has written."""
        memory = memory_of(item)
        if item.family != "st" or memory not in self.memories:
            return
        width, items = BYTES[item.parts[-1]], items_of(item.operands[1])
        held = {
            part: f"r{self.places[register.index]}"
            for part, register in enumerate(items)
            if type(register) is Register and register.index in self.places
        }
        if held:
            emitter.begin(item)
            mask = "m" if item.guard is None else f"both(m, {emitter.read(item.guard, 'pred')}, lanes)"
            address = emitter.address(item.operands[0])
            for part, written in held.items():
                where = f"'{memory}', {address}, {mask}, {width}, {part}"
                emitter.line(f"memory_unwritten(resident, lanes, {where}, {written})")

    def _written(self, emitter, item: Instruction, flow: Flow) -> str:
        """The expression of whether the results come from written registers alone."""
        held = {number: f"r{self.places[number]}" for number in flow.sources if number in self.places}
        if not held:
            return emitter.constant(np.bool_(True))
        if item.family == "selp":
            true = emitter.constant(np.bool_(True))
            one, other, chosen = (
                held.get(operand.index, true) if type(operand) is Register else true for operand in item.operands[1:4]
            )
            return f"({chosen} & sel({emitter.read(item.operands[3], 'pred')}, {one}, {other}))"
        return "(" + " & ".join(held.values()) + ")"


def memory_of(item: Instruction) -> str:
    """The memory of a block or a thread that a load or store names: "shared", "local" or "param"; else ""."""
    found = {part.partition("__")[0] for part in item.parts[1:]} & {"shared", "local", "param"}
    return min(found, default="")


def stored_in(item: Instruction, memory: str) -> set[int]:
    """The registers that a store puts into this memory."""
    return set(registers_in(item.operands[1])) if item.family == "st" and memory_of(item) == memory else set()


def instructions_of(step) -> list[Instruction]:
    """The instructions for which a step of a block's code stands."""
    if isinstance(step, Instruction):
        return [step]
    return [step.instruction] if isinstance(step, Multiply) else getattr(step, "members", [])


@runtime
def use_of_unwritten(resident, lanes, site: int, mask, register: int, written) -> None:
    """Report the first lane that uses a value of a register that nothing has written."""
    if written.all():
        return
    bad = np.broadcast_to(~written, lanes.n)
    bad = np.flatnonzero(bad if mask is None else bad & mask)
    if len(bad):
        resident.launch.use_of_unwritten(resident, site, register, int(lanes.lane_numbers()[bad[0]]))


@runtime
def memory_written(resident, lanes, space: str, address, width: int, count: int):
    """(count, lanes.n) Boolean: whether an item in memory holds a value that has been written.

    In local memory one byte is enough, because a word of a struct that is copied may hold padding.
    """
    memory = resident.shared if space == "shared" else resident.local
    if memory.written is None:
        return np.ones((count, lanes.n), bool)
    at = memory.bytes_of(lanes, address, width * count)
    found = (memory.written[at] | (at < 0)).reshape(lanes.n, count, width)
    return (found.all(2) if space == "shared" else found.any(2)).T


@runtime
def memory_unwritten(resident, lanes, space: str, address, mask, width: int, part: int, written) -> None:
    """Note the lanes that have stored a value that nothing has written, as item `part` of a vector."""
    memory = resident.shared if space == "shared" else resident.local
    if written.all() or memory.written is None:
        return
    bad = np.broadcast_to(~written, lanes.n)
    bad = np.flatnonzero(bad if mask is None else bad & mask)
    at = memory.bytes_of(lanes, address, width * (part + 1))[bad, -width:]
    memory.written[at[at >= 0]] = False
