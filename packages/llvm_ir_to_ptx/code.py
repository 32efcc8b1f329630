"""The PTX instructions of one function while they are written: registers, values that are known already, source lines.

An instruction that only computes is written once: where the same operation on the same operands dominates a place, its
register is used again. Instructions whose results nobody reads are left out in the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from llvm_ir_to_ptx.reading.debug_lines import Frame
from llvm_ir_to_ptx.reading.types import Float, Integer, Pointer, Scalar
from llvm_ir_to_ptx.unsupported import UnsupportedIR

# The prefix of the registers of a type; the same as NVRTC's.
PREFIXES = {"pred": "%p", "b16": "%rs", "b32": "%r", "b64": "%rd", "f32": "%f", "f64": "%fd"}
REGISTER = re.compile(r"%(?:p|rs|r|rd|f|fd)\d+\b")


class Load(NamedTuple):
    """What a load of one scalar reads: `kind` is its PTX type, `align` that of its address in bytes."""

    base: str
    offset: int
    space: str
    kind: str
    align: int


@dataclass
class Line:
    """An instruction or label of PTX, or an asm statement in several lines of text.

    `writes` and `reads` are the registers that it sets and reads; one that is `pure` has no other effect. frames: its
    position in the source, see `DebugLines.frames`. only_registers: it neither writes memory nor waits.
    load: of one scalar, if it is such a load and may be moved.
    """

    text: str
    writes: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()
    pure: bool = False
    frames: tuple[Frame, ...] = ()
    is_asm: bool = False
    only_registers: bool = False
    load: Load | None = None

    @property
    def is_label(self) -> bool:
        return self.text.endswith(":")


def register_type(of: Scalar) -> str:
    """The PTX type of the register for a scalar. Raises `UnsupportedIR` for integers of more than 64 bits."""
    if isinstance(of, Pointer):
        return "b64"
    if isinstance(of, Float):
        return {16: "b16", 32: "f32", 64: "f64"}[of.bits]
    return "pred" if of.bits == 1 else f"b{width(of)}"


def width(of: Integer) -> int:
    """The bits of the register for an integer. Raises `UnsupportedIR` for integers of more than 64 bits."""
    if of.bits > 64:
        raise UnsupportedIR(f"An integer of {of.bits} bits")
    return 16 if of.bits <= 16 else 32 if of.bits <= 32 else 64


def is_register(operand: str) -> bool:
    """Whether an operand is a register of this function; constants and names of variables are not."""
    return bool(REGISTER.fullmatch(operand))


class Code:
    """The lines of a function, and the registers that they use."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.counts: dict[str, int] = {}
        self.frames: tuple[Frame, ...] = ()
        self.known: dict[tuple[str, ...], str] = {}
        self.origins: dict[str, tuple[str, ...]] = {}  # of a register, the opcode and the sources that made it
        self.products: set[str] = set()  # of this block, those that may be rounded together with a sum

    def register(self, kind: str) -> str:
        """A new register of a PTX type."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return f"{PREFIXES[kind]}{self.counts[kind]}"

    def compute(self, opcode: str, kind: str, *sources: str) -> str:
        """The register of type `kind` that holds the result of a pure instruction, with the instruction if needed."""
        key = (opcode, *sources)
        if key not in self.known:
            target = self.known[key] = self.register(kind)
            self.origins[target] = key
            reads = frozenset(REGISTER.findall(" ".join(sources)))
            text = f"{opcode} {target}, {', '.join(sources)};"
            self.lines.append(Line(text, (target,), reads, True, self.frames, only_registers=True))
        return self.known[key]

    def unpack(self, opcode: str, kind: str, count: int, source: str) -> list[str]:
        """The `count` registers into which a `mov` takes a wider register apart."""
        keys = [(opcode, str(part), source) for part in range(count)]
        if not all(key in self.known for key in keys):
            targets = [self.register(kind) for _ in keys]
            self.known.update(zip(keys, targets, strict=True))
            text = f"{opcode} {{{', '.join(targets)}}}, {source};"
            self.lines.append(Line(text, tuple(targets), frozenset({source}), True, self.frames, only_registers=True))
        return [self.known[key] for key in keys]

    def put(self, text: str, *writes: str, only_registers: bool = False, load: Load | None = None) -> None:
        """Write an instruction that has an effect, or that sets a register which is set in several places.

        writes: the registers that it sets. Those that stand in the text once more are also read. For the others see
        `Line`.
        """
        found = REGISTER.findall(text)
        for register in writes:
            found.remove(register)
        self.lines.append(
            Line(text, writes, frozenset(found), False, self.frames, False, only_registers or load is not None, load)
        )

    def asm(self, text: str, writes: Iterable[str], reads: Iterable[str], only_registers: bool) -> None:
        """Write the lines of an asm statement. only_registers: see `Line`."""
        lines = ["// begin inline asm", *filter(None, map(str.strip, text.split("\n"))), "// end inline asm"]
        text = "\n\t".join(lines)
        self.lines.append(Line(text, tuple(writes), frozenset(reads), False, self.frames, True, only_registers))

    def label(self, name: str) -> None:
        """Write a label."""
        self.lines.append(Line(f"{name}:"))

    def origin(self, register: str, opcode: str) -> tuple[str, ...]:
        """The sources of the instruction that computed a register, if it has this opcode; else ()."""
        found = self.origins.get(register, ("",))
        return found[1:] if found[0] == opcode else ()

    def in_register(self, operand: str, kind: str) -> str:
        """A register of type `kind` that holds the operand, which may be a constant."""
        if is_register(operand):
            return operand
        if kind == "pred":
            return self.compute("setp.ne.s32", "pred", self.in_register(operand, "b32"), "0")
        return self.compute(f"mov.{kind}", kind, operand)

    def move(self, target: str, source: str, kind: str) -> None:
        """Set a register that is set in several places."""
        if kind == "pred" and not is_register(source):
            source = self.in_register(source, kind)
        self.put(f"mov.{kind} {target}, {source};", target, only_registers=True)

    def finished(self) -> list[Line]:
        """The lines that have an effect or that others need."""
        needed: set[str] = set()
        kept: list[Line] = []
        for line in reversed(self.lines):
            if line.pure and needed.isdisjoint(line.writes):
                continue
            needed |= line.reads
            kept.append(line)
        return kept[::-1]
