"""Sources are named: no text without a key, each key linked at its first mention, and each notebook ends with reading."""

import re
from pathlib import Path

import nbformat
import pytest

from gemm_results.published import published
from gpu_simulator.hardware.data_sheets import GPUS
from tools.colab import is_setup

ROOT = Path(__file__).resolve().parents[1]
REFERENCES = (ROOT / "docs/REFERENCES.md").read_text(encoding="utf-8")
ENTRIES = {
    title: " ".join(body.split())
    for title, body in re.findall(r"^### (.+)\n((?:(?!^##).*\n)+)", REFERENCES, flags=re.M)
}
TEXTS = ("tiling text", "T4 article", "Ampere article", "H100 report", "B200 walk-through")
PATHS = {path.stem.split("_")[0]: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
# These are being rewritten. Take a number out of the list once its notebook passes; then a failure is one again.
NOT_YET = ()
NOTEBOOKS = [
    pytest.param(number, marks=pytest.mark.xfail(reason="being rewritten", strict=False) if number in NOT_YET else ())
    for number in PATHS
]
# A source that is called a document, without a name.
GHOST = re.compile(r"\b(?:the|this|that|source|several|our|T4|Ampere|H100|B200|tiling) documents?\b(?!ation)", re.I)


def anchor(heading: str) -> str:
    """The anchor that a Markdown viewer gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def prose(book) -> list[str]:
    return [cell.source for cell in book.cells if cell.cell_type == "markdown" and not is_setup(cell)]


def spoken(book) -> str:
    """Prose, the questions of code cells, and what they printed."""
    printed = [cell.source for cell in book.cells if cell.cell_type == "code" and "lab.guess(" in cell.source]
    for cell in book.cells:
        for output in cell.get("outputs", []):
            printed.append("".join(output.get("text", "") or output.get("data", {}).get("text/plain", "")))
    return "\n".join(prose(book) + printed)


def unlinked(texts: list[str]) -> list[str]:
    """The keys whose first mention in a notebook is no link to their entry."""
    text, found = "\n\n".join(texts), []
    for key in TEXTS:
        first = re.search(rf"\[?{key}\b(?:\]\(([^)]*)\))?", text, flags=re.I)
        if first and first[1] != f"../docs/REFERENCES.md#{anchor(key)}":
            found.append(key)
    return found


def wrong_at_the_end(texts: list[str]) -> list[str]:
    """What is missing among the last cells: a table, what one can do now, and three to five things to read.

    A thing to read has an author, a title (“…” or *…*) and an address that REFERENCES.md has under this title, or a link to
    its entry there.
    """
    found, last = [], texts[-8:]
    if not any(re.search(r"^\|.+\|\n\|[-| ]+\|\n\|", text, flags=re.M) for text in texts[-12:]):
        found.append("no table")
    can = [text for text in last if text.startswith("## What you can do now\n")]
    if not can or not 3 <= len(re.findall(r"^- [A-Z].+\.$", can[0], flags=re.M)) <= 6:
        found.append("it does not say what you can do now")
    reading = [text for text in last if text.startswith("## Further reading\n")]
    entries = re.findall(r"^- (.+)$", reading[0], flags=re.M) if reading else []
    if not 3 <= len(entries) <= 5:
        found.append(f"{len(entries)} entries of further reading")
    return found + [said for entry in entries if (said := wrong_reading(entry))]


def wrong_reading(entry: str) -> str | None:
    """What is wrong with an entry of further reading."""
    if re.search(r"\]\(\.\./docs/REFERENCES\.md#[\w-]+\)", entry):
        return None
    match = re.fullmatch(r"([^“*]+), (?:“(.+?)”|\*(.+?)\*)(?:,| \(|:).*<(https://[^>\s]+)>\.?|.*", entry)
    if not match[1]:
        return f"no author, title and address: {entry}"
    title, address = (match[2] or match[3]).lower(), match[4]
    titled = [key for key, body in ENTRIES.items() if f"“{title}”" in body.lower() or title == key.lower()]
    if f"<{address}>" not in REFERENCES:
        return f"{address} is not in REFERENCES.md"
    return None if any(f"<{address}>" in ENTRIES[key] for key in titled) else f"“{title}” is not the title there"


# ---- REFERENCES.md ----


@pytest.mark.parametrize("key", ENTRIES)
def test_an_entry_has_an_address_or_says_that_it_has_none(key):
    body = ENTRIES[key]
    assert (
        re.search(r"<https://[^>\s]+>", body) or "ddress not stated" in body or "An address was not verified." in body
    )
    assert "“" in body or body.startswith("NVIDIA, "), "it has a title, or says whose figures it gives"


def test_the_five_texts_are_there_as_they_name_themselves():
    assert set(TEXTS) <= set(ENTRIES) and len(ENTRIES) == len({anchor(key) for key in ENTRIES})
    for key in TEXTS:
        assert "ddress not stated" in ENTRIES[key]


def test_every_source_of_the_published_figures_is_explained_under_one_text():
    for source in {row.source for row in published()}:
        assert [key for key in ENTRIES if f"`{source}`" in ENTRIES[key]] == [
            {
                "t4": "T4 article",
                "am": "Ampere article",
                "h1": "H100 report",
                "b2": "B200 walk-through",
                "le": "learn-cuda",
                "ti": "Tilus",
            }[source[:2]]
        ]


def test_every_paper_that_the_project_names_is_there():
    files = [
        path
        for folder in ("gemm_lab", "packages", "kernels", "tools")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".cu", ".cuh")
    ]
    named = {name for path in files for name in re.findall(r"arXiv:(\d{4}\.\d{4,5})", path.read_text(encoding="utf-8"))}
    assert named and all(f"arxiv.org/abs/{number}>" in REFERENCES for number in named)


@pytest.mark.parametrize("gpu", GPUS)
def test_every_source_of_a_data_sheet_is_there(gpu):
    keys = [key.lower() for key in ENTRIES]
    own = ("device query", "taken as for", "not published")  # what a GPU says of itself, or an assumption
    for said in set(GPUS[gpu].sources.values()):
        known = [key for key in keys if key.removesuffix("s") in said.lower()]
        assert known or said.lower().startswith(own), said


# ---- The notebooks ----


@pytest.mark.parametrize("number", NOTEBOOKS)
def test_no_source_without_a_name(number):
    assert GHOST.findall(spoken(nbformat.read(PATHS[number], as_version=4))) == []


@pytest.mark.parametrize("number", NOTEBOOKS)
def test_a_text_is_linked_where_it_is_first_named(number):
    assert unlinked(prose(nbformat.read(PATHS[number], as_version=4))) == []


@pytest.mark.parametrize("number", NOTEBOOKS)
def test_a_notebook_ends_with_what_one_can_do_and_read(number):
    assert wrong_at_the_end(prose(nbformat.read(PATHS[number], as_version=4))) == []


@pytest.mark.parametrize("number", NOTEBOOKS)
def test_links_to_the_references_and_the_errata_arrive(number):
    text = "\n".join(prose(nbformat.read(PATHS[number], as_version=4)))
    for page in ("REFERENCES.md", "ERRATA.md"):
        headings = {
            anchor(h) for h in re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.M)
        }
        assert set(re.findall(rf"\]\(\.\./docs/{page}#([^)]*)\)", text)) <= headings


def test_no_file_names_a_source_without_a_name():
    folders = ("gemm_lab", "packages", "kernels", "tools")
    files = [p for folder in folders for p in (ROOT / folder).rglob("*") if p.suffix in {".py", ".cu", ".cuh", ".toml"}]
    files += [
        path
        for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob(".github/*.md")]
        if path.name != "CHANGELOG.md"
    ]
    ghosts = {path.name: GHOST.findall(path.read_text(encoding="utf-8")) for path in files}
    assert {name: found for name, found in ghosts.items() if found} == {}


# ---- What must be seen ----

END = [
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "## What you can do now\n\n- Count.\n- Read.\n- Write `mma`.",
    "## Further reading\n\n"
    "- NVIDIA, “Kernel Profiling Guide” (what stalls mean): <https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html>\n"
    "- NVIDIA, *PTX ISA*, “mma”: <https://docs.nvidia.com/cuda/parallel-thread-execution/>\n"
    "- The [T4 article](../docs/REFERENCES.md#t4-article).\n",
]


def test_a_good_end_passes():
    assert wrong_at_the_end(END) == []


@pytest.mark.parametrize(
    ("cell", "old", "new", "said"),
    [
        (0, "|---|---|", "", "no table"),
        (1, "## What you can do now", "## The end", "what you can do"),
        (1, "- Read.\n", "", "what you can do"),
        (2, "## Further", "## Other", "0 entries"),
        (2, "- NVIDIA, *PTX", "NVIDIA, *PTX", "2 entries"),
        (2, "NVIDIA, “Kernel", "“Kernel", "no author"),
        (2, "<https://docs.nvidia.com/cuda/parallel-thread-execution/>", "the web", "no author"),
        (2, "index.html", "other.html", "not in REFERENCES.md"),
        (2, "Kernel Profiling", "Profiling", "not the title"),
        (2, "*PTX ISA*", "*CUTLASS*", "not the title"),
    ],
)
def test_a_poor_end_is_seen(cell, old, new, said):
    texts = [text.replace(old, new) if number == cell else text for number, text in enumerate(END)]
    assert any(said in sentence for sentence in wrong_at_the_end(texts))


def test_a_first_mention_without_a_link_is_seen():
    linked = "The [T4 article](../docs/REFERENCES.md#t4-article) says so."
    assert unlinked([linked, "The T4 article ends."]) == []
    assert unlinked(["The T4 article ends.", linked]) == ["T4 article"]
    assert unlinked(["The [T4 article](../docs/REFERENCES.md#h100-report)."]) == ["T4 article"]


@pytest.mark.parametrize(
    "text", ["the document says", "In the T4 document", "Several documents follow", "our Ampere document"]
)
def test_a_ghost_is_seen(text):
    assert GHOST.search(text)


def test_documentation_is_no_ghost():
    assert not GHOST.search("the documentation of CUDA, a document with tables, README documents")
