"""What other layouts of a shared array would cost: the best of those that were tried, as a table and in words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from gemm_lab.cards.hot_lines import cost
from gemm_look.card import remark
from gemm_look.table import Table
from gemm_look.theme import tag
from gpu_simulator.layouts.sentences import notes, verdict
from gpu_simulator.layouts.trials import ArrayStudy

MOST_LINES = 4  # with a column of their own
WIDTH = 108  # characters of a line of text


@dataclass(frozen=True)
class LayoutTable:
    """One shared array and the layouts that were tried for it.

    before: source line -> its wavefronts for this array.   after: the same for each of `study.best`.
    """

    study: ArrayStudy = field(repr=False)
    before: Mapping[int, int]
    after: Sequence[Mapping[int, int]]

    def table(self) -> Table:
        """A row for the layout as it is, and one for each of the best."""
        lines = [line for line in self.before if any(after[line] != self.before[line] for after in self.after)]
        lines = sorted(sorted(lines, key=lambda line: -self.before[line])[:MOST_LINES])
        header = ("layout", "in C++", "bytes", "wavefronts", *(f"line\u00a0{line}" for line in lines))
        array = self.study.array
        rows = [("as it is", "", f"{array.size:,}", f"{self.study.total:,}", *(f"{self.before[n]:,}" for n in lines))]
        for trial, after in zip(self.study.best, self.after, strict=True):
            layout = trial.layout
            counts = (layout.bytes, trial.total, *(after[line] for line in lines))
            rows.append((layout.title, layout.code, *(f"{count:,}" for count in counts)))
        return Table(header, rows, text_columns=2, code=1)

    def text(self) -> list[str]:
        """Lines of plain text."""
        lines = [verdict(self.study)]
        if self.study.best:
            lines += [f"  {line}" for line in self.table().lines()]
            lines += textwrap.wrap(" ".join(notes(self.study)), WIDTH, initial_indent="  ", subsequent_indent="  ")
        return lines

    def html(self) -> str:
        """The sentence, the table and its notes."""
        body = tag("div", "below", escape(verdict(self.study)))
        if self.study.best:
            body += tag("div", "scroll", self.table().html()) + remark(" ".join(notes(self.study)), "small")
        return body


def layout_table(report: Any, study: ArrayStudy, line_of: Mapping[int, int]) -> LayoutTable:
    """The table of one study. line_of: instruction, an index of the report's sites -> its source line."""

    def by_line(wavefronts: Mapping[int, int]) -> dict[int, int]:
        lines: dict[int, list[Any]] = {}
        for site, count in wavefronts.items():
            lines.setdefault(line_of.get(site, 0), []).append(replace(report.sites[site], wavefronts=count))
        return {line: cost(sites).wavefronts for line, sites in sorted(lines.items())}

    return LayoutTable(study, by_line(study.wavefronts), [by_line(trial.wavefronts) for trial in study.best])
