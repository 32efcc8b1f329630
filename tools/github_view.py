"""A notebook as GitHub shows it: without styles, scripts and classes, so that only tables, lists and code remain.

    python -m tools.github_view notebooks/02a_tiling_in_python.ipynb --into build/github

writes an HTML page for each notebook. Tests use `stripped` and `loose_runs` to check every stored card.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import nbformat
from nbconvert.filters import markdown2html

from gemm_lab.config import data_dir
from gemm_lab.notebook_files import notebooks_in

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
LOOK = """body { font: 16px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; color: #1f2328;
  background: #fff; max-width: 1012px; margin: 24px auto; padding: 0 24px; }
table { border-collapse: collapse; display: block; overflow: auto; margin: 0 0 16px; }
td, th { border: 1px solid #d1d9e0; padding: 6px 13px; }
tr:nth-child(2n) { background: #f6f8fa; }
pre, code { font: 13.6px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { background: #f6f8fa; padding: 16px; border-radius: 6px; overflow: auto; }
kbd { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; border: 1px solid #d1d9e0; border-radius: 6px;
  padding: 3px 5px; }
.output { padding-left: 24px; }
.output > pre { background: none; padding: 0; }
img { max-width: 100%; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #f0f6fc; } td, th { border-color: #3d444d; }
  tr:nth-child(2n), pre { background: #151b23; } a { color: #4493f8; } }"""


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


def page(notebook: nbformat.NotebookNode, title: str, images: str) -> str:
    """The notebook as an HTML page. images: the folder of its pictures, as seen from the page."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"<a class=\"anchor-link\".*?</a>", "", markdown2html(cell.source))  # nbconvert's own
            parts.append(stripped(prose).replace("../images/", images))
        if cell.cell_type == "code":
            parts.append(f"<pre>{escape(cell.source)}</pre>")
            parts += [f'<div class="output">{shown}</div>' for shown in map(_output, cell.outputs) if shown]
    body = "\n".join(parts)
    return f'<!doctype html><meta charset="utf-8"><title>{escape(title)}</title><style>{LOOK}</style>\n{body}\n'


def _output(output: nbformat.NotebookNode) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return stripped(data["text/html"])
    if "image/png" in data:
        width = output.get("metadata", {}).get("image/png", {}).get("width", "")
        size = f' width="{width}"' if width else ""
        return f'<img src="data:image/png;base64,{data["image/png"]}"{size}>'
    return f"<pre>{escape(output.get('text') or data.get('text/plain', ''))}</pre>"


def main(argv: list[str] | None = None) -> int:
    """The command line. Returns 0."""
    parser = argparse.ArgumentParser(description="Write notebooks as GitHub shows them.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="which (default: the whole series)")
    parser.add_argument("--into", type=Path, default=Path("build/github"), help="folder of the pages")
    options = parser.parse_args(argv)
    options.into.mkdir(parents=True, exist_ok=True)
    images = os.path.relpath(data_dir("images"), options.into) + "/"
    for path in options.notebooks or notebooks_in(data_dir("notebooks")):
        into = options.into / f"{path.stem}.html"
        into.write_text(page(nbformat.read(path, as_version=4), path.stem, images), encoding="utf-8")
        print(into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
