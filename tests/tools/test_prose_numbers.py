"""No number with a unit of speed stands in prose on memory alone, and what `sync` writes is fresh."""

import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from prose_numbers import printed, questions, spoken, support, unbacked

from gemm_lab.notebook import scoreboard as home
from gemm_results import results
from gemm_results.errors import LabError
from tools import generated_text as marked
from tools import readme_blocks
from tools.sync import sync

ROOT = Path(__file__).resolve().parents[2]
SPEEDS = [name for name in results.COLUMNS if "tflops" in name]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob(".github/*.md")])


def prose(book) -> list[str]:
    return [cell.source if cell.cell_type == "markdown" else questions(cell.source) for cell in book.cells]


# ---- The rule, held ----


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_numbers_of_a_notebook(path):
    book = nbformat.read(path, as_version=4)
    assert unbacked(prose(book), printed(book)) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_numbers_of_a_document(path):
    assert unbacked([path.read_text(encoding="utf-8")]) == []


def test_what_sync_writes_is_fresh():
    assert sync(check=True) == []
    assert {"results", "matrix"} == {match["name"] for match in marked.BLOCK.finditer((ROOT / "README.md").read_text())}


# ---- What the rule sees ----

STALE = [
    "It reaches 691.3 TFLOPS.",
    "That is 51 % of cuBLAS.",
    "Between 40 and 43 percent.",
    "1.7 times as fast.",
    "3 times as fast.",
    "It is 1.44 × slower.",
    "The ratio is 1.04 × against CUTLASS.",
    "It ran at 1,590 MHz.",
    "It had 83 against 92 % of cuBLAS.",
    "The best has 4.1 TB/s.",
    "| rung | 412.0 TFLOPS |",
    "The T4 article is right: recorded here are 51.7 % of cuBLAS.",
    "Another article says 51.7 % of cuBLAS.",
]
FINE = [
    "It is published: 691.3 TFLOPS.",
    "`t4_hgemm` gives 25 %.",
    "Its peak is 209.5 TFLOPS.",
    "A bound is 100 %.",
    "Each element is used 128 times.",
    "`x = row / 2 % 4` TFLOPS",
    "A tile of 128 × 192, and 2 × 128 rows.",
    "In 2018, 40 multiprocessors and 65 threads.",
    "<!-- = t4/08 4096 tflops -->380.8<!-- / --> TFLOPS",
    "The T4 article says 86.7 %, and recorded on an H200 was less.",
    "The B200 walk-through reaches 800 TFLOPS.",
]


@pytest.mark.parametrize("text", STALE)
def test_a_number_from_memory_is_found(text):
    assert unbacked([text]) != []


@pytest.mark.parametrize("text", FINE)
def test_a_number_that_rests_on_something_is_not(text):
    assert unbacked([text]) == []


def book_with(text: str, *outputs) -> nbformat.NotebookNode:
    return new_notebook(cells=[new_markdown_cell(text), new_code_cell("k.run()", outputs=list(outputs))])


def test_a_number_that_the_notebook_prints_rests_on_its_cell():
    text = "It takes 98.2 % of 1,024.5 TFLOPS, 42 % more."
    said = new_output("stream", name="stdout", text="98.2 % and 1,024.5; 42 registers")
    page = new_output("display_data", {"text/html": '<td style="width:42%">98.2</td><td>42&nbsp;%</td>'})
    assert [n.text for n in spoken(text)] == ["98.2", "1,024.5", "42"]
    book = book_with(text, said)
    assert [line.split(":")[0] for line in unbacked(prose(book), printed(book))] == ["42 %"], "42 of something else"
    book = book_with(text, said, page)
    assert unbacked(prose(book), printed(book)) == []
    book = book_with("It takes 98.2 %.", new_output("stream", name="stdout", text="198.2 and 98.25"))
    assert len(unbacked(prose(book), printed(book))) == 1, "parts of other numbers"


def test_questions_are_prose():
    cell = '%load_ext x\np = lab.guess("Is it 61.5 % of cuBLAS?", "%")\np'
    assert questions(cell) == "Is it 61.5 % of cuBLAS?" and unbacked([questions(cell)]) != []
    assert questions('%%kernel t4/01\n lab.guess("1.5 times")') == ""


def test_support_says_what_it_is():
    found = [
        support(number, "12.5 %")
        for text in ("Published: 3 times", "989.4 TFLOPS", "64 times", "12.5 %", "7 %")
        for number in spoken(text)
    ]
    assert found == ["published", "hardware", "counted", "printed", None]


# ---- Markers ----


def test_a_marked_number_is_that_of_the_row():
    row = next(
        row
        for row in results.recorded("h200")
        if row.kernel == "t4/08_pipelined_fragments" and row.n == 4096 and row.regime == "sustained"
    )
    assert marked.number("t4/08 4096 tflops") == f"{row.tflops:.1f}"
    assert marked.number("t4/08 4096 of cublas") == f"{100 * row.ratio_cublas:.1f}"
    assert marked.number("t4/08 4096 of ceiling") == f"{100 * row.ratio_ceiling:.1f}"
    assert float(marked.number("t4/03 4096 gain")) > 1
    assert marked.number("t4/08 4096 burst tflops") != marked.number("t4/08 4096 tflops")


def test_a_stale_number_is_found_and_written_anew(tmp_path, monkeypatch):
    text = "It has <!-- = t4/08 4096 tflops -->1.0<!-- / --> TFLOPS."
    fresh = marked.written(text)
    assert fresh != text and marked.written(fresh) == fresh
    path = tmp_path / "08_x.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell(text)]), path)
    (found,) = [sentence for sentence in sync(check=True, folder=tmp_path) if "recorded results" in sentence]
    assert "08_x.ipynb, cell 0" in found and "1.0" in path.read_text()
    sync(folder=tmp_path)
    assert nbformat.read(path, as_version=4).cells[0].source == fresh
    # Another recording, and the number is stale again.
    rows = [replace(row, tflops=2 * row.tflops) for row in results.recorded("h200")]
    monkeypatch.setattr(home.results, "read", lambda path: rows)
    assert marked.written(fresh) != fresh


def test_a_stale_block_is_found_and_written_anew(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("Before\n<!-- begin: results -->\nold | 1.0 TFLOPS\n<!-- end: results -->\nafter\n")
    assert ["README.md" in sentence for sentence in sync(check=True, folder=tmp_path)] == [True]
    sync(folder=tmp_path)
    text = page.read_text()
    assert "old" not in text and "hopper" in text and text.startswith("Before") and text.endswith("after\n")
    assert sync(check=True, folder=tmp_path) == []


@pytest.mark.parametrize(
    "key", ["t4/08 tflops", "t4/08 4096 speed", "t4/99 4096 tflops", "t4/08 12345 tflops", "ampere/10 4096 gain of"]
)
def test_a_marker_that_names_nothing_is_a_sentence(key):
    with pytest.raises(LabError):
        marked.written(f"<!-- = {key} -->1<!-- / -->")


def test_an_unknown_block_is_a_sentence():
    with pytest.raises(LabError, match="“speeds”; there are results, matrix"):
        marked.written("<!-- begin: speeds -->\n<!-- end: speeds -->", readme_blocks.BLOCKS)


# ---- The blocks of the README ----


def test_the_results_table_has_every_ladder_and_says_where():
    table = readme_blocks.results()
    board = home.scoreboard(4096, on="h200", eight_bits=True)
    for ladder in board.ladders:
        tuned = "" if board.best(ladder) in board.ladders[ladder] else ", tuned"
        assert re.search(
            rf"^\| {ladder}(?:, fast sums)? \| `\w+`{tuned} \| {board.best(ladder).tflops:.1f} \|", table, re.M
        )
    assert "NVIDIA H200" in table and board.best("t4").commit in table


def test_gpus_without_rows_are_named_and_another_gpu_gets_its_own_table(monkeypatch, tmp_path):
    assert "**Not measured:** T4, A100, RTX 5090 and B200." in readme_blocks.results()
    folder = tmp_path / "measured"
    for gpu, factor in (("NVIDIA H200", 1), ("Tesla T4", 0.1)):
        results.record(
            [
                replace(row, gpu=gpu, **{name: factor * (getattr(row, name) or 0) or None for name in SPEEDS})
                for row in results.recorded("h200")
                if row.ladder == "t4" and row.n == 4096
            ],
            folder,
        )
    monkeypatch.setattr(readme_blocks, "data_dir", lambda name: tmp_path)
    monkeypatch.setattr(results, "data_dir", lambda name: tmp_path)
    text = readme_blocks.results()
    assert text.index("Recorded on NVIDIA H200") < text.index("Recorded on Tesla T4")
    assert "**Not measured:** A100, RTX 5090, H100 and B200." in text and "fastest at 8192" not in text


def test_the_matrix_has_every_notebook_and_follows_the_targets():
    lines = {line.split(" | ")[0].strip("| "): line for line in readme_blocks.matrix().splitlines()[2:]}
    assert list(lines) == [path.stem.split("_")[0] for path in NOTEBOOKS]
    marks = {number: re.findall("[●◐○]", line) for number, line in lines.items()}
    assert marks["11"] == ["○", "○", "○", "○", "●", "○"] and marks["10"] == ["○", "○", "○", "●", "○", "○"]
    assert marks["06a"][:5] == ["●"] * 5 and marks["06a"][5] == "○"
