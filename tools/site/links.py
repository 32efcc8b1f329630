"""Where the links of notebooks and documents lead on the site. A link that leads nowhere is refused with a sentence."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path, PurePosixPath

from gemm_results.errors import LabError

START = "README.md"  # becomes the start page, index.html
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)
# Code keeps its text: a fenced block, or a span with one backtick or two.
CODE = re.compile(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1[^\n]*$|(?<!`)(``?)(?!`).+?(?<!`)\2(?!`)", re.S | re.M)
MARKDOWN_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\)|\s+\")")
HTML_LINK = re.compile(
    r"""(?P<before><(?:a|img)\b[^>]*?\s(?:href|src)=)(?P<quote>["'])(?P<target>.*?)(?P=quote)""", re.S
)
HEADING = re.compile(r"^ {0,3}#{1,6} +(.+?)(?: +#+)? *$", re.M)


def anchor(heading: str) -> str:
    """The anchor that a Markdown viewer gives a heading."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def anchors(markdown: str) -> set[str]:
    """The anchors of all headings of a Markdown text; the second heading of one name has -1 behind it, and so on."""
    found: set[str] = set()
    for heading in HEADING.findall(CODE.sub("", markdown)):
        first = name = anchor(heading)
        number = 0
        while name in found:
            number += 1
            name = f"{first}-{number}"
        found.add(name)
    return found


def markdown_of(path: Path) -> str:
    """The text of a document, or of all Markdown cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


@dataclass
class Links:
    """The links between the pages of the site.

    root: the repository's folder.   pages: the sources of the pages, as paths from there, such as "docs/GLOSSARY.md".
    files: other files that the site has, such as "LICENSE", and where. used: the pictures that a page has shown.
    """

    root: Path
    pages: list[str]
    files: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._anchors = {page: anchors(markdown_of(self.root / page)) for page in self.pages}

    def target(self, page: str, link: str, html: bool) -> str:
        """Where a link on `page` leads on the site: its path from that page.

        html: as a link of a finished page, "04_banks.html#a"; otherwise as Sphinx resolves it, "04_banks.ipynb#a".
        A link to another site, or inside the page, stays as it is. Raises `LabError` if it leads nowhere.
        """
        if EXTERNAL.match(link):
            return link
        path, _, name = link.partition("#")
        found = _joined(page, path) if path else page
        if found not in self.pages:
            return _relative(page, self._file(page, link, found))
        if name and name not in self._anchors[found]:
            raise LabError(f"{page}: the link “{link}” leads to a heading that {found} does not have.")
        if not path:
            return link
        ending = PurePosixPath(place(found)).with_suffix(".html" if html else PurePosixPath(found).suffix)
        return _relative(page, str(ending)) + (f"#{name}" if name else "")

    def _file(self, page: str, link: str, found: str) -> str:
        if found in self.files:
            return self.files[found]
        if found.startswith("images/") and (self.root / found).is_file():
            self.used.add(found)
            return f"_static/{found}"
        raise LabError(f"{page}: the link “{link}” leads to {found}, which is not on the site.")

    def in_html(self, page: str, html: str) -> str:
        """HTML of a page with the targets of its links and pictures on the site."""

        def changed(match: re.Match) -> str:
            target = self.target(page, unescape(match["target"]), html=True)
            return f"{match['before']}{match['quote']}{target}{match['quote']}"

        return HTML_LINK.sub(changed, html)

    def in_markdown(self, page: str, text: str) -> str:
        """The Markdown text of a page with the targets of its links on the site. What stands in code is kept."""
        parts, end = [], 0
        for code in CODE.finditer(text):
            parts += [self._prose(page, text[end : code.start()]), code[0]]
            end = code.end()
        return "".join([*parts, self._prose(page, text[end:])])

    def _prose(self, page: str, text: str) -> str:
        text = MARKDOWN_LINK.sub(lambda match: self.target(page, match[1], html=False), text)
        return self.in_html(page, text)


def place(page: str) -> str:
    """Where the source of a page lies among Sphinx's sources: the start page is index.md."""
    return "index.md" if page == START else page


def _joined(page: str, path: str) -> str:
    return os.path.normpath(PurePosixPath(page).parent / path).replace(os.sep, "/")


def _relative(page: str, target: str) -> str:
    return os.path.relpath(target, PurePosixPath(place(page)).parent).replace(os.sep, "/")
