"""HTML as GitHub shows it: without styles, scripts and classes, so that only tables, lists and code remain.

Tests use `stripped` and `loose_runs` to check every stored card.
"""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser

KEPT = {
    *("a", "b", "br", "code", "del", "em", "i", "img", "ins", "kbd", "mark", "q", "s", "samp", "small", "span"),
    *("strong", "sub", "sup", "tt", "var", "blockquote", "caption", "dd", "details", "div", "dl", "dt", "figcaption"),
    *("figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "summary", "table", "tbody", "td"),
    *("tfoot", "th", "thead", "tr", "ul"),
}
INLINE = {"a", "b", "code", "del", "em", "i", "img", "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strong"}
INLINE |= {"sub", "sup", "tt", "var"}
ATTRIBUTES = {"align", "alt", "colspan", "height", "href", "open", "rowspan", "src", "title", "valign", "width"}
GONE = {"script", "style", "svg", "template", "iframe", "math"}  # with all that they contain
EMPTY = {"br", "hr", "img"}  # have no end tag
BLOCKS = KEPT - INLINE  # begin a line
HOLDERS = {"table", "pre", "ul", "ol", "dl"}  # what is inside keeps its shape without styles


class _Stripper(HTMLParser):
    """Collects what is left of a piece of HTML."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.inside = 0  # of elements that go with their content

    def handle_starttag(self, tag, attributes):
        if tag in GONE:
            self.inside += 1
        if self.inside or tag not in KEPT:
            return
        found = [(name, value or "") for name, value in attributes if name in ATTRIBUTES]
        if tag == "img" and dict(found).get("src", "").startswith("data:"):
            return  # GitHub shows no picture that is part of the HTML
        words = "".join(f' {name}="{escape(value)}"' for name, value in found)
        self.parts.append(f"<{tag}{words}>")

    def handle_endtag(self, tag):
        if tag in GONE:
            self.inside = max(self.inside - 1, 0)
        elif not self.inside and tag in KEPT - EMPTY:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data):
        if not self.inside:
            self.parts.append(escape(data, quote=False))


def stripped(html: str) -> str:
    """The HTML without styles, classes, scripts and other elements that GitHub drops."""
    stripper = _Stripper()
    stripper.feed(html)
    stripper.close()
    return "".join(stripper.parts)


class _Lines(HTMLParser):
    """Counts the lines of text that stand one below the other outside of tables, lists and code."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.runs: list[list[str]] = [[]]
        self.line = ""
        self.holding = 0

    def end_line(self):
        if self.line.strip():
            self.runs[-1].append(" ".join(self.line.split()))
        self.line = ""

    def handle_starttag(self, tag, attributes):
        if tag in BLOCKS:
            self.end_line()
        if tag in HOLDERS:
            self.holding += 1
            self.runs.append([])

    def handle_endtag(self, tag):
        if tag in BLOCKS:
            self.end_line()
        if tag in HOLDERS:
            self.holding -= 1
            self.runs.append([])

    def handle_data(self, data):
        if not self.holding:
            self.line += data


def loose_runs(html: str) -> list[list[str]]:
    """The runs of lines of some HTML that nothing but their order holds together, each as a list of texts."""
    lines = _Lines()
    lines.feed(html)
    lines.close()
    lines.end_line()
    return [run for run in lines.runs if run]
