"""PTX text to `Module`: statements, scopes with registers and labels of their own, source positions."""

from __future__ import annotations

import re
from bisect import bisect_right
from types import SimpleNamespace

from gemm_lab.emulator.declarations import parameters_of, registers_of, variable_of
from gemm_lab.emulator.faults import MalformedPtx
from gemm_lab.emulator.ir import Function, Instruction, Location, Module, Symbol
from gemm_lab.emulator.operands import OperandReader

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.S)
_STATEMENT = re.compile(
    r"\s*(?:"
    r"(?P<loc>\.loc\b[^\n]*)|"
    r"(?P<file>\.file\b[^\n]*)|"
    r"(?P<open>\{)|(?P<close>\})|"
    r"(?P<label>[A-Za-z_$%][\w$]*)\s*:(?!:)|"
    r'(?P<text>[^;{}"\s](?:[^;{}"]|\{[^{};]*\}|"(?:[^"\\]|\\.)*")*);'
    r")"
)
_HEADER = re.compile(
    r"\s*(?:"
    r"(?P<line>\.(?:version|target|address_size|file|loc)\b[^\n]*)|"
    r"(?P<section>\.section\b[^{]*\{)|"
    r"(?P<function>(?:\.(?:visible|weak|extern|common)\s+)*\.(?:entry|func)\b[^{;]*)(?P<body>[{;])|"
    r'(?P<text>(?:[^;{}"]|\{[^{};]*\}|"(?:[^"\\]|\\.)*")+);|'
    r"(?P<debug>@@?\w+[^\n]*)"
    r")"
)
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*?inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"')
_GUARD = re.compile(r"@\s*(!?)\s*([%\w$]+)\s+")
_FUNCTION = re.compile(
    r"\.(entry|func)\b\s*(?:\(([^)]*)\)\s*)?([\w$]+)\s*(?:\((.*?)\))?([^()]*(?:\([^)]*\)[^()]*)*)$", re.S
)


def parse(text: str) -> Module:
    """Parse a PTX module. Raises `MalformedPtx` naming the line of what it does not understand."""
    return _Parser(text).module()


class _Parser:
    def __init__(self, text: str):
        self.original = text
        self.text = _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", self.text)]
        self.files = {int(n): path for n, path in _FILE.findall(self.text)}
        self.chains = self._chains()
        self.variables: dict = {}
        self.functions: dict[str, Function] = {}

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
        if at:  # a frame in between stands right before those that were inlined into it
            self.chains[here] = at
        seen = set()
        while at and at not in seen:
            seen.add(at)
            frames.append((self.files.get(at[0], "?"), at[1]))
            at = self.chains.get(at)
        return Location(self.files.get(here[0], "?"), here[1], tuple(frames))

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
        first = text.split(None, 1)[0]
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
        m = _FUNCTION.search(header)
        if m is None:
            self.fail(begin, f"cannot read the function header {header.strip()[:60]!r}")
        kind, results, name, parameters, directives = m.groups()
        function = Function(name, kind == "entry", self.line_at(begin))
        function.parameters = self.guarded(begin, parameters_of, parameters or "")
        function.results = self.guarded(begin, parameters_of, results or "")
        threads = re.search(r"\.(?:maxntid|reqntid)\s+([\d,\s]+)", directives or "")
        if threads:
            function.max_threads = 1
            for extent in threads[1].split(","):
                function.max_threads *= int(extent)
        cluster = re.search(r"\.reqnctapercluster\s+([\d,\s]+)", directives or "")
        if cluster:
            function.cluster = (*map(int, cluster[1].split(",")), 1, 1)[:3]
        function.explicit_cluster = ".explicitcluster" in (directives or "")
        most = re.search(r"\.maxclusterrank\s+(\d+)", directives or "")
        function.max_cluster_rank = int(most[1]) if most else None
        if not has_body:
            function.declared_only = True
            self.functions.setdefault(name, function)
            return position
        self.functions[name] = function
        return _Body(self, function).read(position)


class _Body:
    """The statements of one function; `{` and `}` open and close scopes of names."""

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
                location = parser.location(found) if found else location
            elif kind == "label":
                unique = m["label"] if len(self.names) == 1 else f"{m['label']}@{m.start('label')}"
                self.labels[-1][m["label"]] = unique
                self.function.body.append(unique)
            elif kind == "open":
                self.names.append({})
                self.labels.append({})
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
            text = text[m.end() :]
        words = text.split(None, 1)
        opcode, rest = words[0], words[1] if len(words) > 1 else ""
        brace = opcode.find("{")
        if brace > 0:
            opcode, rest = opcode[:brace], opcode[brace:] + " " + rest
        parts = self.opcodes.get(opcode)
        if parts is None:
            parts = self.opcodes[opcode] = tuple(opcode.replace("::", "__").split("."))
            if not re.fullmatch(r"[a-z][\w.:]*", opcode):
                parser.fail(position, f"{opcode[:40]!r} is not an instruction")
        line = parser.line_at(position)
        if parts[0] in ("bra", "brx"):
            names = [name.strip() for name in rest.split(",")]
            operands = (
                ()
                if parts[0] == "bra"
                else (parser.guarded(position, self.reader.read, names[0]), Symbol(names[1], 0, None))
            )
            instruction = Instruction(opcode, parts, operands, guard, line, location)
            label = names[-1]
            self.branches.append((instruction, label, ()))
        else:
            operands = parser.guarded(position, self.reader.read_all, rest)
            instruction = Instruction(opcode, parts, operands, guard, line, location)
        self.function.body.append(instruction)

    def directive(self, text: str, position: int) -> None:
        parser, function = self.parser, self.function
        first = re.match(r"\.\w*", text)[0]
        if first == ".reg":
            self.names[-1].update(parser.guarded(position, registers_of, text, function.registers))
        elif first in (".pragma", ".loc", ".callprototype", ".alias"):
            return
        elif first == ".branchtargets":
            label = next((entry for entry in reversed(function.body) if isinstance(entry, str)), None)
            names = [name.strip() for name in text.split(None, 1)[1].split(",")]
            places = [SimpleNamespace(target=None, line=parser.line_at(position)) for _ in names]
            self.branches += [(place, name, ()) for place, name in zip(places, names, strict=True)]
            function.body.append(("targets", label, places))
        else:
            variable = parser.guarded(position, variable_of, text)
            if variable is not None:
                self.names[-1][variable.name] = variable
                function.variables.append(variable)
