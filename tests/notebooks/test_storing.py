"""How an executed notebook is stored: what is kept, what is new, and what never gets into the repository."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools import run_notebooks as run


@pytest.mark.long
def test_store_writes_back_what_may_be_committed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    path, asked = tmp_path / "book.ipynb", "import gemm_lab as lab\np = lab.guess('How many?')\np"
    book = new_notebook(
        cells=[
            new_code_cell(asked, metadata={"tags": ["x"], "collapsed": True}),
            new_code_cell("import sys\nprint(1)\nprint(2)\nprint('bar', file=sys.stderr)"),
        ]
    )
    nbformat.write(book, path)
    first = stored(path)
    assert set(first.cells[0].outputs[0]["data"]) == {"text/html", "text/plain"}
    assert "no answer yet" in first.cells[0].outputs[0]["data"]["text/plain"]
    assert first.cells[0].metadata == {"tags": ["x"]} and first.cells[1].metadata == {}
    assert [output["text"] for output in first.cells[1].outputs] == ["1\n2\n"]
    assert set(first.metadata) == {"kernelspec", "language_info"}
    text = path.read_text()
    stored(path)
    assert path.read_text() == text, "storing twice changes nothing"


def stored(path):
    assert run.main([str(path), "--store"]) == 0
    return nbformat.read(path, as_version=4)


def test_what_is_new_is_stored_and_what_was_recorded_stays(tmp_path):
    path, recorded = tmp_path / "book.ipynb", new_output("stream", text="400 TFLOPS")
    old, new = new_code_cell("print('3 TFLOPS')", outputs=[recorded]), new_code_cell("print('new')")
    nbformat.write(new_notebook(cells=[new, old]), path)
    assert run.main([str(path), "--store-new"]) == 0
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.outputs[0]["text"] for cell in cells] == ["new\n", "400 TFLOPS"]
    assert [cell.execution_count for cell in cells] == [1, 2]


def test_an_output_that_would_give_an_answer_away_is_not_stored(tmp_path):
    path = tmp_path / "book.ipynb"
    cells = [new_code_cell("print(4)", metadata={"tags": ["unstored"]}), new_code_cell("print(5)")]
    nbformat.write(new_notebook(cells=cells), path)
    assert [bool(cell.outputs) for cell in stored(path).cells] == [False, True]


def test_a_notebook_that_fails_is_not_stored(tmp_path):
    path = tmp_path / "bad.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), path)
    before = path.read_text()
    assert run.main([str(path), "--store"]) == 1
    assert path.read_text() == before
