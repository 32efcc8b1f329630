"""HTML without its styles, as GitHub shows it, and its text line by line."""

from __future__ import annotations

import re
from html.parser import HTMLParser

BLOCKS = {"div", "p", "pre", "table", "tr", "ul", "ol", "li", "details", "summary", "br", "img", "h1", "h2", "h3"}
_STYLES = re.compile(r"<style\b.*?</style>", re.S)
_ATTRIBUTES = re.compile(r"""\s(?:style|class)=("[^"]*"|'[^']*')""")


def stripped(page: str) -> str:
    """The page without style sheets, styles and classes."""
    return _ATTRIBUTES.sub("", _STYLES.sub("", page))


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.lines, self.code, self._line, self._depth, self._cell = [], [], "", 0, 0

    def _end_line(self):
        if self._cell:
            self._line += " "
            return
        if line := " ".join(self._line.split()):
            self.lines.append(line)
        self._line = ""

    def handle_starttag(self, tag, attrs):
        if tag in BLOCKS and not self._depth:
            self._end_line()
        if tag in ("td", "th"):
            self._line += " | " if self._line.strip() else ""
            self._cell += 1
        if tag == "summary":
            self._line = "▸ "
        self._depth += tag == "pre"

    def handle_endtag(self, tag):
        self._depth -= tag == "pre"
        self._cell -= tag in ("td", "th")
        if tag in BLOCKS and not self._depth:
            self._end_line()

    def handle_data(self, data):
        if self._depth:
            self.code += data.split("\n")
        else:
            self._line += data


def lines_of_page(page: str) -> list[str]:
    """The text of a page without styles: a line for each block and for each row of a table, its cells between " | ".

    Listings (`<pre>`) keep their own lines and are left out. The title of a folded part begins with ▸.
    """
    reader = _Reader()
    reader.feed(stripped(page))
    reader._end_line()
    return reader.lines


def problems(page: str) -> list[str]:
    """What cannot be read without styles: a value or a label that is alone in its line, a verdict without ✓ or ✗."""
    found = []
    for line in lines_of_page(page):
        if re.fullmatch(r"[\d.,×%\s|–→-]+|[\w.]+", line):
            found.append(f"“{line}” is alone in its line")
        verdict = re.search(r"\b(PASS|FAIL)\b|: solved\.|: not yet\.|does not compile\.", line)
        if verdict and not re.search(r"[✓✗] ", line):
            found.append(f"“{line}” has no mark")
    return found
