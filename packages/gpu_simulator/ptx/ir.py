"""The data classes of a PTX module: variables, functions, instructions and their operands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Register(NamedTuple):
    """A virtual register: its number in the function, its PTX type such as "b32", its name in the text."""

    index: int  # type: ignore[assignment]  # of a tuple it is a method
    type: str
    name: str


class Immediate(NamedTuple):
    """A constant operand, as it is written in the PTX."""

    text: str


class Special(NamedTuple):
    """A special register: %tid.x, %laneid, %clock64 …"""

    name: str


class Symbol(NamedTuple):
    """A variable, function or parameter by name, plus an offset in bytes. `variable` is None for functions."""

    name: str
    offset: int
    variable: Variable | None


class Vector(NamedTuple):
    """{a, b, …}: operands in braces."""

    items: tuple


def items_of(operand: Any) -> tuple:
    """The operands of a vector; of another operand, it alone."""
    return operand.items if type(operand) is Vector else (operand,)


class Memory(NamedTuple):
    """[base + offset], the offset in bytes; `coordinates` are the further operands of tensor addresses."""

    base: object
    offset: int
    coordinates: tuple = ()


class Negated(NamedTuple):
    """!%p: a negated predicate."""

    register: object


class Part(NamedTuple):
    """%r.b1, %r.h0: a byte or a half of a 32-bit register, which video instructions read. name: "b0" to "h1"."""

    register: object
    name: str


class Pair(NamedTuple):
    """%r|%p: two destinations."""

    first: object
    second: object


class Group(NamedTuple):
    """(a, b, …): an argument list of a call."""

    items: tuple


class Location(NamedTuple):
    """A source position. `inlined_at` has the (file, line) of each call into which it was inlined, outermost last."""

    file: str
    line: int
    inlined_at: tuple[tuple[str, int], ...] = ()

    @property
    def frames(self) -> tuple[tuple[str, int], ...]:
        """(file, line) of the position itself and of each call into which it was inlined, outermost last."""
        return ((self.file, self.line), *self.inlined_at)

    @property
    def in_own_file(self) -> int:
        """Which of `frames` is the innermost in the kernel's own file, which is that of the outermost frame."""
        frames = self.frames
        return next(number for number, frame in enumerate(frames) if frame[0] == frames[-1][0])

    def in_words(self) -> str:
        """The innermost position in the kernel's own file, the header that is inlined there, and the calls to it."""
        frames, at = self.frames, self.in_own_file
        file, line = frames[at]
        added = [f"inlined from {self.file}:{self.line}"] if at else []
        calls = [
            call if name == file else f"{call} of {name}"
            for name, number in frames[at + 1 :]
            for call in [f"line {number}"]
        ]
        added += [f"called from {', called from '.join(calls)}"] if calls else []
        return f"{file}:{line}" + (f" ({', '.join(added)})" if added else "")


@dataclass
class Variable:
    """A variable of a state space. `size` and `align` are in bytes; `initial` is None without an initialiser.

    `links` are the parts of the initialiser that are addresses: (byte offset, symbol name, addend, first byte of the
    address that is stored, number of bytes).
    """

    name: str
    space: str
    size: int
    align: int
    type: str
    initial: bytes | None = None
    links: tuple = ()
    external: bool = False
    address: int = 0


@dataclass(slots=True)
class Instruction:
    """One instruction. `opcode` is its full text such as "mad.lo.s32"; `parts` is the opcode split at its dots.

    In `parts`, "::" is replaced by "__". `target` is the label that a branch goes to.
    """

    opcode: str
    parts: tuple[str, ...]
    operands: tuple
    guard: object | None  # Register or Negated
    line: int
    location: Location | None
    site: int = -1
    target: str | None = None

    @property
    def family(self) -> str:
        """The first part of the opcode, such as "mma"."""
        return self.parts[0]


@dataclass
class Function:
    """A kernel or device function: parameters, registers, and a body of instructions, labels (str) and branch targets.

    In the body, branch targets of `brx` are ("targets", label of their list, labels to go to).
    """

    name: str
    is_entry: bool
    line: int
    parameters: list[Variable] = field(default_factory=list)
    results: list[Variable] = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    body: list = field(default_factory=list)
    max_threads: int | None = None
    cluster: tuple[int, int, int] | None = None  # the cluster size that its launches must have
    explicit_cluster: bool = False
    max_cluster_rank: int | None = None
    declared_only: bool = False


@dataclass
class Module:
    """A parsed PTX file."""

    version: str
    target: str
    files: dict[int, str]
    variables: dict[str, Variable]
    functions: dict[str, Function]
    text: str

    @property
    def capability(self) -> int:
        """The number of the target, 90 for "sm_90a"; 0 if the target has none."""
        found = re.match(r"sm_(\d+)", self.target)
        return int(found[1]) if found else 0
