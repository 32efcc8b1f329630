"""Splits PTX text into statements with their scopes and source lines, so that code can be inserted beside them.

A statement ends at `;`, a label at `:`, a directive such as `.loc` at the end of its line. A `{` where a statement
could begin opens a scope, which has its own registers and labels; inside an operand it begins a vector.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE_DIRECTIVES = (".loc", ".file", ".version", ".target", ".address_size")
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*?inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.M)
_WIDTHS = {"pred": 1, "f16x2": 32, "bf16x2": 32}

Location = tuple[int, int, int]  # file number, line, column


@dataclass
class Scope:
    """A scope: its registers (name, or `prefix<` for a numbered set, -> bits), and its labels up to here."""

    registers: dict[str, int] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Statement:
    """One instruction of a function: its text, its start and end in the PTX, its guard, source lines and scopes."""

    text: str
    start: int
    end: int
    guard: str  # "@%p1 " or ""
    opcode: str
    frames: tuple[Location, ...]  # innermost first: where it stands, then where that was inlined
    scopes: tuple[Scope, ...]

    @property
    def operands(self) -> str:
        return self.text[len(self.guard) :].strip()[len(self.opcode) :].strip().rstrip(";").strip()

    def bits(self, register: str) -> int | None:
        """The width in bits of a register that is visible from here; None if there is none of this name."""
        stem = register.rstrip("0123456789") + "<"
        for scope in reversed(self.scopes):
            for name in (register, stem):
                if name in scope.registers:
                    return scope.registers[name]
        return None

    def passed(self, label: str) -> bool:
        """Whether `label` stands before this statement, so that a branch to it goes backward."""
        return any(label in scope.labels for scope in self.scopes)


def without_comments(ptx: str) -> str:
    """The PTX with its comments replaced by spaces, so that offsets stay the same."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, ptx, flags=re.S)


def files(ptx: str) -> dict[int, str]:
    """The `.file` table: number -> path."""
    return {int(number): path for number, path in _FILE.findall(ptx)}


def statements(ptx: str) -> Iterator[Statement]:
    """Every instruction of every function body, in the order of the text."""
    text = without_comments(ptx)
    scopes: list[Scope] = []
    frames: tuple[Location, ...] = ()
    inlined: dict[Location, Location] = {}
    position, begin = 0, 0
    while position < len(text):
        char = text[position]
        held = text[begin:position].strip()
        if not held and char.isspace():
            begin = position = position + 1
            continue
        if not held and char == "." and text.startswith(_LINE_DIRECTIVES, position):
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            match = _LOC.match(text, position, end)
            if match:
                frames = _frames(match, inlined)
            begin = position = end
        elif char == '"':
            position = text.index('"', position + 1) + 1
        elif char == "{":
            if not held and scopes:
                scopes.append(Scope())
                begin = position = position + 1
            elif not scopes and re.search(r"\.(entry|func)\b", held):
                scopes.append(Scope())
                frames = ()
                begin = position = position + 1
            else:
                position = text.index("}", position) + 1  # a vector, an initialiser, a debug section
                if held.startswith(".section"):
                    begin = position
        elif char == "}" and not held:
            if scopes:
                scopes.pop()
            begin = position = position + 1
        elif char == ":" and scopes and re.fullmatch(r"[\w$%]+", held) and not text.startswith("::", position):
            scopes[-1].labels.add(held)
            begin = position = position + 1
        elif char == ";":
            if scopes and held.startswith(".reg"):
                _declare(held, scopes[-1])
            elif scopes and not held.startswith("."):
                start = begin + len(text[begin:position]) - len(text[begin:position].lstrip())
                guard = re.match(r"@!?[\w$%]+\s+", held)
                rest = held[guard.end() :] if guard else held
                yield Statement(
                    held + ";",
                    start,
                    position + 1,
                    guard[0] if guard else "",
                    rest.split(None, 1)[0] if rest else "",
                    frames,
                    tuple(Scope(dict(s.registers), set(s.labels)) for s in scopes)
                    if len(scopes) > 1
                    else (_frozen(scopes[0]),),
                )
            begin = position = position + 1
        else:
            position += 1


def _frames(match: re.Match, inlined: dict[Location, Location]) -> tuple[Location, ...]:
    """The frames of a `.loc`, innermost first; `inlined` stores, for each location, where it was last inlined."""
    numbers = [int(group) for group in match.groups() if group]
    location = tuple(numbers[:3])
    if len(numbers) == 6:
        inlined[location] = tuple(numbers[3:])
    else:
        inlined.pop(location, None)
    frames = [location]
    while frames[-1] in inlined and inlined[frames[-1]] not in frames:
        frames.append(inlined[frames[-1]])
    return tuple(frames)


def _frozen(scope: Scope) -> Scope:
    return Scope(scope.registers, set(scope.labels))


def _declare(text: str, scope: Scope) -> None:
    match = re.match(r"\.reg\s+(?:\.v\d\s+)?\.(\w+)\s+(.*)", text, re.S)
    if not match:
        return
    digits = re.search(r"(\d+)$", match[1])
    bits = _WIDTHS.get(match[1]) or (int(digits[1]) if digits else 32)
    for name in match[2].split(","):
        name = name.strip()
        scope.registers[re.sub(r"<\d+>$", "<", name)] = bits
