"""The result of `k.diff()`: the differences between the sources of two kernels."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from html import escape

from gemm_lab.cards.source_code import diff_lines
from gemm_look.card import card


@dataclass(frozen=True)
class Diff:
    """A unified diff of two sources. before, after: the names of the kernels; old, new: their sources."""

    before: str
    after: str
    old: str = field(repr=False)
    new: str = field(repr=False)

    @property
    def lines(self) -> list[str]:
        """The lines of the diff, without the two that name the files; leading comments of the sources do not count."""

        def body(text: str) -> list[str]:
            lines = text.split("\n")
            while lines and lines[0].startswith("//"):
                lines.pop(0)
            return lines

        return list(difflib.unified_diff(body(self.old), body(self.new), n=1, lineterm=""))[2:]

    @property
    def count(self) -> int:
        """Number of added lines."""
        return sum(line.startswith("+") for line in self.lines)

    def body(self) -> str:
        """The changed lines as HTML."""
        return diff_lines([line if line[:2] != "@@" else "@@" for line in self.lines])

    def __repr__(self) -> str:
        return f"{self.before} → {self.after}\n" + "\n".join(self.lines)

    def _repr_html_(self) -> str:
        lines = "1 line" if self.count == 1 else f"{self.count} lines"
        title = f"<b>{escape(self.before)}</b> → <b>{escape(self.after)}</b>, {lines} added or changed"
        return card(title + self.body())
