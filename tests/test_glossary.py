"""The glossary: its terms are found by the links that name them, and each is short."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^### (.+)\n((?:.+\n?)+)", TEXT, flags=re.M))
LINK = re.compile(r"\]\((?:\.\./)?(?:GLOSSARY\.md)?#([\w-]+)\)")
NEEDED = {
    "wavefront",
    "conflict degree",
    "swizzle",
    "block order",
    "warpgroup",
    "mbarrier",
    "phase",
    "parity",
    "proxy",
    "TMEM",
}


def anchor(heading: str) -> str:
    """The anchor that a Markdown viewer gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


ANCHORS = {anchor(heading) for heading in re.findall(r"^#+ (.+)$", TEXT, flags=re.M)}


def pages() -> dict[str, str]:
    """Text of the documents and of the notebooks' prose."""
    found = {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("*.md")}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path.name] = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return found


def dangling(name: str, text: str) -> list[str]:
    """Links to terms that the glossary lacks."""
    linked = LINK.findall(text) if name == "GLOSSARY.md" else re.findall(r"GLOSSARY\.md#([\w-]+)", text)
    return [target for target in linked if target not in ANCHORS]


def test_every_linked_term_exists():
    assert {name: bad for name, text in pages().items() if (bad := dangling(name, text))} == {}


def test_a_dangling_link_is_seen():
    assert dangling("README.md", "[x](GLOSSARY.md#wave-front)") == ["wave-front"]
    assert dangling("GLOSSARY.md", "[x](#tmem) [y](#tensor)") == ["tensor"]


def test_readme_and_the_first_notebook_lead_there():
    assert all("GLOSSARY.md" in pages()[name] for name in ("README.md", "00_start_here.ipynb"))


def test_the_terms_of_the_series_are_there_once():
    headings = re.findall(r"^### (.+)$", TEXT, flags=re.M)
    assert set(headings) >= NEEDED and len(headings) == len({anchor(heading) for heading in headings})


@pytest.mark.parametrize("term", ENTRIES)
def test_an_entry_is_short_and_names_its_notebook(term):
    body = ENTRIES[term].strip()
    notebooks = re.search(r"\[(\d\d(?:, \d\d)*)\]$", body)
    assert notebooks and all(list((ROOT / "notebooks").glob(f"{number}_*")) for number in notebooks[1].split(", "))
    assert len(body.split()) <= 50 and len(re.findall(r"[.?!](?:\s|$)", body)) <= 3
