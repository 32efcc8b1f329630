"""Reads the finished site once more: all that a page asks for must be there, on this site, and no placeholder."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gemm_results.errors import LabError

# Attributes whose address the browser loads by itself; that of a link is only followed by the reader.
LOADS = {
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
IN_STYLE = re.compile(r"""(?:@import\s+|url\()\s*["']?((?:https?:)?//[^"')\s]+)""")
LIVE, LITE = "live", "lite"  # the folders of the live page and of JupyterLite, which have tests of their own
PLACEHOLDER = "YOUR" + "_ACCOUNT"  # what documents write where an address belongs that nobody has given
MEGABYTE = 1_000_000
MOST_MEGABYTES = 20


class _Page(HTMLParser):
    """The anchors of a page, where its links lead, and what it loads."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        if tag == "link" and found.get("rel") in ("index", "search", "next", "prev", "canonical"):
            return
        if tag in LOADS and LOADS[tag] in found:
            self.loads.add(found[LOADS[tag]])


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    return page


def megabytes(site: Path) -> dict[str, float]:
    """The sizes of the parts of a site: {"book", and where it has them "live" and "lite"}."""
    found: dict[str, float] = {"book": 0.0}
    for path in site.rglob("*"):
        if path.is_file():
            part = path.relative_to(site).parts[0] if _live(path, site) else "book"
            found[part] = found.get(part, 0.0) + path.stat().st_size / MEGABYTE
    return found


def _live(path: Path, site: Path) -> bool:
    return path.relative_to(site).parts[0] in (LIVE, LITE)


def troubles(site: Path) -> list[str]:
    """What is wrong with a finished site, a sentence each."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html")) if not _live(path, site)}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        if PLACEHOLDER in path.read_text(encoding="utf-8"):
            found.append(f"{name} has the placeholder {PLACEHOLDER}.")
        found += [f"{name} loads {link} from another host." for link in sorted(page.loads) if urlsplit(link).netloc]
        found += [
            f"{name}: {link} leads nowhere."
            for link in sorted(page.links | page.loads)
            if _lost(site, path, link, pages)
        ]
    for path in site.rglob("*.css"):
        for address in IN_STYLE.findall(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(site).as_posix()} loads {address} from another host.")
    if (size := megabytes(site)["book"]) > MOST_MEGABYTES:
        found.append(f"The book has {size:.1f} MB, more than {MOST_MEGABYTES}.")
    return found


def _lost(site: Path, path: Path, link: str, pages: dict[Path, _Page]) -> bool:
    """Whether a link of the page `path` leads to a file or an anchor that the site does not have."""
    address = urlsplit(link)
    if address.scheme or address.netloc:
        return False
    folder = site if address.path.startswith("/") else path.parent  # 404.html is shown in any folder
    target = (folder / unquote(address.path.lstrip("/"))).resolve() if address.path else path
    if not target.is_file():
        return True
    return bool(address.fragment) and target in pages and unquote(address.fragment) not in pages[target].anchors


def check(site: Path) -> None:
    """Raise `LabError` with all that is wrong with a finished site."""
    if wrong := troubles(site):
        raise LabError("The site is not in order:\n" + "\n".join(wrong))
