"""The card of `lab.simulate(…)`: what a kernel did, what each line cost, and which layouts cost less."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from gemm_lab.cards.layout_table import LayoutTable
from gemm_lab.cards.simulated_lines import SimulatedLine, line_table
from gemm_look import theme
from gemm_look.card import card, facts, first_of, folded, mark, printed, remark
from gemm_look.table import Table

SHOWN_HAZARDS = 6
SHOWN_ARRAYS = 8
WIDTH = 110  # characters of a line of text


@dataclass(frozen=True, kw_only=True)
class SimulationCard:
    """Everything that the card of a launch shows, computed before.

    verdict: a few words.   facts: (label, value).   arrays: rows (argument, type, what changed, its first values).
    worst: the worst line for shared memory and that for global memory, with `reasons`, a sentence for each.
    """

    kernel: str
    verdict: str
    facts: Sequence[tuple[str, str]]
    hazards: Sequence[Any] = ()
    arrays: Sequence[tuple[str, str, str, str]] = ()
    lines: Sequence[SimulatedLine] = field(default=(), repr=False)
    worst: Sequence[SimulatedLine] = ()
    reasons: Sequence[str] = ()
    layouts: Sequence[LayoutTable] = field(default=(), repr=False)
    output: str = ""

    @property
    def clean(self) -> bool:
        """Whether no hazard was found, apart from those that may be intended."""
        return all(hazard.severity == "suspicious" for hazard in self.hazards)

    def _hazards(self) -> list[str]:
        found = [f"{hazard.severity}: {hazard}" for hazard in self.hazards[:SHOWN_HAZARDS]]
        more = len(self.hazards) - SHOWN_HAZARDS
        return found + ([f"… {more} more, in .hazards"] if more > 0 else [])

    def _arrays(self) -> Table:
        more = len(self.arrays) - SHOWN_ARRAYS
        rows = [*self.arrays[:SHOWN_ARRAYS], *([(f"… {more} more, in .arrays", "", "", "")] if more > 0 else [])]
        return Table(("argument", "type", "the kernel", "values"), rows, text_columns=4, code=3)

    def text(self) -> str:
        """The card as plain text."""
        lines = [f"{mark(self.clean)} {self.kernel}: {self.verdict}"]
        lines += ["  " + " · ".join(f"{label} {value}" for label, value in self.facts)]
        lines += [f"  {text}" for text in self._hazards()]
        if self.arrays:
            lines += ["", *(f"  {line}".rstrip() for line in self._arrays().lines())]
        if self.lines:
            lines += ["", *(f"  {line}".rstrip() for line in line_table(self.lines, self.worst).lines())]
        for paragraph in (*self.reasons, *(line for table in self.layouts for line in table.text())):
            if paragraph.startswith("  "):
                lines.append(f"  {paragraph}".rstrip())
            else:
                lines += ["", *textwrap.wrap(paragraph, WIDTH, initial_indent="  ", subsequent_indent="  ")]
        if output := first_of(self.output):
            lines += ["", "  printed by the kernel:", textwrap.indent(output, "    ")]
        return "\n".join(lines)

    def html(self) -> str:
        """The card."""
        verdict = theme.tag("b", "good" if self.clean else "bad", f"{mark(self.clean)} {escape(self.kernel)}")
        body = f"<div>{verdict}: {escape(self.verdict)}</div>{facts(self.facts)}"
        body += "".join(
            remark(text, "warn" if text.startswith("suspicious") else "bad" if self.hazards else "muted")
            for text in self._hazards()
        )
        if self.arrays:
            body += theme.tag("div", "scroll", self._arrays().html())
        if self.lines:
            body += theme.tag("div", "scroll", line_table(self.lines, self.worst).html())
        body += "".join(theme.tag("div", "below", escape(reason)) for reason in self.reasons)
        first, others = list(self.layouts[:1]), list(self.layouts[1:])
        body += "".join(table.html() for table in first)
        if others:
            names = ", ".join(table.study.array.title for table in others)
            body += folded(f"the other shared arrays: {names}", "".join(table.html() for table in others))
        if output := first_of(self.output):
            body += folded("printed by the kernel", printed(output))
        return card(body, theme.GOOD if self.clean else theme.BAD)
