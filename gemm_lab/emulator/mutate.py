"""Kernels broken on purpose: each barrier, fence, wait and commit deleted, each ordered access made a plain one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SYNCHRONISATION = re.compile(
    r"^[ \t]*(?:@!?[%\w$]+\s+)?((?:bar|barrier|membar|fence|cp\.async\.(?:wait|commit))[\w.:]*[^;\n]*);", re.M
)
_ORDERED = re.compile(
    r"^[ \t]*(?:@!?[%\w$]+\s+)?((?:ld|st)\b[\w.:]*?\.(volatile|(?:relaxed|acquire|release)\.\w+)\b[^;\n]*);", re.M
)


class Mutant(NamedTuple):
    """PTX with one statement deleted or weakened; `line` is its line in the original."""

    line: int
    statement: str
    ptx: str


def mutants(ptx: str, pattern: re.Pattern = _SYNCHRONISATION) -> Iterator[Mutant]:
    """Every PTX text in which one barrier, fence, wait or commit is gone. Line numbers stay as they were."""
    for m in pattern.finditer(ptx):
        blank = re.sub(r"[^\n]", " ", m[0])
        yield Mutant(ptx.count("\n", 0, m.start(1)) + 1, m[1].strip(), ptx[: m.start()] + blank + ptx[m.end() :])


def weakened(ptx: str) -> Iterator[Mutant]:
    """Every PTX text in which one volatile, relaxed, acquire or release access is a plain one."""
    for m in _ORDERED.finditer(ptx):
        begin, end = m.span(2)
        yield Mutant(ptx.count("\n", 0, m.start(1)) + 1, m[1].strip(), ptx[: begin - 1] + ptx[end:])
