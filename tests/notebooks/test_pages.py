"""The notebooks as pages: every picture is there, and every link leads somewhere (external ones: well formed)."""

import ast
import base64
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import colab

ROOT = Path(__file__).resolve().parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob(".github/*.md")])
HOSTS = {"arxiv.org", "colab.research.google.com", "docs.nvidia.com", "github.com"}
SOURCES = set(re.findall(r"<(https://[^>\s]+)>", (ROOT / "docs/REFERENCES.md").read_text(encoding="utf-8")))
LINK = re.compile(r"\]\(([^()\s]+)\)|\b(?:src|href)=\"([^\"]+)\"|<(https?://[^>\s]+)>")
CAPTIONED = re.compile(r"<img [^>]*\balt=\"[^\"]{10,}\"[^>]*>\s*\n\n\*[^*\n]{10,}")
DRAW = {"figure", "plot", "resources", "sizes", "timeline"}  # calls that end in a picture


def wrong_link(target: str, folder: Path) -> str | None:
    """What is wrong with a link from a page in `folder`, or None."""
    parts = urlsplit(target)
    if target in SOURCES:
        return None
    if parts.scheme:
        if parts.scheme != "https" or parts.hostname not in HOSTS or not parts.path.strip("/"):
            return f"{target}: an external link is https, to a page of {', '.join(sorted(HOSTS))}, or in REFERENCES.md"
        return None
    if target.startswith("#") or (folder / unquote(parts.path)).exists():
        return None
    return f"{target}: no such file beside {folder.name}"


def links(text: str) -> list[str]:
    """The targets of the links and pictures in Markdown, code left out."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    return [next(filter(None, match)) for match in LINK.findall(text)]


def is_png(text: str) -> bool:
    picture = base64.b64decode(text)
    return picture[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(picture[16:20], "big") > 100


def wrong_on_page(book, folder: Path):
    """Sentences on links that lead nowhere, pictures without a caption, and cells whose picture is not stored."""
    for cell in book.cells:
        if cell.cell_type == "markdown":
            yield from filter(None, (wrong_link(target, folder) for target in links(cell.source)))
            if "<img" in cell.source and not CAPTIONED.search(cell.source):
                yield f"a picture without a description or a caption: {cell.source[:80]}"
            continue
        shown = ""
        for output in cell.outputs:
            data = output.get("data", {})
            found = re.findall(r"src=\"data:image/png;base64,([^\"]+)\"", data.get("text/html", ""))
            found += [data["image/png"]] if "image/png" in data else []
            shown += "".join(found)
            if not all(map(is_png, found)):
                yield f"a stored picture is no PNG: {cell.source[:80]}"
        if draws(cell.source) and not shown and "raises-exception" not in cell.metadata.get("tags", []):
            yield f"no picture is stored: {cell.source[:80]}"


def draws(source: str) -> bool:
    """Whether the last expression of a cell is a call that draws."""
    if source.startswith("%%"):
        return False
    last = ast.parse("\n".join(line for line in source.split("\n") if not line.lstrip().startswith("%"))).body[-1:]
    call = last[0].value if last and isinstance(last[0], ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "attr", "") in DRAW


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_pictures_and_links(path):
    assert list(wrong_on_page(nbformat.read(path, as_version=4), path.parent)) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_links_of_the_documents(path):
    found = [wrong_link(target, path.parent) for target in links(path.read_text(encoding="utf-8"))]
    assert [sentence for sentence in found if sentence] == []


def test_an_address_of_the_references_is_well_formed():
    wrong = [address for address in SOURCES if not urlsplit(address).hostname or not urlsplit(address).path.strip("/")]
    assert wrong == [] and len(SOURCES) > 40


def test_the_repository_is_named_once():
    """Its address, if it has one, stands in pyproject.toml alone, apart from the cells that sync writes."""
    address = colab.address()
    if address is None:
        return
    found = subprocess.run(
        ["git", "grep", "-lF", address, "--", "*.py", "*.md", "*.toml", "*.yml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if found.returncode > 1:
        pytest.skip("not a git checkout")
    assert found.stdout.split() == ["pyproject.toml"]


# ---- What must be seen ----

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 8 + (760).to_bytes(4, "big") * 2).decode()
GOOD = '<img src="../images/padding.png" width="760" alt="Chunk 0 of eight rows">\n\n*Only the distance counts.*'


def page(prose=GOOD, source='lab.figure("padding", "x")', data=None):
    output = new_output("display_data", data if data is not None else {"image/png": PNG})
    return new_notebook(cells=[new_markdown_cell(prose), new_code_cell(source, outputs=[output])])


def test_a_good_page_passes():
    assert list(wrong_on_page(page(), ROOT / "notebooks")) == []


@pytest.mark.parametrize(
    "harm",
    [
        {"prose": GOOD.replace("padding", "paddling")},
        {"prose": "[next](01_memory_wal.ipynb)"},
        {"prose": GOOD.split("\n")[0]},
        {"prose": GOOD.replace("Chunk 0 of eight rows", "")},
        {"prose": "[here](http://github.com/a/b)"},
        {"prose": "[here](https://example.org/a)"},
        {"prose": "<https://github.com>"},
        {"data": {"text/plain": "<Card>"}},
        {"data": {"image/png": base64.b64encode(b"GIF89a").decode()}},
    ],
)
def test_a_broken_page_is_seen(harm):
    assert list(wrong_on_page(page(**harm), ROOT / "notebooks")) != []


# ---- nbconvert ----


class Pictures(HTMLParser):
    """The `src` of every picture of a page, and the `href` of every link."""

    def __init__(self):
        super().__init__()
        self.pictures, self.links = [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "img":
            self.pictures.append(found.get("src", ""))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])


def check_html(paths, into):
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--output-dir", str(into), "--log-level", "ERROR"]
    done = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for path in paths:
        page, book = Pictures(), nbformat.read(path, as_version=4)
        page.feed((into / f"{path.stem}.html").read_text(encoding="utf-8"))
        stored = sum("image/png" in output.get("data", {}) for cell in book.cells for output in cell.get("outputs", []))
        local = [source for source in page.pictures if not source.startswith("data:")]
        drawn = [source for source in page.pictures if source.startswith("data:image/png;base64,")]
        assert len(drawn) >= stored and all(is_png(source.split(",", 1)[1]) for source in drawn), path.name
        assert [w for target in local + page.links if (w := wrong_link(target, path.parent))] == [], path.name


@pytest.mark.long
def test_a_page_of_html_shows_every_picture(tmp_path):
    check_html([path for path in PATHS if path.stem == "05_padding_and_swizzling"], tmp_path)


@pytest.mark.long
def test_all_pages_of_html_show_every_picture(tmp_path):
    check_html(PATHS, tmp_path)
