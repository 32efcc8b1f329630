"""The source positions in the debug metadata of LLVM IR."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_NODE = re.compile(
    r"!(\d+) = (?:distinct )?!(DILocation|DISubprogram|DIFile|DILexicalBlock|DILexicalBlockFile)\((.*)\)$"
)
_FIELD = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|[^,]+)')


class Frame(NamedTuple):
    """A position: file name, line and column, and the function whose code stands there."""

    file: str
    line: int
    column: int
    function: str


class DebugLines:
    """The positions of a module's instructions. lines: the text of the module."""

    def __init__(self, lines: Iterable[str]):
        self.nodes: dict[str, tuple[str, dict[str, str]]] = {}
        for line in lines:
            if line.startswith("!") and (found := _NODE.match(line)):
                fields = {key: value.strip('"') for key, value in _FIELD.findall(found[3])}
                self.nodes[found[1]] = found[2], fields
        self.known: dict[str, tuple[Frame, ...]] = {}

    def frames(self, number: str | None) -> tuple[Frame, ...]:
        """The position of a !DILocation and those of the calls that it was inlined into, outermost last.

        Empty for None and for a number that is no location.
        """
        if number is None:
            return ()
        if number not in self.known:
            found, seen = [], set()
            at = number
            while at not in seen and self.nodes.get(at, ("",))[0] == "DILocation":
                seen.add(at)
                fields = self.nodes[at][1]
                file, function = self._scope(fields.get("scope", ""))
                found.append(Frame(file, int(fields.get("line", 0)), int(fields.get("column", 0)), function))
                at = fields.get("inlinedAt", "").lstrip("!")
            self.known[number] = tuple(found)
        return self.known[number]

    def where(self, number: str | None) -> tuple[str, int] | None:
        """(file, line) of a !DILocation: of the outermost call if it was inlined; None if it is not known."""
        frames = [frame for frame in self.frames(number) if frame.line and frame.file]
        return (frames[-1].file, frames[-1].line) if frames else None

    def _scope(self, node: str) -> tuple[str, str]:
        """The file and the function that a scope belongs to, "" where they are not known."""
        at, file, function, seen = node.lstrip("!"), "", "", set()
        while at in self.nodes and at not in seen:
            seen.add(at)
            kind, fields = self.nodes[at]
            if kind == "DIFile":
                return file or fields.get("filename", ""), function
            if not file and (own := self.nodes.get(fields.get("file", "").lstrip("!"))):
                file = own[1].get("filename", "")
            if kind == "DISubprogram":
                return file, fields.get("linkageName") or fields.get("name", "")
            at = fields.get("scope", "").lstrip("!")
        return file, function
