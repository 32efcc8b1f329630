"""Finds the registers of a kernel whose values depend on what it loads from memory, in PTX after inlining.

Values are followed along all ways through the kernel, because compilers use one register for several variables. Arrays
of the kernel's own that hold nothing of A, B and C, such as a table of constants, are not counted as memory here; which
array an address belongs to is followed from the array's name through all computations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpu_simulator.ptx.basic_blocks import Block, blocks_of, reads_and_writes, registers_in
from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.ptx.inlining import Flat
from gpu_simulator.ptx.ir import Immediate, Instruction, Memory, Register, Symbol, Variable, Vector

FLOATS = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64", "tf32"}
_SPACES = {"global", "shared", "local", "param", "const"}
# Their results are no values of matrices: they tell of barriers, of threads, and of the place of tensor memory.
_NOT_DATA = {"mbarrier", "elect", "bar", "barrier", "activemask", "clusterlaunchcontrol"}
ALL_BITS = (1 << 64) - 1
Move = tuple[Instruction, list[int], list[int]]  # an instruction, the registers that it reads, and those it writes


@dataclass
class Flow:
    """What is known of the registers of an inlined kernel, by their numbers.

    steps: (instruction, the registers that it reads whose values depend on memory, those whose values depend on
    registers that no instruction writes).   bits: a mask of the bits of a register that may be other than 0; only of
    registers that depend on memory anywhere.   kept: the stores into variables of the module, which outlive a launch.
    between: the subtractions and comparisons of pointers to two arrays of the caller.   stores: (instruction, name of
    the parameter) of the stores into arrays of the caller.
    """

    steps: list[tuple[Instruction, frozenset[int], frozenset[int]]] = field(default_factory=list)
    bits: dict[int, int] = field(default_factory=dict)
    kept: list[Instruction] = field(default_factory=list)
    between: list[Instruction] = field(default_factory=list)
    stores: list[tuple[Instruction, str]] = field(default_factory=list)


def flow_of(flat: Flat, file: str = "", scales: bool = False) -> Flow:
    """Follow the values of a kernel until nothing changes.

    file: the name of the learner's text. If a kernel allocates tensor memory, the 32 bits that lines outside of this
    text load from shared memory are the address of the allocation, and not counted. With no name they are counted.
    scales: follow alpha and beta, the parameters that are floating-point numbers, instead of what is loaded.
    """
    blocks = blocks_of(flat)
    code = [_code(block) for block in blocks]
    moves = [move for part in code for move in part]
    written = {register for _, _, writes in moves for register in writes}
    never = {register for _, reads, _ in moves for register in reads if register not in written}
    arrays, flow = _Arrays(flat, moves, file, scales), Flow()
    entries = [(set(), set()) for _ in blocks]
    todo = set(range(len(blocks)))
    while todo:
        number = min(todo)
        todo.remove(number)
        loaded, unwritten = map(set, entries[number])
        new_store = False
        for move in code[number]:
            new_store |= arrays.note_store(move[0], loaded)
            _step(move, loaded, unwritten, never, arrays)
        if new_store:
            todo = set(range(len(blocks)))
        for target in blocks[number].targets:
            if target < len(blocks):
                live = blocks[target].live_in
                for before, after in zip(entries[target], (loaded, unwritten), strict=True):
                    if more := {register for register in after - before if live >> register & 1}:
                        before |= more
                        todo.add(target)
    ever: set[int] = set()
    for part, (loaded, unwritten) in zip(code, entries, strict=True):
        for move in part:
            flow.steps.append((move[0], frozenset(loaded & {*move[1]}), frozenset((unwritten | never) & {*move[1]})))
            _step(move, loaded, unwritten, never, arrays)
            ever |= loaded.intersection(move[2])
    _find_bits(moves, flow, ever)
    flow.kept = [item for item, _, _ in moves if arrays.outlives(item)]
    flow.between = [item for item, _, _ in moves if arrays.relates_two(item)]
    flow.stores = [(item, name) for item, _, _ in moves for name in arrays.stored_into(item)]
    return flow


def _code(block: Block) -> list[Move]:
    """The instructions of a block, each with the registers that it reads and writes.

    A wait for wgmma writes nothing here: the accumulators depend on memory from the product on.
    """
    items = block.instructions
    waits = [item.family == "wgmma" and "mma_async" not in item.parts for item in items]
    return [(item, *(([], []) if wait else reads_and_writes(item))) for item, wait in zip(items, waits, strict=True)]


def _step(move: Move, loaded: set[int], unwritten: set[int], never: set[int], arrays: _Arrays) -> None:
    """Follow one instruction: change the sets of registers to what holds behind it."""
    item, reads, writes = move
    if not writes:
        return
    gives = _gives_loaded(item, reads, loaded, arrays)
    asks = item.family not in ("ld", "ldu", "ldmatrix", "mbarrier") and (
        not unwritten.isdisjoint(reads) or not never.isdisjoint(_computed_from(item))
    )
    for found, yes in ((loaded, gives), (unwritten, asks)):
        if yes:
            found.update(writes)
        else:
            found.difference_update(writes)


def sources(item: Instruction) -> list:
    """The operands of an instruction that it reads."""
    _, writes = reads_and_writes(item)
    first = writes and item.operands and set(registers_in(item.operands[0])) & set(writes)
    return list(item.operands[1:] if first else item.operands)


def _computed_from(item: Instruction) -> Iterator[int]:
    """The registers whose values an instruction computes with; a mov alone computes nothing."""
    if item.family not in ("mov", "wgmma"):
        for operand in sources(item):
            yield from registers_in(operand)


def _gives_loaded(item: Instruction, reads: list[int], loaded: set[int], arrays: _Arrays) -> bool:
    family, parts = item.family, set(item.parts)
    if arrays.scales:
        return is_scale(item) or (not loaded.isdisjoint(reads) and not asks_for_0_or_1(item))
    if family in ("ld", "ldu"):
        return arrays.holds_loaded(item)
    if family in _NOT_DATA and "red" not in parts:
        return False
    if family in ("ldmatrix", "atom") or (family == "wmma" and "load" in parts):
        return True
    if (family == "tcgen05" and "ld" in parts) or (family == "wgmma" and "mma_async" in parts):
        return True
    return not loaded.isdisjoint(reads)


def _spaces(item: Instruction) -> list[str]:
    """The state spaces that an instruction names; that of the target comes first."""
    return [space for part in item.parts if (space := part.split("__")[0]) in _SPACES]


def _memory_of(item: Instruction) -> Memory | None:
    """The operand of an instruction that is a place in memory, the first of several; None if there is none."""
    return next((operand for operand in item.operands if type(operand) is Memory), None)


def is_scale(item: Instruction) -> bool:
    """Whether an instruction loads a parameter that is a floating-point number: alpha or beta."""
    return item.family == "ld" and "param" in item.parts and item.parts[-1] in FLOATS


def asks_for_0_or_1(item: Instruction) -> bool:
    """Whether an instruction compares with 0 or 1, as a GEMM may do that leaves out C where beta is 0."""
    values = (operand.text.lower() for operand in item.operands if type(operand) is Immediate)
    return item.family == "setp" and any(value in ("0f00000000", "0f3f800000") for value in values)


class _Arrays:
    """The variables that addresses may belong to, and those of them that hold values which were loaded."""

    def __init__(self, flat: Flat, moves: list[Move], file: str, scales: bool):
        self.scales = scales
        allocates = any(item.family == "tcgen05" and item.parts[1] == "alloc" for item, _, _ in moves)
        self.file = file if allocates else ""
        self.known: dict[int, Variable] = {}
        self.of_register: dict[int, frozenset[int]] = {}
        self.loaded: set[int] = set()
        self.spaces: set[str] = set()  # all variables of these hold loaded values
        self.parameters = {id(variable): variable.name for variable in flat.parameters}
        self.writers: dict[int, list[Instruction]] = {}
        for item, _, writes in moves:
            for register in writes:
                self.writers.setdefault(register, []).append(item)
        changed = True
        while changed:
            changed = False
            for item, _, writes in moves:
                if not writes:
                    continue
                found = self._origins(item)
                for register in writes:
                    before = self.of_register.get(register, frozenset())
                    if not found <= before:
                        self.of_register[register] = before | found
                        changed = True

    def _origins(self, item: Instruction) -> frozenset[int]:
        """The variables whose addresses an instruction may write into its results."""
        if item.family in ("ld", "ldu"):
            wide = item.parts[-1] in ("b64", "u64", "s64", "b128")
            if "param" not in item.parts or not wide:
                return frozenset()
            place = item.operands[1].base  # a parameter that is a pointer counts as a variable with a negative number
            return frozenset([-id(place.variable)] if type(place) is Symbol and place.variable is not None else [-1])
        if item.family in ("setp", "ldmatrix", "mma", "wmma", "wgmma", "mbarrier", "tcgen05"):
            return frozenset()
        return frozenset().union(*map(self.of_operand, sources(item)))

    def of_operand(self, operand) -> frozenset[int]:
        """The variables that the address in an operand may belong to."""
        if type(operand) is Memory:
            return self.of_operand(operand.base)
        if type(operand) is Symbol:
            if operand.variable is None:
                return frozenset()
            self.known[id(operand.variable)] = operand.variable
            return frozenset([id(operand.variable)])
        return frozenset().union(*(self.of_register.get(r, frozenset()) for r in registers_in(operand)))

    def holds_loaded(self, item: Instruction) -> bool:
        """Whether a load may read a value of A, B or C, or one that was computed from them."""
        place = _memory_of(item)
        if place is None:
            return True
        if self.file and "shared" in item.parts and item.parts[-1] in ("u32", "b32") and len(item.parts) == 3:
            frames = item.location.frames if item.location else ()
            if all(frame[0] != self.file for frame in frames):
                return False
        found = self.of_operand(place)
        if "const" in item.parts or ("param" in item.parts and found <= self.parameters.keys()):
            return False
        if not found or any(self._unsafe(variable) for variable in found):
            return True
        return any(self.known[variable].space == "shared" for variable in found) and not self._inside(place, item)

    def outlives(self, item: Instruction) -> bool:
        """Whether an instruction stores into a variable of the module."""
        place = _memory_of(item)
        found = [one for one in self.of_operand(place) if one > 0] if place is not None else ()
        return item.family in ("st", "red", "atom") and any(self.known[one].space == "global" for one in found)

    def stored_into(self, item: Instruction) -> Iterator[str]:
        """Yields the names of the parameters into whose arrays an instruction may write."""
        place = _memory_of(item)
        copies = item.family == "cp" and _spaces(item)[:1] == ["global"]  # the target is named first
        matrix = item.family == "wmma" and "store" in item.parts
        if place is None or not (matrix or copies or item.family in ("st", "red", "atom")):
            return
        for one in self.of_operand(place):
            if abs(one) in self.parameters:
                yield self.parameters[abs(one)]

    def relates_two(self, item: Instruction) -> bool:
        """Whether an instruction subtracts or compares pointers to different arrays of the caller."""
        if item.family not in ("sub", "setp") or item.parts[-1] not in ("s64", "u64", "b64"):
            return False
        first, second = ({one for one in self.of_operand(operand) if one < 0} for operand in sources(item)[:2])
        return bool(first and second and first.isdisjoint(second))

    def _unsafe(self, variable: int) -> bool:
        if variable < 0 or variable in self.loaded or variable in self.parameters:
            return True
        return self.known[variable].space in self.spaces

    def _inside(self, place: Memory, item: Instruction) -> bool:
        """Whether an address is known, and lies in one variable: another one could be reached past its end."""
        base, offset = place.base, place.offset
        for _ in range(20):
            if type(base) is Symbol and base.variable is not None:
                width = BYTES.get(item.parts[-1], 16) * (4 if "v4" in item.parts else 2 if "v2" in item.parts else 1)
                return 0 <= offset + base.offset <= base.variable.size - width
            if type(base) is not Register or len(self.writers.get(base.index, ())) != 1:
                return False
            writer = self.writers[base.index][0]
            if writer.family not in ("mov", "cvta") and writer.opcode != "cvt.u32.u64":
                return False
            base = writer.operands[1]
        return False

    def note_store(self, item: Instruction, loaded: set[int]) -> bool:
        """Note the variables into which an instruction writes loaded values; returns whether there is a new one."""
        family, parts = item.family, set(item.parts)
        copies = family == "cp" and not parts & {"commit_group", "wait_group", "wait_all", "prefetch"}
        matrix = family == "stmatrix" or (family == "wmma" and "store" in parts)
        given = (register for o in item.operands if type(o) is not Memory for register in registers_in(o))
        stores = family in ("st", "red", "atom") and any(register in loaded for register in given)
        if not (copies or matrix or stores):
            return False
        place = _memory_of(item)
        found = self.of_operand(place) if place is not None else frozenset()
        before = len(self.loaded), len(self.spaces)
        self.loaded |= {variable for variable in found if variable > 0}
        if not found:
            self.spaces |= set(_spaces(item)[:1]) or {"shared", "local"}
        return before != (len(self.loaded), len(self.spaces))


# ---- Bits ----


def _find_bits(moves: list[Move], flow: Flow, ever: set[int]) -> None:
    flow.bits = dict.fromkeys(ever, 0)
    changed = True
    while changed:
        changed = False
        for item, _, writes in moves:
            for register in writes:
                if register not in ever:
                    continue
                before = flow.bits[register]
                after = before | _bits_of(item, flow)
                if after != before:
                    flow.bits[register], changed = after, True


def constant(operand) -> int | None:
    """The value of an operand that is a whole number; None for anything else."""
    try:
        return int(operand.text.rstrip("U"), 0) if hasattr(operand, "text") else None
    except ValueError:
        return None


def bits_of_operand(operand, flow: Flow) -> int:
    """A mask of the bits of an operand that may be other than 0; all, if little is known of it."""
    if (value := constant(operand)) is not None:
        return value & ALL_BITS
    return flow.bits.get(operand.index, ALL_BITS) if type(operand) is Register else ALL_BITS


def _bits_of(item: Instruction, flow: Flow) -> int:
    """A mask of the bits of an instruction's result that may be other than 0."""
    family, kind = item.family, item.parts[-1]
    width = (1 << 8 * BYTES.get(kind, 8)) - 1
    operands = item.operands
    if family in ("and", "or", "xor", "add", "shl", "shr") and kind not in FLOATS and type(operands[0]) is Register:
        first, second = (bits_of_operand(operand, flow) for operand in operands[1:3])
        if family == "and":
            return first & second & width
        if family in ("or", "xor"):
            return (first | second) & width
        if family == "add":
            return (first | second if first & second == 0 else ALL_BITS) & width
        amount = constant(operands[2])
        if amount is not None and 0 <= amount < 64:
            if family == "shl":
                return first << amount & width
            if not kind.startswith("s"):
                return (first & width) >> amount
    if family == "cvt" and len(item.parts) == 3 and kind not in FLOATS:
        known = bits_of_operand(operands[1], flow) & width
        sign = kind.startswith("s") and known >> 8 * BYTES.get(kind, 8) - 1
        return ALL_BITS if sign else known
    if family == "mov" and type(operands[0]) is Register and type(operands[1]) is Register:
        return bits_of_operand(operands[1], flow) & width
    if type(operands[0]) is Vector or (len(operands) > 1 and type(operands[1]) is Vector):
        return ALL_BITS
    return width if family in ("ld", "mov") and kind in BYTES else ALL_BITS
