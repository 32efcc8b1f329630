"""The code of blocks with wgmma: accumulators are kept as a matrix from one multiplication to the next.

They are written back to registers before another instruction uses them, and at the end of the block. If there are
observers, every instruction that uses a register of accumulators or of A reports it before it executes.
"""

from __future__ import annotations

from gpu_simulator.codegen.fusion import fused_code
from gpu_simulator.codegen.ops.matrix import wgmma
from gpu_simulator.ptx.basic_blocks import reads_and_writes
from gpu_simulator.ptx.ir import Immediate, Instruction
from gpu_simulator.ptx.types import register_code
from gpu_simulator.ptx.wgmma_forms import is_multiply, plain_move


class Multiply:
    """One wgmma.mma_async. held: the matrix of its accumulators; None to make it from their registers."""

    def __init__(self, instruction: Instruction, held: str | None, out: str):
        self.instruction, self.held, self.out = instruction, held, out

    def emit(self, e) -> None:
        e.begin(self.instruction)
        kind = wgmma.kind_at(e, self.instruction)
        e.program.warpgroup_kinds[self.instruction.site] = kind
        names = ", ".join(f"r{n}" for n in kind.d)
        held = self.held or f"accumulators(lanes, ({names},), 1, {kind.n // 8}, {kind.form!r})"
        wgmma.multiply(e, self.instruction, kind, held, self.out)


class WriteAccumulators:
    """Writes a matrix of accumulators back to its registers."""

    def __init__(self, instruction: Instruction, held: str):
        self.instruction, self.held = instruction, held

    def emit(self, e) -> None:
        kind = e.program.warpgroup_kinds[self.instruction.site]
        names = ", ".join(f"r{n}" for n in kind.d)
        code = register_code(e.registers[kind.d[0]].type)
        e.line(f"({names},) = results(lanes, {self.held}, 1, {kind.n // 8}, {kind.form!r}, {code})")


class RegisterUse:
    """Reports that an instruction is about to read or write registers that a wgmma may use."""

    def __init__(self, instruction: Instruction, registers: tuple[int, ...], verb: str):
        self.instruction, self.registers, self.verb = instruction, registers, verb

    def emit(self, e) -> None:
        e.tell("wgmma_registers_used", self.instruction.site, self.registers, repr(self.verb), "m")


class Moved:
    """Reports that a register of accumulators or of A is about to be copied to another (compilers rename them so)."""

    def __init__(self, to: int, source: int, result: bool):
        self.to, self.source, self.result = to, source, result

    def emit(self, e) -> None:
        if self.result:
            e.line("if resident.warpgroups.flights:")
            e.line(f"    resident.warpgroups.moved(lanes, {self.to}, {self.source})")
        if e.observed:
            e.tell("wgmma_register_moved", self.to, self.source, "m")


def warpgroup_code(program, code: list[Instruction], live_out: int, observed: bool) -> list:
    """The steps of one block of a program that has wgmma."""
    steps = _held(code, live_out) if any(map(is_multiply, code)) else fused_code(code, live_out)
    registers = program.warpgroup_registers
    return _with_uses(steps, registers, observed) if observed or registers.copies else steps


def _with_uses(steps, registers, observed: bool) -> list:
    out = []
    for step in steps:
        for item in getattr(step, "members", [step]):  # of a fused step
            if isinstance(item, Instruction) and item.family != "wgmma":
                out += _use(item, registers, observed)
        out.append(step)
    return out


def _use(item: Instruction, registers, observed: bool) -> list:
    move = plain_move(item)
    if move is not None and move[0].index in registers.sources:
        to, source = move[0].index, move[1].index
        return [Moved(to, source, source in registers.results or source in registers.copies)]
    reads, writes = (registers.sources.intersection(found) for found in reads_and_writes(item))
    if not observed or not (reads or writes):
        return []
    # Compilers move the assignment of a constant to any place before its use, whatever its place in the source.
    constant = item.family == "mov" and item.guard is None and type(item.operands[1]) is Immediate
    return [RegisterUse(item, tuple(sorted(reads | writes)), "sets" if constant else "reads" if reads else "writes")]


def _held(code: list[Instruction], live_out: int) -> list:
    steps, held, count = [], {}, 0  # held: accumulators -> (name of the matrix, the last instruction that wrote it)

    def spill(key: tuple) -> None:
        name, last = held.pop(key)
        steps.append(WriteAccumulators(last, name))

    for item in code:
        reads, writes = reads_and_writes(item)
        touched, own = {*reads, *writes}, None
        if is_multiply(item):
            own = tuple(writes)
        for key in [key for key in held if key != own and touched.intersection(key)]:
            spill(key)
        if own is None:
            steps.append(item)
            continue
        a = set(reads) - set(own)
        if own in held and a.intersection(own):
            spill(own)
        count += 1
        name = f"acc{count}"
        steps.append(Multiply(item, held[own][0] if own in held else None, name))
        held[own] = name, item
    for key in list(held):
        if any(live_out >> n & 1 for n in key):
            spill(key)
    return steps
