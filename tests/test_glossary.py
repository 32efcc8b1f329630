"""The glossary: its terms are found by the links that name them, and each is short."""

import json
import re
from pathlib import Path

import nbformat
import pytest

from tools.colab import is_setup

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs/GLOSSARY.md").read_text(encoding="utf-8")
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
    found = {
        path.name: path.read_text(encoding="utf-8")
        for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob(".github/*.md")]
    }
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
    assert notebooks and all(list((ROOT / "notebooks").glob(f"{number}*")) for number in notebooks[1].split(", "))
    assert len(body.split()) <= 50 and len(re.findall(r"[.?!](?:\s|$)", body)) <= 3


# ---- First uses ----

# How a term is looked for where its heading alone would not find it; None: not looked for, with the reason beside it.
SPELLED = {
    "A, B, C and D": None,  # single letters
    "bank": r"banks?(?! conflict)",
    "pass": None,  # a check passes, too
    "tensor core": r"tensor[- ]cores?",
    "multiprocessor": r"multiprocessors?|SMs?",
    "quarter-warp": r"quarter-warps?|half-warps?",
    "round": r"(?:full|last|first) rounds?|rounds of",  # “round” has other meanings
    "phase": r"phases?",
    "stage": r"stages?",
    "persistent blocks": r"persistent",
    "producer and consumer": r"producers?|consumers?",
    "sustained, burst": r"sustained|bursts?",
    "ladder, rung": r"ladders?|rungs?",
    "scoreboard": r"(?:long |short )scoreboard",  # notebook 12 is called so, too
    "machine code": r"machine code|SASS",
    "TMEM": r"TMEM|tensor memory",
    "stall": r"stalls?|stalled",
    "spill": r"spills?|spilled",
    "latency": r"latenc(?:y|ies)",
    "scale": None,  # an everyday word, too, as of an axis
    "gain": None,  # an everyday word, until notebook 12 gives it a number
    "parity": r"parit(?:y|ies)",
    "proxy": r"prox(?:y|ies)",
    "hazard": r"hazards?",
    "padding": r"padding|padded",
}
# (notebook, term): why it may stand there although a later notebook teaches it.
EXCEPTIONS = {
    ("11b", "promotion"): "a tensor map's promotion to 128 bytes of L2 is another thing",
    ("00", "wgmma"): "the list of notebooks says in the row of 08 that an RTX 5090 has none",
}
# These are being rewritten. Take a number out of the list once its notebook passes; then a failure is one again.
NOT_YET = ()
BOOKS = {path.stem.split("_")[0]: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}


def taught(term: str) -> list[str]:
    """The notebooks that teach a term, as its entry says."""
    return re.search(r"\[(\d\d(?:, \d\d)*)\]$", ENTRIES[term].strip())[1].split(", ")


def pattern(term: str) -> str | None:
    return SPELLED.get(term, re.escape(term) + "s?")


def plain(text: str) -> str:
    """Prose without pictures, addresses and code; code that is a term itself stays, as do the names of links."""
    terms = {term.lower() for term in ENTRIES}
    text = re.sub(r"```.*?```|<!--.*?-->|<img[^>]*>|<https?://[^>]*>", "", text, flags=re.S)
    text = re.sub(r"`([^`\n]*)`", lambda code: code[1] if code[1].lower().rstrip("s") in terms else "", text)
    return re.sub(r"\]\((?!\.\./docs/GLOSSARY\.md#)[^)]*\)", "]", text)


def pointed(text: str, at: int, teachers: list[str]) -> bool:
    """Whether the sentence or the row of a table around a place names a notebook that teaches the term, or a later one."""
    start = max(text.rfind(mark, 0, at) for mark in (". ", ".\n", "\n\n", "\n|", "? ", ": "))
    ends = [found for mark in (". ", ".\n", "\n\n", "|\n", "? ") if (found := text.find(mark, at)) >= 0]
    sentence = text[start + 1 : min(ends, default=len(text))]
    named = re.findall(r"(?:notebooks?|in) \d\d(?:(?:,| and|, and| to) \d\d)*|\[\d\d", sentence, flags=re.I)
    return any(number >= min(teachers) for number in re.findall(r"\d\d", " ".join(named)))


def too_early(number: str, texts: list[str], entries: dict[str, str] | None = None) -> list[str]:
    """The terms that a notebook uses before the series teaches them, and does not link where it first does.

    A first use is fine in the notebook that teaches the term or in a later one; as a link to the glossary; or in a sentence
    that sends the reader to the notebook that teaches it.
    """
    text, found = plain("\n\n".join(texts)), []
    for term in entries or ENTRIES:
        spelling, teachers = pattern(term), taught(term)
        if spelling is None or number >= min(teachers) or (number, term) in EXCEPTIONS:
            continue
        first = re.search(rf"(?<![\w.-])(?:{spelling})(?![\w-])", text, flags=0 if term.isupper() else re.I)
        if first is None or pointed(text, first.start(), teachers):
            continue
        linked = re.compile(rf"\[[^\]]*\]\(\.\./docs/GLOSSARY\.md#{anchor(term)}\)").finditer(text)
        if not any(link.start() <= first.start() < link.end() for link in linked):
            found.append(term)
    return found


def prose(path: Path) -> list[str]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown" and not is_setup(cell)]


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(
            number, marks=pytest.mark.xfail(reason="being rewritten", strict=False) if number in NOT_YET else ()
        )
        for number in BOOKS
    ],
)
def test_a_term_is_taught_or_linked_where_it_is_first_used(number):
    assert too_early(number, prose(BOOKS[number])) == []


def test_every_spelling_and_exception_names_a_term():
    assert set(SPELLED) <= set(ENTRIES) and {term for _, term in EXCEPTIONS} <= set(ENTRIES)


@pytest.mark.parametrize(
    ("number", "text", "early"),
    [
        ("07", "Then TMA copies.", ["TMA"]),
        ("08", "Then TMA copies.", []),
        ("07", "Then [TMA](../docs/GLOSSARY.md#tma) copies, and TMA stores.", []),
        ("07", "TMA stores, and [TMA](../docs/GLOSSARY.md#tma) copies.", ["TMA"]),
        ("07", "TMA comes in notebook 08. It copies.", []),
        ("07", "TMA copies. Notebook 08 shows it.", ["TMA"]),
        ("07", "TMA copies as notebook 06 did, in rung 10.", ["TMA"]),
        ("06", "In notebooks 07 and 08 TMA copies.", []),
        ("07", "`wgmma` multiplies, `wgmma.fence` waits.", ["wgmma"]),
        ("07", "`wgmma.fence` waits, and wgmma_tile is a name.", []),
        ("07", "| [08 RTX 5090](08_rtx_5090.ipynb) | TMA |\n| rows | 09 |", []),
        ("07", "| TMA | copies |\n| rows | notebook 09 |", ["TMA"]),
        ("07", "![a cluster](cluster.png) <img alt='cluster'>", ["cluster"]),
        ("03", "The short scoreboard fills.", ["scoreboard"]),
        ("03", "The scoreboard shows all ladders.", []),
    ],
)
def test_a_first_use_that_comes_too_early_is_seen(number, text, early):
    assert too_early(number, [text]) == early
