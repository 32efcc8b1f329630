"""Source code as HTML: a listing with line numbers, one line with a marked word, or a diff."""

from __future__ import annotations

import re
from html import escape

from gemm_look.theme import tag


def code(text: str, first_line: int = 1) -> str:
    """CUDA source with line numbers; comments, keywords, literals and preprocessor directives are coloured.

    The numbers are a column of their own in a table, so that copied text does not contain them.
    """
    from pygments.lexers import CudaLexer
    from pygments.token import Comment, Keyword, Literal

    styles = ((Comment.Preproc, "value"), (Comment, "comment"), (Keyword, "word"), (Literal, "value"))
    parts = []
    for kind, words in CudaLexer(stripnl=False, ensurenl=False).get_tokens(text.rstrip("\n")):
        style = next((style for family, style in styles if kind in family), None)
        shown = escape(words, quote=False)
        parts.append(tag("span", style, shown) if style and words.strip() else shown)
    count = text.rstrip("\n").count("\n") + 1
    numbers = "\n".join(str(number) for number in range(first_line, first_line + count))
    columns = (("line numbers", numbers), ("pre", "".join(parts)))
    cells = (tag("td", "code cell", tag("pre", *one), attributes={"valign": "top"}) for one in columns)
    return tag("div", "scroll", tag("table", "code", tag("tr", "code row", "".join(cells))))


def code_line(text: str, column: int | None = None) -> str:
    """One line of source, which may wrap; the word that begins at `column` (0-based) is marked."""
    shown = escape(text, quote=False)
    if column is not None and column < len(text):
        word = re.match(r"\w+|.", text[column:])[0]
        before, after = text[:column], text[column + len(word) :]
        marked = tag("mark", "marked", escape(word, quote=False))
        shown = escape(before, quote=False) + marked + escape(after, quote=False)
    return tag("pre", "one line", shown)


def diff_lines(lines: list[str]) -> str:
    """The lines of a unified diff: added ones on green, removed ones on red."""
    styles = {"+": "added", "-": "removed", "@": "gap"}
    shown = (tag("span", styles[line[:1]], escape(line)) if line[:1] in styles else escape(line) for line in lines)
    return tag("pre", "wide pre", "\n".join(shown))
