"""Tables, as HTML or as lines of text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from gemm_look.card import RIGHT, card, remark
from gemm_look.theme import tag


@dataclass(frozen=True)
class Table:
    """A table of texts. Rows have as many cells as `header`; the first `text_columns` are words, the rest numbers.

    code: the one of the text columns that is source code, from 0.   lit: numbers of the rows that are lit.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    text_columns: int = 1
    code: int | None = None
    lit: Collection[int] = ()

    def html(self) -> str:
        """The table and its caption as HTML; cells are escaped, words left-aligned and numbers right-aligned."""
        body = [
            tag("tr", "lit row" if number in self.lit else "row", self._cells("td", row))
            for number, row in enumerate(self.rows)
        ]
        table = tag("table", "table", "".join([tag("tr", "row", self._cells("th", self.header)), *body]))
        return table + (remark(self.caption, "small") if self.caption else "")

    def _cells(self, name: str, row: Sequence[str]) -> str:
        words = [
            tag(name, "code text" if name == "td" and column == self.code else "text", escape(text))
            for column, text in enumerate(row[: self.text_columns])
        ]
        numbers = [
            tag(name, "unbroken number" if name == "td" and " " in text else "number", escape(text), attributes=RIGHT)
            for text in row[self.text_columns :]
        ]
        return "".join([*words, *numbers])

    def lines(self, *, aligned: bool = True) -> list[str]:
        """The header and the rows as lines of text; numbers are right-aligned, or with `aligned=False` left-aligned."""
        widths = [max(len(row[i]) for row in [self.header, *self.rows]) for i in range(len(self.header))]
        lines = []
        for row in [self.header, *self.rows]:
            cells = [
                cell.rjust(width) if aligned and index >= self.text_columns else cell.ljust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells) if aligned else "  ".join(cells).rstrip())
        return lines


class ShownAsTable:
    """Displayed as the table that `_table` makes, with its caption below."""

    def _table(self) -> Table:
        raise NotImplementedError

    def __repr__(self) -> str:
        table = self._table()
        return "\n".join([*table.lines(), table.caption])

    def _repr_html_(self) -> str:
        return card(self._table().html())
