"""Kernels broken on purpose: each barrier, wait and commit of a PTX text deleted in turn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SYNCHRONISATION = re.compile(
    r"^[ \t]*(?:@!?[%\w$]+\s+)?((?:bar|barrier|cp\.async\.(?:wait|commit)|bar\.warp)[\w.:]*[^;\n]*);", re.M
)


class Mutant(NamedTuple):
    """PTX with one statement deleted; `line` is its line in the original."""

    line: int
    statement: str
    ptx: str


def mutants(ptx: str, pattern: re.Pattern = _SYNCHRONISATION) -> Iterator[Mutant]:
    """Every PTX text in which one barrier, wait or commit is gone. Line numbers stay as they were."""
    for m in pattern.finditer(ptx):
        blank = re.sub(r"[^\n]", " ", m[0])
        yield Mutant(ptx.count("\n", 0, m.start(1)) + 1, m[1].strip(), ptx[: m.start()] + blank + ptx[m.end() :])
