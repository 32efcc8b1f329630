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
from gpu_simulator.layouts.candidates import Padding
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

    @property
    def head(self) -> str:
        """The result, in a sentence."""
        study, name = self.study, self.study.array.title
        if study.why_not:
            return f"{name}: no other layout was tried, because {study.why_not}."
        if not study.excess:
            return f"{name}: no bank conflicts, so there is nothing to gain from another layout."
        now = f"{study.total:,} wavefronts, {study.excess:,} more than the least possible"
        if not study.best:
            return f"{name}: {now}. None of the {study.tried} changes of its layout that were tried costs less."
        best = study.best[0]
        return f"{name}: {now}. Of the {study.tried} layouts that were tried, the best takes {best.total:,}."

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

    @property
    def notes(self) -> list[str]:
        """What the numbers rest on, and how the C++ is meant; empty without a better layout."""
        study = self.study
        if not study.best:
            return []
        widest, size = max(access.width for access in study.accesses), study.array.element_bytes
        codes = [trial.layout.code for trial in study.best]
        found = [
            f"Every access to {study.array.name} in this launch, loads and stores, was moved to the new place of its "
            f"address and counted again with the simulator's model of the banks, so change all lines that use it. "
            f"An access of {widest} bytes stays in one piece and aligned."
        ]
        if any(_declares(trial.layout) for trial in study.best):
            found.append("With another declaration (keep its alignment), the indices stay as they are.")
        if any("column" in code for code in codes):
            found.append("row and column are the indices that you write now.")
        if any("(&" in code for code in codes):
            found.append("i is the number of an element in the whole array.")
        elif any("[i" in code for code in codes):
            where = f" from byte {study.array.offset:,} on" if study.array.offset else ""
            found.append(f"i is the index that you use now, in elements of {size} bytes{where}.")
        found.append("Instructions for the new index are not counted.")
        return found

    def text(self) -> list[str]:
        """Lines of plain text."""
        lines = [self.head]
        if self.study.best:
            lines += [f"  {line}" for line in self.table().lines()]
            lines += textwrap.wrap(" ".join(self.notes), WIDTH, initial_indent="  ", subsequent_indent="  ")
        return lines

    def html(self) -> str:
        """The sentence, the table and its notes."""
        body = tag("div", "below", escape(self.head))
        if self.study.best:
            body += tag("div", "scroll", self.table().html()) + remark(" ".join(self.notes), "small")
        return body


def layout_table(report: Any, study: ArrayStudy, line_of: Mapping[int, int]) -> LayoutTable:
    """The table of one study. line_of: instruction, an index of the report's sites -> its source line."""

    def by_line(wavefronts: Mapping[int, int]) -> dict[int, int]:
        lines: dict[int, list[Any]] = {}
        for site, count in wavefronts.items():
            lines.setdefault(line_of.get(site, 0), []).append(replace(report.sites[site], wavefronts=count))
        return {line: cost(sites).wavefronts for line, sites in sorted(lines.items())}

    return LayoutTable(study, by_line(study.wavefronts), [by_line(trial.wavefronts) for trial in study.best])


def _declares(layout: Any) -> bool:
    return isinstance(layout, Padding) and layout.row_bytes == layout.array.row_bytes
