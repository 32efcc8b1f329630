"""Translates basic blocks to Python: one function for each block, in variants for all lanes and for some of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager

import numpy as np

from gpu_simulator import allow_list as generated
from gpu_simulator.codegen.fusion import fused_code
from gpu_simulator.codegen.registry import EMITTERS
from gpu_simulator.codegen.unwritten_registers import instructions_of
from gpu_simulator.codegen.warpgroup_code import warpgroup_code
from gpu_simulator.faults import TEXTURES, MalformedPtx, UnsupportedInstruction
from gpu_simulator.machine.special_registers import CLOCKS
from gpu_simulator.machine.special_registers import NAMES as SPECIALS
from gpu_simulator.ptx.basic_blocks import ACCESSES, BARRIERS, FENCES, Block, bits, exchanges, is_collective
from gpu_simulator.ptx.ir import Immediate, Instruction, Memory, Negated, Register, Special, Symbol, Vector, items_of
from gpu_simulator.ptx.types import CODES, NUMPY, SIZE, immediate, register_code
from gpu_simulator.runtime import RUNTIME

NAMESPACE = {code.replace("?", "b1"): dtype.type for code, dtype in NUMPY.items()}
TYPE_NAME = {code: code.replace("?", "b1") for code in NUMPY}
_TEXTURES = ("tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq")


class Emitter:
    """Generates the Python of one block. Expressions are strings; register number 5 is the local variable r5.

    full: for all lanes of the resident blocks.   observed, clustered: as for `Program.function`.
    """

    def __init__(self, program, registers: list[Register], full: bool, observed: bool = False, clustered: bool = False):
        self.program, self.registers, self.full, self.observed = program, registers, full, observed
        self.clustered = clustered
        self.lines: list[str] = []
        self.code: list[Instruction] = []  # the instructions of the block
        self.guard: str | None = None
        self.instruction: Instruction | None = None
        self.temporaries = 0
        self.marks: list[tuple[int, Instruction]] = []  # (number of the first line, instruction)

    # ---- Pieces of code ----

    def line(self, text: str) -> None:
        self.lines.append(text)

    def read_all(self, operand, kind: str) -> str:
        """The expression of a tuple with the values of a vector's items, or of one operand."""
        return "(" + ", ".join(self.read(item, kind) for item in items_of(operand)) + ",)"

    def write_all(self, operand, values: str, kind: str) -> None:
        """Write the items of a list to those of a vector, or to one operand."""
        for number, item in enumerate(items_of(operand)):
            self.write(item, f"{values}[{number}]", kind)

    def tell(self, event: str, *facts: object) -> None:
        """Tell observers of an event of the lanes: the name of a method of `Observer` and its other arguments."""
        self.line(f"tell(resident, {event!r}, lanes, {', '.join(map(str, facts))})" if self.observed else "pass")

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    def constant(self, value) -> str:
        return self.program.constant(value)

    def unsupported(self, why: str = "") -> UnsupportedInstruction:
        i = self.instruction
        if i is None:
            return UnsupportedInstruction(f"An instruction of this PTX cannot be simulated: {why}.")
        where = i.location.in_words() if i.location else f"PTX line {i.line}"
        why = why or (TEXTURES if i.family in _TEXTURES else "")
        reason = f": {why}" if why else "; gpu_simulator.supported() lists the opcodes that can"
        return UnsupportedInstruction(f"{where}: {i.opcode} cannot be simulated{reason}.").at(i)

    def allow(self, *modifiers: str) -> None:
        """Raise `UnsupportedInstruction` if the instruction has a modifier that is neither a type nor one of these."""
        for part in self.instruction.parts[1:]:
            if part not in CODES and part not in modifiers:
                raise self.unsupported(f"the modifier .{part} is not supported")

    @property
    def mask(self) -> str:
        """The expression for the lanes that execute: the block's mask and the guard."""
        return "m" if self.guard is None else f"both(m, {self.guard}, lanes)"

    @property
    def site(self) -> int:
        return self.instruction.site

    # ---- Operands ----

    def read(self, operand, kind: str) -> str:
        """An expression for the value of an operand as PTX type `kind`, with the NumPy dtype of that type."""
        want = CODES[kind]
        form = type(operand)
        if form is Register:
            return self.convert(f"r{operand.index}", register_code(operand.type), want)
        if form is Immediate:
            return self.constant(immediate(operand.text, kind))
        if form is Symbol:
            return self.in_window(self.constant(self.address_constant(operand, kind)), operand, want)
        if form is Special:
            return self.convert(*self.special(operand.name), want)
        if form is Negated and want == "?":
            return f"(~{self.read(operand.register, 'pred')})"
        if form is Vector:
            return self.packed(operand, want)
        raise self.unsupported("one of its operands has a form that is not supported")

    def address_constant(self, operand: Symbol, kind: str):
        if operand.variable is None:
            if operand.name not in self.program.module.functions:
                raise self.unsupported(f"the address of {operand.name} is not known")
            value = self.program.function_address(operand.name)
        else:
            value = self.program.address(operand.variable) + operand.offset
        return NUMPY[CODES[kind]].type(value & ((1 << 8 * SIZE[CODES[kind]]) - 1))

    def in_window(self, address: str, symbol: Symbol, code: str) -> str:
        """An address of NumPy type `code`; with its block's rank if it is that of a shared variable in a cluster."""
        if not self.clustered or symbol.variable is None or symbol.variable.space != "shared" or SIZE[code] < 4:
            return address
        return f"({address} + {self.convert(f'lanes.window{SIZE[code]}', f'u{SIZE[code]}', code)})"

    def special(self, name: str) -> tuple[str, str]:
        """The expression and NumPy code of a special register."""
        base = name.lstrip("%")
        wide = base in ("clock64", "globaltimer", "gridid")
        if name == "WARP_SZ":
            return self.constant(np.uint32(32)), "u4"
        if base not in SPECIALS:
            raise self.unsupported(f"the special register {name} is not supported")
        if base in CLOCKS:
            return f"resident.{base}()", "u8" if wide else "u4"
        return f"lanes.{base.replace('.', '_')}", "u8" if wide else "u4"

    def convert(self, expression: str, have: str, want: str) -> str:
        """Reinterpret the bits of an expression; drop high bits to narrow it, add zeros to widen it.

        have, want: NumPy codes.
        """
        if have == want:
            return expression
        if SIZE[have] == SIZE[want]:
            return f"{expression}.view({TYPE_NAME[want]})"
        if have in ("f4", "f8"):
            expression = f"{expression}.view(u{SIZE[have]})"
        expression = f"{expression}.astype(u{SIZE[want]})"
        return expression if want[0] == "u" else f"{expression}.view({TYPE_NAME[want]})"

    def packed(self, vector: Vector, want: str) -> str:
        """The expression of {a, b, …} as one wider value, with the first part in the lowest bits."""
        part = self.part(vector, SIZE[want])
        terms = []
        for number, item in enumerate(vector.items):
            term = f"{self.read(item, f'u{8 * part}')}.astype(u{SIZE[want]})"
            if number:
                term = f"({term} << {self.constant(NUMPY[f'u{SIZE[want]}'].type(8 * part * number))})"
            terms.append(term)
        expression = "(" + " | ".join(terms) + ")"
        return expression if want[0] == "u" else f"{expression}.view({TYPE_NAME[want]})"

    def written_later(self, operand, *codes: str) -> int:
        """The register number of a destination that the machine writes when a wait ends.

        codes: the NumPy codes that it may have. Raises `UnsupportedInstruction` for any other.
        """
        if type(operand) is not Register or register_code(operand.type) not in codes:
            raise self.unsupported("its destination is not a register of the right type")
        return operand.index

    def part(self, vector: Vector, whole: int) -> int:
        """Bytes of each item of a vector that fills `whole` bytes."""
        count = len(vector.items)
        if not count or whole % count or whole // count not in (1, 2, 4, 8):
            raise self.unsupported(f"{count} registers side by side do not make {whole} bytes")
        return whole // count

    def write(self, operand, expression: str, kind: str) -> None:
        """Assign a value of PTX type `kind` (in its own NumPy code) to a destination register or vector."""
        if operand is None or (type(operand) is Symbol and operand.name == "_"):
            self.line(expression)
            return
        if type(operand) is Vector:
            self.unpack(operand, expression, kind)
            return
        if type(operand) is not Register:
            raise self.unsupported("its destination is not a register")
        have, want = CODES[kind], register_code(operand.type)
        if have != want:
            if SIZE[have] == SIZE[want]:
                expression = f"({expression}).view({TYPE_NAME[want]})"
            else:
                wide = f"{have[0] if have[0] == 'i' else 'u'}{SIZE[want]}"
                source = f"({expression})" if have[0] != "f" else f"({expression}).view(u{SIZE[have]})"
                expression = f"{source}.astype({wide})"
                if wide != want:
                    expression = f"{expression}.view({TYPE_NAME[want]})"
        name = f"r{operand.index}"
        if self.guard is not None:
            expression = f"sel({self.guard}, {expression}, {name})"
        self.line(f"{name} = {expression}")

    def unpack(self, vector: Vector, expression: str, kind: str) -> None:
        whole = SIZE[CODES[kind]]
        part = self.part(vector, whole)
        name = self.temporary()
        self.line(f"{name} = {self.convert(f'({expression})', CODES[kind], f'u{whole}')}")
        for number, item in enumerate(vector.items):
            if item is None or (type(item) is Symbol and item.name == "_"):
                continue
            shifted = name
            if number:
                shifted = f"({name} >> {self.constant(NUMPY[f'u{whole}'].type(8 * part * number))})"
            self.write(item, f"{shifted}.astype(u{part})", f"u{8 * part}")

    def address(self, operand: Memory, kind: str = "") -> str:
        """The expression of the address [base + offset], which has 32 or 64 bits like the base register."""
        base = operand.base
        if type(base) is Register:
            code = register_code(base.type)
            if code not in ("u4", "u8"):
                raise self.unsupported(f"the register {base.name} of type .{base.type} cannot hold an address")
            wide = code == "u8"
            name = f"r{base.index}"
            if operand.offset == 0:
                return name
            dtype = np.uint64 if wide else np.uint32
            return f"({name} + {self.constant(dtype(operand.offset & (2**64 - 1 if wide else 2**32 - 1)))})"
        if type(base) is Symbol:
            constant = self.constant(np.uint64(int(self.address_constant(base, "u64")) + operand.offset & 2**64 - 1))
            return self.in_window(constant, base, "u8")
        if type(base) is Immediate:
            return self.constant(np.uint64(int(immediate(base.text, "u64")) + operand.offset & 2**64 - 1))
        raise self.unsupported("its address has a form that is not supported")

    # ---- A whole instruction ----

    def begin(self, instruction: Instruction) -> None:
        """Begin the code of an instruction, without its guard."""
        self.instruction, self.guard = instruction, None
        self.marks.append((len(self.lines), instruction))

    def emit(self, instruction: Instruction) -> None:
        self.begin(instruction)
        if instruction.guard is not None:
            self.guard = self.temporary()
            self.line(f"{self.guard} = {self.read(instruction.guard, 'pred')}")
            if self.observed and _needs_whole_warps(instruction):
                self.line(f"tell_partial_warps(resident, lanes, {instruction.site}, {self.mask})")
        emitter = EMITTERS.get(instruction.family)
        if emitter is None:
            raise self.unsupported()
        with self.decoding():
            emitter(self, instruction)
            if self.observed and exchanges(instruction):
                members = self.read(instruction.operands[-1], "b32")
                self.tell("warps_exchanged", instruction.site, members)

    def beside(self, emit, instruction: Instruction) -> None:
        """Generate code beside that of an instruction. emit: called with this and the instruction."""
        self.instruction = instruction
        with self.decoding():
            emit(self, instruction)

    @contextmanager
    def decoding(self):
        """Turn errors while code is generated into `UnsupportedInstruction`: the instruction's operands caused them."""
        try:
            yield
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, StopIteration) as error:
            why = f"({error})" if str(error) else "(a modifier is missing)"
            raise self.unsupported(f"its form is not supported {why}") from error


def block_source(
    program, block: Block, full: bool, probes: frozenset = frozenset(), observed: bool = False, clustered: bool = False
) -> tuple[str, list[tuple[int, Instruction]]]:
    """The Python text of one block's function, and where instructions begin in it: (line from 0, instruction).

    The function is called as `block(resident, lanes)` and returns the number of the next block, or -1 if the lanes
    continue at different ones. full, observed, clustered: as for `Emitter`.   probes: sites with a probe.
    """
    emitter = Emitter(program, program.registers, full, observed, clustered)
    emitter.code = block.code
    unwritten = program.unwritten
    followed, changed = unwritten.in_block(block) if unwritten.places else ([], [])
    for register in (*bits(block.uses), *followed):
        emitter.line(f"r{register} = R[{register}]" if full else f"r{register} = get(R[{register}])")
    live_out = block.code_defines & block.live_out
    meetings = warp_meetings(block) if observed else {}
    first = block.code[0] if block.code else block.terminator
    if observed and not full and _needs_whole_warps(first):
        emitter.line(f"tell_partial_warps(resident, lanes, {first.site}, m)")
    stops = bool(probes & {i.site for i in block.code})
    for code in [[item] for item in block.code] if stops else [block.code]:  # nothing is fused across a probe
        stop = code[0].site if stops and code[0].site in probes else None
        if stop is not None:
            emitter.line(f"resident.probe(lanes, {stop}, locals(), False)")
        for step in _steps(program, code, -1 if stops else live_out, observed):
            for item in instructions_of(step) if followed else ():
                emitter.beside(unwritten.emit, item)
            if isinstance(step, Instruction):
                _tell_meetings(emitter, meetings.get(step.site, ()))
                emitter.emit(step)
            else:
                emit_step(emitter, step)
            for item in instructions_of(step) if followed else ():
                emitter.beside(unwritten.emit_after, item)
        if stop is not None:
            emitter.line(f"resident.probe(lanes, {stop}, locals(), True)")
    _tell_meetings(emitter, meetings.get(-1, ()))
    if followed and block.terminator is not None:
        emitter.beside(unwritten.emit, block.terminator)
    for register in (*bits(live_out), *changed):
        emitter.line(f"R[{register}] = r{register}" if full else f"put({register}, r{register})")
    with emitter.decoding():
        emitter.line(_ending(emitter, block))
    head = (
        ["R = resident.R", "m = lanes.mask"]
        if full
        else ["R = resident.R", "m = lanes.mask", "get = lanes.get", "put = resident.put_masked(lanes)"]
    )
    text = "".join(f"    {line}\n" for line in [*head, *emitter.lines])
    return f"def block(resident, lanes):\n{text}", [(1 + len(head) + at, item) for at, item in emitter.marks]


def _needs_whole_warps(item: Instruction | None) -> bool:
    """Whether all lanes of a warp have to execute an instruction together. wgmma has checks of its own."""
    return item is not None and is_collective(item) and "aligned" in item.parts and item.family != "wgmma"


def _steps(program, code: list[Instruction], live_out: int, observed: bool):
    if program.warpgroup_registers is None:
        return fused_code(code, live_out)
    return warpgroup_code(program, code, live_out, observed)


def warp_meetings(block: Block) -> dict[int, list[Instruction]]:
    """By the site of the first access or fence after them, the bar.warp.sync; -1 for those that none follows.

    Other instructions of whole warps (shfl, vote, mma, ldmatrix, elect …) wait for their lanes but order no memory:
    "These intrinsics do not imply a memory barrier" (CUDA C++ Programming Guide, warp shuffle, vote, match functions).
    wgmma counts as well, because its checker makes a stronger check: a barrier of the whole warpgroup.

    The order is that of the PTX, because fusion moves an mma past accesses.
    """
    found: dict[int, list[Instruction]] = {}
    met: list[Instruction] = []
    for item in block.code:
        together = (item.family in BARRIERS and "warp" in item.parts) or item.family == "wgmma"
        ordered = item.family in ACCESSES or item.family in FENCES
        if ordered and (met or together):
            found[item.site], met = [*met, item] if together else met, []
        if together:
            met = [*met, item]
    if met:
        found[-1] = met
    return found


def _tell_meetings(emitter: Emitter, met: Sequence[Instruction]) -> None:
    """Generate the code that tells observers of each bar.warp.sync, with its membermask."""
    for item in met:
        members = emitter.read(item.operands[0], "b32") if item.family in BARRIERS else "None"
        emitter.tell("warps_met", members)


def emit_step(emitter: Emitter, step) -> None:
    """Generate the code of a step that stands for several instructions."""
    with emitter.decoding():
        step.emit(emitter)


def _ending(emitter: Emitter, block: Block) -> str:
    item = block.terminator
    if item is not None:
        emitter.begin(item)
    if block.end == "goto":
        return f"return {block.targets[0]}"
    if block.end == "branch":
        condition = emitter.read(item.guard, "pred")
        return f"return resident.branch(lanes, {condition}, {block.targets[0]}, {block.targets[1]})"
    if block.end == "switch":
        index = emitter.read(item.operands[0], "u32")
        return f"return resident.switch(lanes, {index}, {block.targets!r})"
    if block.end in ("enter", "leave"):
        return _frame_change(emitter.program, block)
    if block.end == "exit":
        return "return resident.exit(lanes)"
    if block.end == "trap":
        return f"return resident.trap(lanes, {item.site})"
    return EMITTERS[item.family](emitter, item, block.targets[0] if block.targets else -1)


def _frame_change(program, block: Block) -> str:
    """The last line of a block that calls a recursive function from within it, or returns from it."""

    def moves(sources, destinations) -> tuple:
        return tuple(
            (program.address(a), a.size, program.address(b)) for a, b in zip(sources, destinations, strict=True)
        )

    number = block.terminator.operands[0]
    frame = program.frames[number]
    if block.end == "enter":
        given = moves(block.terminator.operands[1], frame.parameters)
        return f"return resident.calls.enter(lanes, {number}, {given!r}, {block.targets[0]}, {block.targets[1]})"
    calls = [b for b in program.blocks if b.end == "enter" and b.terminator.operands[0] == number]
    taken = tuple((b.targets[1], moves(frame.results, b.terminator.operands[2])) for b in calls)
    return f"return resident.calls.leave(lanes, {number}, {block.targets[0]}, {taken!r})"


def compile_block(program, block: Block, *variant):
    """The Python function of one block. variant: as for `block_source`.

    Raises `UnsupportedInstruction` or `MalformedPtx`.
    """
    source, marks = block_source(program, block, *variant)
    try:
        return generated.function_of(source, f"<block {block.index}>", program.namespace)
    except generated.Refused as error:
        item = next((item for at, item in reversed(marks) if at <= error.line), None)
        where = f"PTX line {item.line}, {item.opcode[:60]}" if item is not None else f"PTX line {block.line}"
        raise MalformedPtx(f"{where}: {error}") from error


def base_namespace() -> dict:
    """The names that every generated function may use. Python's built-in functions are not among them."""
    return {**NAMESPACE, **RUNTIME, "np": np, "locals": locals, "__builtins__": {}}
