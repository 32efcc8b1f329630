"""Prepares the sources of the site: notebooks with their stored outputs, pages of docs, pictures, live widgets."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_output

from gemm_lab import catalog
from gemm_lab.notebook.widgets.asleep import ASLEEP
from gemm_lab.notebook.widgets.modules import css
from gemm_lab.notebook_files import notebooks_in
from tools import colab
from tools.live.build import kernel_cells
from tools.publish import checked
from tools.site import api
from tools.site.cards import style_sheet
from tools.site.links import START, Links, place
from tools.site.widgets import Live, live_widgets, pictures, words

HERE = Path(__file__).parent
# The other pages in their order on the site: those that notebooks link to, and those of teachers and authors.
BESIDE = ["docs/GLOSSARY.md", "docs/REFERENCES.md", "docs/ERRATA.md"]
LATER = [
    *(f"docs/{name}.md" for name in ("PLATFORMS", "CLASSROOM", "CLASSROOM_SERVER", "OWN_CHAPTER")),
    *("docs/ARCHITECTURE.md", "docs/CONTRIBUTING.md", f"packages/{api.PACKAGE}/TESTING.md"),
]
FILES = {"LICENSE": "_static/LICENSE.txt"}
LEXER = "lab_cell"  # see `tools/site/conf.py`
HIDDEN = "hide-input"  # the tag with which myst-nb folds the code of a cell
STILL = "This is a picture. In JupyterLab, in a notebook that is running, it answers to your choices."
ASLEEP_WORDS = re.compile(rf'<div class="{ASLEEP}".*?</div>', re.S)
A_SENTENCE = re.compile(r"^.{151,}$", re.M)  # in text that is aligned otherwise: no table of the series is so wide
RUN_TO_ANSWER = "This is a picture of the box: run the cell to answer."
TRY = (
    '<p class="lab-try"><a href="../live/index.html#{target}">'
    "Try it here: edit and run this kernel in the browser</a></p>"
)
IN_BROWSER = (
    '\n\n<p class="lab-try"><a href="{up}lite/lab/index.html?path=notebooks/{name}.ipynb">Run {what} in your browser'
    "</a>, with nothing to install: Python, the compiler and the simulator run in the page.</p>\n"
)
EDITOR = (
    '<div class="lab-live"><p><a href="live/index.html#kernel=own/yours">Paste a kernel of your own</a>, or begin here '
    'with one that is slow on purpose:</p>\n<iframe src="live/index.html?embed" '
    'title="A CUDA kernel, which runs in this page" loading="lazy"></iframe>\n<p><a href="live/index.html">Open it in '
    "a window of its own</a>, where every kernel and exercise of the series can be run.</p></div>"
)
# Sections of README.md that the start page has first, and that in which its figure comes.
FIRST, RESULTS = ("What you will be able to do", "The notebooks, in order", "Results", "Start"), "Results"
ANSWER_IN_JUPYTER = "This is a picture of the box; in JupyterLab it takes your answer."


@dataclass
class Counts:
    """What was prepared: the pages, the widgets that live on them, and the places of those that stay pictures."""

    pages: int = 0
    live: int = 0
    still: list[str] = field(default_factory=list)
    loads: dict[str, int] = field(default_factory=dict)  # bytes that a browser loads for the live page, compressed


def sources(root: Path) -> list[str]:
    """The sources of all pages in reading order, as paths from the repository's folder `root`."""
    notebooks = [path.relative_to(root).as_posix() for path in notebooks_in(root / "notebooks")]
    return [START, *notebooks, *BESIDE, *LATER]


def prepare(root: Path, into: Path, address: str = "", live: bool = False) -> Counts:
    """Write the sources of the site into the folder `into`, which must be new.

    address: where the repository is published on GitHub, such as "owner/repo"; by default the address that
    `tools.publish` wrote. With one, the page of a notebook has links to Colab, Kaggle, Binder and Codespaces.
    live: the site has the live page and JupyterLite, and its pages lead there.

    Raises `LabError` for an address of another form, and for a link that leads nowhere.
    """
    repository = checked(address) if address else colab.address(root / "pyproject.toml")
    pages = sources(root)
    links, counts = Links(root, pages, FILES), Counts(len(pages) + 1)
    static = into / "_static"
    shutil.copytree(HERE / "static", static)
    (static / "look.css").write_text(css(), encoding="utf-8")
    (static / "cards.css").write_text(style_sheet(), encoding="utf-8")
    for file, copy in FILES.items():
        shutil.copyfile(root / file, into / copy)
    for page in pages:
        target = into / place(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        if page.endswith(".ipynb"):
            notebook = nbformat.read(root / page, as_version=4)
            nbformat.write(_notebook(notebook, page, links, static / "widgets", repository, counts, live), target)
        else:
            text = links.in_markdown(page, (root / page).read_text(encoding="utf-8"))
            if page == START:
                text = first_page(text, live) + _contents(pages)
            target.write_text(text, encoding="utf-8")
    (into / api.PAGE).write_text(api.page(), encoding="utf-8")
    for picture in links.used:
        (static / picture).parent.mkdir(exist_ok=True)
        shutil.copyfile(root / picture, static / picture)
    return counts


def first_page(text: str, live: bool) -> str:
    """The start page for somebody who has never heard of the series, made of README.md.

    Below the first paragraph stands the live editor, if the site has one. It loads 11 MB when Run is pressed, and 0.3
    MB before that. Then come what the series teaches and its notebooks; what README.md says about results, installation
    and tests follows.
    """
    parts = re.split(r"^(?=## )", text, flags=re.M)
    title, paragraph, *figure = parts[0].split("\n\n", 2)
    sections = {part.partition("\n")[0].removeprefix("## "): part for part in parts[1:]}
    for name in reversed(FIRST):
        sections = {name: sections[name], **sections} if name in sections else sections
    if RESULTS in sections and figure:
        head, rest = sections[RESULTS].split("\n", 1)
        sections[RESULTS] = f"{head}\n\n{figure.pop()}{rest}"
    begin = [
        title,
        paragraph,
        *([EDITOR + IN_BROWSER.format(up="", name="00_start_here", what="the whole lab")] if live else []),
    ]
    return "\n\n".join([*begin, *figure, ""]) + "".join(sections.values())


def _contents(pages: list[str]) -> str:
    """The table of contents, which the start page holds and the sidebar of every page shows."""
    notebooks = [page for page in pages if page.endswith(".ipynb")]
    authors = [*pages[-len(LATER) :], api.PAGE]
    parts = {"The notebooks": notebooks, "Beside them": BESIDE, "For teachers and authors": authors}
    blocks = (
        f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(place(page) for page in part) + "\n```\n"
        for caption, part in parts.items()
    )
    return "".join(blocks)


def _notebook(
    notebook: nbformat.NotebookNode,
    page: str,
    links: Links,
    into: Path,
    repository: str | None,
    counts: Counts,
    live: bool,
) -> nbformat.NotebookNode:
    """The notebook as Sphinx reads it; changes it in place. Widgets' modules and pictures go into the folder `into`."""
    alive = live_widgets(notebook)
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            cell.source = links.in_markdown(page, cell.source)
        elif cell.cell_type == "code":
            name = f"{Path(page).stem}-{number}"
            cell.outputs = list(_outputs(cell, page, name, links, into, alive.get(number, []), counts))
            if words_of := picture_words(cell):
                cell.metadata["mystnb"] = {"image": {"alt": words_of}}
            if cell.metadata.get("jupyter", {}).get("source_hidden"):
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), HIDDEN]
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": LEXER}
    notebook.cells = list(_with_links(notebook.cells) if live else notebook.cells)
    notebook.cells = [cell for cell in notebook.cells if not colab.is_setup(cell)]
    if live:
        link = IN_BROWSER.format(up="../", name=Path(page).stem, what="this notebook")
        notebook.cells.insert(1, new_markdown_cell(link.strip()))
    if repository:
        notebook.cells.insert(1, new_markdown_cell(open_in(page, repository)))
    return notebook


def picture_words(cell: nbformat.NotebookNode) -> str:
    """What the first picture of a cell shows, for those who do not see it; "" if the cell has none."""
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):
            text = "".join(output.data.get("text/plain", ""))
            return "A plot" if text.startswith("<") else re.sub(r"^\[\w+\] ", "", text)
    return ""


def open_in(page: str, repository: str) -> str:
    """The line of links that open a notebook of a published repository elsewhere, as Markdown."""
    places = colab.links(Path(page).stem, repository)
    return "Run this notebook in " + " · ".join(f"[{name}]({link})" for name, link in places.items())


def _with_links(cells: list[nbformat.NotebookNode]) -> Iterator[nbformat.NotebookNode]:
    """The cells, and behind each kernel the link that opens it in the live page."""
    for cell, (line, exercise) in zip(cells, kernel_cells(cell.source for cell in cells), strict=True):
        yield cell
        if line and exercise:
            yield new_markdown_cell(TRY.format(target=f"kernel=exercise/{exercise}"))
        elif line:
            spec = catalog.kernel(line.name)
            at = f"&line={spec.regions[line.region].first_line}" if line.region else ""
            yield new_markdown_cell(TRY.format(target=f"kernel={spec.name}{at}"))


def _outputs(
    cell: nbformat.NotebookNode,
    page: str,
    name: str,
    links: Links,
    into: Path,
    alive: list[Live | None],
    counts: Counts,
) -> Iterator[nbformat.NotebookNode]:
    """The stored outputs of a cell, with its widgets in place of their pictures."""
    widgets = iter(alive)
    of_widgets = pictures(cell)
    for number, output in enumerate(cell.outputs):
        data = output.get("data", {})
        if any(output is one for one in of_widgets):
            widget = next(widgets)
            counts.live += widget is not None
            counts.still += [] if widget else [name]
            html = live_html(widget, data, name, into) if widget else still_html(data, name, into)
            output = new_output("display_data", {"text/html": html})
        elif words(output) and any(cell.outputs[number + 1] is one for one in of_widgets):
            continue  # it says how a widget comes to life in Jupyter: here it lives, or another sentence is below it
        elif "text/html" in data:
            data["text/html"] = links.in_html(page, _for_readers(data["text/html"]))
        elif "text" in output:
            output.text = A_SENTENCE.sub(lambda line: textwrap.fill(line[0], 96, break_long_words=False), output.text)
        yield output


def _for_readers(html: str) -> str:
    """The HTML of an output without the words that speak of running the cell."""
    return ASLEEP_WORDS.sub("", html).replace(RUN_TO_ANSWER, ANSWER_IN_JUPYTER)


def live_html(widget: Live, stored: dict, name: str, into: Path) -> str:
    """HTML of a widget: its state, and its stored picture, which stays until the page has loaded the module."""
    into.mkdir(parents=True, exist_ok=True)
    (into / f"{widget.module}.js").write_text(widget.source, encoding="utf-8")
    state = json.dumps(widget.state, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div class="lab-widget" data-module="{widget.module}">'
        f'<script type="application/json">{state}</script>{_picture(stored, name, into)}</div>'
    )


def still_html(stored: dict, name: str, into: Path) -> str:
    """HTML of a widget that stays a picture, and the sentence that says so."""
    return f'<div class="lab-still">{_picture(stored, name, into)}<p>{STILL}</p></div>'


def _picture(stored: dict, name: str, into: Path) -> str:
    into.mkdir(parents=True, exist_ok=True)
    (into / f"{name}.png").write_bytes(b64decode(stored["image/png"]))
    alt = escape("".join(stored.get("text/plain", "")))
    return f'<img src="../_static/widgets/{name}.png" alt="{alt}" loading="lazy">'
