"""Parses PTX text into a `Module`: statements, scopes with their own registers and labels, source positions."""

from __future__ import annotations

import re
from bisect import bisect_right
from types import SimpleNamespace

from gpu_simulator.faults import MalformedPtx
from gpu_simulator.ptx.declarations import parameters_of, registers_of, variable_of
from gpu_simulator.ptx.ir import Function, Instruction, Location, Module, Negated, Register, Symbol
from gpu_simulator.ptx.operand_counts import fewest_operands, wrong_type
from gpu_simulator.ptx.operands import OperandReader
from gpu_simulator.ptx.types import CODES

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.S)
_STATEMENT = re.compile(
    r"\s*(?:"
    r"(?P<loc>\.loc\b[^\n]*)|"
    r"(?P<file>\.file\b[^\n]*)|"
    r"(?P<open>\{)|(?P<close>\})|"
    r"(?P<label>[A-Za-z_$%][\w$]*)\s*:(?!:)|"
    r'(?P<text>[^;{}"\s](?:[^;{}"]+(?![^;{}"])|\{[^{};]*\}|"(?:[^"\\]|\\.)*")*);'
    r")",
    re.ASCII,
)
_HEADER = re.compile(
    r"\s*(?:"
    r"(?P<line>\.(?:version|target|address_size|file|loc)\b[^\n]*)|"
    r"(?P<section>\.section\b[^{]*\{)|"
    r"(?P<function>(?:\.(?:visible|weak|extern|common)\s+)*\.(?:entry|func)\b[^{;]*)(?P<body>[{;])|"
    r'(?P<text>(?:[^;{}"]+(?![^;{}"])|\{[^{};]*\}|"(?:[^"\\]|\\.)*")+);|'
    r"(?P<debug>@@?\w+[^\n]*)"
    r")",
    re.ASCII,
)
_N = r"(\d{1,9})"
_LOC = re.compile(rf"\.loc\s+{_N}\s+{_N}\s+{_N}(?!\d)(?:.*?inlined_at\s+{_N}\s+{_N}\s+{_N}(?!\d))?", re.ASCII)
_FILE = re.compile(rf'\.file\s+{_N}\s+"([^"\n]{{0,4096}})"', re.ASCII)
_GUARD = re.compile(r"@\s*(!?)\s*([%\w$]+)\s+", re.ASCII)
_FUNCTION = re.compile(
    r"\.(entry|func)\b\s*(?:\(([^)]*)\)\s*)?([\w$]+)\s*(?:\((.*?)\))?([^()]*(?:\([^)]*\)[^()]*)*)$", re.S | re.ASCII
)
_LABEL = re.compile(r"[A-Za-z_$%][\w$]*", re.ASCII)
_OPCODE = re.compile(r"[a-z][\w.:]*", re.ASCII)
_EXTENTS = re.compile(r"\s*\d{1,9}(?:\s*,\s*\d{1,9}){0,2}", re.ASCII)
# Limits, far above what a compiler writes.
MOST_TEXT = 1 << 25  # characters of a module
MOST_HEADER = 200_000  # characters of a function's header
DEEPEST = 200  # nested scopes
MOST_FRAMES = 200  # nested inlined calls


def parse(text: str) -> Module:
    """Parse a PTX module. Raises `MalformedPtx` that names the line of what cannot be read."""
    return _Parser(text).module()


def printable(text: str) -> str:
    """A file name in which characters that could control a terminal are replaced by "?"."""
    return "".join(char if char.isprintable() else "?" for char in text)


class _Parser:
    def __init__(self, text: str):
        if len(text) > MOST_TEXT:
            raise MalformedPtx(f"This PTX has {len(text):,} characters; at most {MOST_TEXT:,} are read here.")
        self.original = text
        self.text = _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", self.text)]
        self.files = {int(n): printable(path) for n, path in _FILE.findall(self.text)}
        self.chains = self._chains()
        self.stacks: dict[tuple[int, ...], tuple] = {}  # by place, the frames around it as its last .loc has them
        self.variables: dict = {}
        self.functions: dict[str, Function] = {}
        self.registers = 0  # number of registers of the functions read so far

    def line_at(self, position: int) -> int:
        return bisect_right(self.starts, position)

    def fail(self, position: int, reason: str):
        raise MalformedPtx(f"PTX line {self.line_at(position)}: {reason}.")

    def _chains(self) -> dict:
        chains = {}
        for m in _LOC.finditer(self.text):
            if m[4]:
                chains.setdefault(tuple(map(int, m.groups()[:3])), tuple(map(int, m.groups()[3:])))
        return chains

    def location(self, m) -> Location:
        here = tuple(map(int, m.groups()[:3]))
        frames, at = [], tuple(map(int, m.groups()[3:])) if m[4] else None
        seen, around = set(), ()
        while at and at not in seen and len(frames) < MOST_FRAMES:
            seen.add(at)
            frames.append((self.files.get(at[0], "?"), at[1]))
            if at in self.stacks:  # the .loc of an intermediate frame stands right before those of the code inlined
                around, at = self.stacks[at], None  # into it, and differs between the depths of a recursion
            else:
                at = self.chains.get(at)
        return Location(self.files.get(here[0], "?"), here[1], (*frames, *around)[:MOST_FRAMES])

    def nearest(self, m, position: int, before: Location | None) -> Location:
        """The location of a .loc; for line 0, which stands for merged or moved code, that of its call or the next line.

        position: behind it.   before: the last location.
        """
        here = self.location(m)
        if m[4]:
            self.stacks[tuple(map(int, m.groups()[:3]))] = here.inlined_at
        calls = tuple(frame for frame in here.inlined_at if frame[1])
        if here.line:
            return here._replace(inlined_at=calls)
        if calls:
            return Location(*calls[0], calls[1:])
        ends = [at for word in (".entry", ".func") if (at := self.text.find(word, position)) >= 0]
        following = (
            one
            for one in _LOC.finditer(self.text, position, min(ends, default=len(self.text)))
            if one[1] == m[1] and int(one[2])
        )
        found = next(following, None)
        return self.location(found) if found else before or here

    # ---- Module scope ----

    def module(self) -> Module:
        text, position, version, target = self.text, 0, "", ""
        end = len(text.rstrip("\0 \t\r\n"))
        while position < end:
            m = _HEADER.match(text, position)
            if m is None:
                self.fail(
                    position + len(text[position:]) - len(text[position:].lstrip()),
                    f"cannot read {text[position:].strip().splitlines()[0][:60]!r}",
                )
            begin, position = m.end() - len(m[0].lstrip()), m.end()
            if m["line"]:
                words = m["line"].split(None, 1)
                version = words[1].strip() if words[0] == ".version" else version
                target = words[1].strip() if words[0] == ".target" else target
            elif m["section"]:
                close = text.find("}", position)
                position = close + 1 if close >= 0 else self.fail(begin, "a section without its closing brace")
            elif m["function"]:
                position = self.function(m["function"], begin, position, m["body"] == "{")
            elif m["text"]:
                self.module_statement(m["text"].strip(), begin)
        if not version or not target:
            self.fail(0, "this is not a PTX module: .version and .target are missing")
        return Module(version, target, self.files, self.variables, self.functions, self.original)

    def module_statement(self, text: str, position: int) -> None:
        first = text.split(None, 1)[0] if text else ""
        if first in (".pragma", ".alias"):
            return
        if not text.startswith("."):
            self.fail(position, f"cannot read {text[:60]!r}")
        variable = self.guarded(position, variable_of, text)
        if variable is not None:
            known = self.variables.get(variable.name)
            if known is None or known.external:
                self.variables[variable.name] = variable

    def guarded(self, position, call, *arguments):
        try:
            return call(*arguments)
        except (ValueError, KeyError, IndexError) as error:
            self.fail(position, f"{error.args[0] if error.args else 'cannot read this'}")

    # ---- Functions ----

    def function(self, header: str, begin: int, position: int, has_body: bool) -> int:
        m = _FUNCTION.search(header) if len(header) <= MOST_HEADER else None
        if m is None:
            self.fail(begin, f"cannot read the function header {header.strip()[:60]!r}")
        kind, results, name, parameters, directives = m.groups()
        function = Function(name, kind == "entry", self.line_at(begin))
        function.parameters = self.guarded(begin, parameters_of, parameters or "")
        function.results = self.guarded(begin, parameters_of, results or "")
        threads = self.extents(begin, r"\.(?:maxntid|reqntid)\b", directives or "")
        if threads:
            function.max_threads = threads[0] * threads[1] * threads[2]
        function.cluster = self.extents(begin, r"\.reqnctapercluster\b", directives or "")
        function.explicit_cluster = ".explicitcluster" in (directives or "")
        most = self.extents(begin, r"\.maxclusterrank\b", directives or "")
        function.max_cluster_rank = most[0] if most else None
        if not has_body:
            function.declared_only = True
            self.functions.setdefault(name, function)
            return position
        self.functions[name] = function
        position = _Body(self, function).read(position)
        self.registers += len(function.registers)
        return position

    def extents(self, begin: int, directive: str, text: str) -> tuple[int, int, int] | None:
        """The one to three numbers of a directive in a function's header, filled up with 1; None if it is not there."""
        found = re.search(directive, text)
        if found is None:
            return None
        numbers = _EXTENTS.match(text, found.end())
        values = (*map(int, re.findall(r"\d+", numbers[0])), 1, 1)[:3] if numbers else (0,)
        if 0 in values:
            self.fail(begin, f"the directive {found[0]} needs one to three positive numbers")
        return values


class _Body:
    """Reads the statements of one function; `{` and `}` open and close scopes of names."""

    def __init__(self, parser: _Parser, function: Function):
        self.parser, self.function = parser, function
        self.names: list[dict] = [{v.name: v for v in (*function.parameters, *function.results)}]
        self.labels: list[dict[str, str]] = [{}]
        self.branches: list[tuple[Instruction, str, tuple]] = []
        self.reader = OperandReader(self.lookup)
        self.opcodes: dict[str, tuple] = {}

    def lookup(self, name: str):
        for scope in reversed(self.names):
            found = scope.get(name)
            if found is not None:
                return found
        return self.parser.variables.get(name)

    def read(self, position: int) -> int:
        parser, text, location = self.parser, self.parser.text, None
        while True:
            m = _STATEMENT.match(text, position)
            if m is None:
                rest = text[position:].strip().splitlines()
                parser.fail(
                    position + len(text[position:]) - len(text[position:].lstrip()),
                    f"cannot read {rest[0][:60]!r}"
                    if rest
                    else f"the body of {self.function.name} has no closing brace",
                )
            kind, position = m.lastgroup, m.end()
            if kind == "text":
                self.statement(m["text"], m.start("text"), location)
            elif kind == "loc":
                found = _LOC.match(m["loc"])
                location = parser.nearest(found, position, location) if found else location
            elif kind == "label":
                unique = m["label"] if len(self.names) == 1 else f"{m['label']}@{m.start('label')}"
                if m["label"] in self.labels[-1]:
                    parser.fail(m.start("label"), f"the label {m['label']} stands here a second time")
                self.labels[-1][m["label"]] = unique
                self.function.body.append(unique)
            elif kind == "open":
                self.names.append({})
                self.labels.append({})
                if len(self.names) > DEEPEST:
                    parser.fail(m.start("open"), f"more than {DEEPEST} scopes stand in each other")
            elif kind == "close":
                self.names.pop()
                labels = self.labels.pop()
                unresolved = []
                for branch in self.branches:
                    if branch[1] in labels:
                        branch[0].target = labels[branch[1]]
                    else:
                        unresolved.append(branch)
                self.branches = unresolved
                if not self.names:
                    break
        for instruction, label, _ in self.branches:
            raise MalformedPtx(f"PTX line {instruction.line}: no label {label} in {self.function.name}.")
        body = self.function.body
        body[:] = [(*i[:2], [place.target for place in i[2]]) if isinstance(i, tuple) else i for i in body]
        return position

    def statement(self, text: str, position: int, location) -> None:
        if text[0] == ".":
            self.directive(text, position)
            return
        parser, guard = self.parser, None
        if text[0] == "@":
            m = _GUARD.match(text)
            if m is None:
                parser.fail(position, f"cannot read {text[:60]!r}")
            guard = parser.guarded(position, self.reader.read, m[1] + m[2])
            register = guard.register if type(guard) is Negated else guard
            if type(register) is not Register or register.type != "pred":
                parser.fail(position, f"the guard {m[2][:40]} is not a predicate register")
            text = text[m.end() :]
        words = text.split(None, 1)
        if not words:
            parser.fail(position, "a guard without an instruction")
        opcode, rest = words[0], words[1] if len(words) > 1 else ""
        brace = opcode.find("{")
        if brace > 0:
            opcode, rest = opcode[:brace], opcode[brace:] + " " + rest
        parts = self.opcodes.get(opcode)
        if parts is None:
            if len(opcode) > 200 or not _OPCODE.fullmatch(opcode):
                parser.fail(position, f"{opcode[:40]!r} is not an instruction")
            parts = tuple(opcode.replace("::", "__").split("."))
            wrong = wrong_type(parts, [part for part in parts[1:] if part in CODES])
            if wrong:
                parser.fail(position, f"{opcode}: {parts[0]} does not exist for .{wrong}")
            self.opcodes[opcode] = parts
        line, label = parser.line_at(position), None
        if parts[0] in ("bra", "brx"):
            *index, label = [name.strip() for name in rest.split(",")]
            if len(index) != (parts[0] == "brx") or not _LABEL.fullmatch(label):
                parser.fail(position, f"{opcode} {rest.strip()[:40]} names no place to go to")
            operands = (parser.guarded(position, self.reader.read, index[0]), Symbol(label, 0, None)) if index else ()
        else:
            operands = parser.guarded(position, self.reader.read_all, rest)
            if len(operands) < fewest_operands(parts):
                parser.fail(position, f"{opcode} takes {fewest_operands(parts)} operands or more, not {len(operands)}")
        instruction = Instruction(opcode, parts, operands, guard, line, location)
        if label is not None:
            self.branches.append((instruction, label, ()))
        self.function.body.append(instruction)

    def directive(self, text: str, position: int) -> None:
        parser, function = self.parser, self.function
        first = re.match(r"\.\w*", text, re.ASCII)[0]
        if first == ".reg":
            self.names[-1].update(parser.guarded(position, registers_of, text, function.registers, parser.registers))
        elif first in (".pragma", ".loc", ".callprototype", ".alias"):
            return
        elif first == ".branchtargets":
            label = next((entry for entry in reversed(function.body) if isinstance(entry, str)), None)
            names = [name.strip() for name in text[len(first) :].split(",")]
            if label is None or not all(map(_LABEL.fullmatch, names)):
                parser.fail(position, "a list of branch targets needs a label before it, and labels in it")
            places = [SimpleNamespace(target=None, line=parser.line_at(position)) for _ in names]
            self.branches += [(place, name, ()) for place, name in zip(places, names, strict=True)]
            function.body.append(("targets", label, places))
        else:
            variable = parser.guarded(position, variable_of, text)
            if variable is not None:
                self.names[-1][variable.name] = variable
                function.variables.append(variable)
