"""Writes the feedback page for a student, without anything that a browser would execute.

A submission is untrusted text. nbgrader copies its Markdown unchanged into the page, so a student's `<script>` would
run in the browser of everybody who opens the page. Here Markdown, attachments, raw cells and outputs pass through an
allow list of tags and attributes, and TeX commands that create links or styles are removed.
"""

from __future__ import annotations

import copy
import html
import re
from typing import Any

import nh3
from bs4 import BeautifulSoup
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_markdown_cell

from gemm_lab.notebook.exercises import exercises
from gemm_lab_classroom.submission import CHECK, PICTURES, not_judged_in

_TAGS = """a abbr b blockquote br code col dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li ol p pre s samp
small span strong sub summary sup table tbody td tfoot th thead tr u ul"""
TAGS = frozenset(_TAGS.split())
ATTRIBUTES = {
    "*": {"class", "style", "title"},
    "a": {"href"},
    "img": {"alt", "height", "src", "width"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
}
_LINK = re.compile(r"(?:https?://|mailto:|#|(?![a-z][a-z0-9+.-]*:|//|\\))", re.I)
_IMAGE = re.compile(r"(?:data:image/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=]*$|(?![a-z][a-z0-9+.-]*:|//|\\))", re.I)
_CLASS = re.compile(r"(?:highlight|anchor-link|[a-z]{1,2}\d?)$")
# TeX commands with which a formula could create a link, a style or another command.
_TEX = re.compile(
    r"\\(?=(?:href|url|style|class|cssId|html\w*|data|mmlToken|require|unicode|includegraphics|texttip|"
    r"mathtip|def|gdef|edef|let|newcommand|renewcommand|newenvironment|renewenvironment|csname|Declare\w*|"
    r"toggle|action|begingroup|bbox)(?![a-z]))",
    re.I,
)
_STYLES = """background background-color border border-left border-radius color display font-family font-size
line-height margin max-width overflow-x padding text-align white-space"""
STYLES = frozenset(_STYLES.split())

# Verdicts are sentences, which are broken into lines; columns of a table stand apart.
_LOOKS = """<style>.output_subarea pre {white-space: pre-wrap; word-break: normal; overflow-wrap: break-word}
.rendered_html :is(td, th) {padding: .1em .6em}</style>
"""
_TINT = re.compile(r"\brgba?\([\d., %]*\)")  # a colour, as the lab's cards use it


def _allowed(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute of `ATTRIBUTES`; None if the attribute is to be removed."""
    right = True
    if name in ("href", "src"):  # browsers ignore white space and control characters in an address
        address = "".join(letter for letter in value if letter > " ")
        right = bool((_LINK if tag == "a" else _IMAGE).match(address))
    if name == "class":
        right = all(_CLASS.match(word) for word in value.split())
    if name == "style":  # only colours and lengths: no url(…), no @ rules and no escapes
        right = not set(_TINT.sub("", value)) & set("(\\@")
    return value if right else None


def cleaned(page: str, styles: bool = False) -> str:
    """`page` with only the HTML that is on the allow list. Of other elements the text is kept.

    styles: also allow the CSS properties in `STYLES`.
    """
    clean = nh3.clean(
        page,
        tags=set(TAGS),
        clean_content_tags=set(),
        attributes=ATTRIBUTES,
        attribute_filter=_allowed,
        link_rel="nofollow noopener noreferrer",
        url_schemes={"http", "https", "mailto", "data"},
        filter_style_properties=set(STYLES) if styles else set(),
    )
    soup = BeautifulSoup(clean, "html.parser")
    for text in soup.find_all(string=_TEX):
        text.replace_with(_TEX.sub("", text))
    return str(soup)


class SafeFeedback(HTMLExporter):
    """nbgrader's exporter for feedback pages, with cleaned cells, and exercises named by their titles."""

    def from_notebook_node(self, nb: Any, resources: Any = None, **options: Any) -> tuple[str, Any]:
        nb = copy.deepcopy(nb)
        nb.metadata = type(nb)({"kernelspec": nb.metadata["kernelspec"]} if "kernelspec" in nb.metadata else {})
        nb.metadata["language_info"] = type(nb)(name="python", pygments_lexer="ipython3")
        nb.cells = [_plain(cell, number) for number, cell in enumerate(nb.cells)]
        page, resources = super().from_notebook_node(nb, resources, **options)
        for name, task in exercises().items():  # nbgrader's table of contents calls each of them “Test cell”
            link = f'<a href="#{CHECK}{name}">'
            page = page.replace(f"{link}Test cell</a>", f"{link}{html.escape(task.title)}</a>")
        for name in (cell.metadata.nbgrader.grade_id for cell in nb.cells if not_judged_in(cell)):
            # in the index and above the check; a score that a person has given stays
            score = rf'(<a (?:href="#|name="){re.escape(name)}">(?:(?!Score: ).)*)Score: 0\.0 / [\d.]+'
            page = re.sub(score, r"\1not judged automatically", page, flags=re.S)
        return page.replace("</head>", f"{_LOOKS}</head>", 1), resources

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """Markdown as cleaned HTML; as plain text if it cannot be converted."""
        try:
            page = HTMLExporter.markdown2html(self, context, source)
        except Exception as error:  # for example a missing attachment, or lists nested a thousand deep
            self.log.warning("A Markdown cell is shown as text: %s", error)
            page = f"<pre>{html.escape(source)}</pre>"
        return cleaned(page)


def _plain(cell: Any, number: int) -> Any:
    """The cell with only nbgrader's metadata, with pictures as attachments, and with cleaned outputs of checks.

    A `%%kernel` cell is marked as C++, for its colours. A raw cell becomes a Markdown cell that shows its text.
    """
    if cell.cell_type == "raw":
        cell = new_markdown_cell("\n".join(f"    {line}" for line in cell.source.split("\n")))
    marks = cell.metadata.get("nbgrader")
    cell.metadata = type(cell)({"nbgrader": marks} if marks else {})
    cell["id"] = f"cell-{number:03}"
    if "attachments" in cell:
        cell.attachments = type(cell)(
            {
                name: type(cell)({kind: data for kind, data in files.items() if kind in PICTURES})
                for name, files in cell.attachments.items()
            }
        )
    if cell.cell_type == "code":
        if cell.source.lstrip().startswith("%%kernel"):
            cell.metadata["magics_language"] = "c++"  # where nbconvert looks for it
        shown = cell.outputs if marks and marks.get("grade") else []
        cell.outputs = [_output(output) for output in shown]
    return cell


def _output(output: Any) -> Any:
    if "data" in output:
        kept = {kind: output.data[kind] for kind in ("text/html", "text/plain") if kind in output.data}
        if "text/html" in kept:
            kept["text/html"] = cleaned(kept["text/html"], styles=True)
        output.data = type(output)(kept)
        output.metadata = type(output)()
    return output
