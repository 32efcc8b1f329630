"""A notebook that came from elsewhere stays untrusted, even where the series lies."""

import json
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from gemm_lab import trust
from gemm_lab.config import data_dir

SERIES = sorted(data_dir("notebooks").glob("*.ipynb"))
SCRIPT = nbformat.v4.new_output(
    "display_data", {"text/html": "<script>fetch('/api/terminals', {method: 'POST'})</script>"}
)


@pytest.fixture
def notary(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    return NotebookNotary(data_dir=str(tmp_path / "data"))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "notebooks").mkdir()
    for path in SERIES:
        shutil.copy(path, tmp_path / "notebooks")
    return tmp_path / "notebooks"


def trusted(notary, path):
    return notary.check_signature(nbformat.read(path, as_version=4))


def test_the_series_is_trusted(notary, folder):
    assert trust.sign(folder, notary) == []
    assert all(trusted(notary, path) for path in folder.glob("*.ipynb"))


def test_a_downloaded_notebook_beside_it_is_not(notary, folder):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=[SCRIPT])])
    (folder / "deeper").mkdir()
    for path in (folder / "homework.ipynb", folder / "deeper" / "homework.ipynb"):
        nbformat.write(book, path)
    assert {path.name for path in trust.sign(folder, notary)} == {"homework.ipynb"}
    assert not trusted(notary, folder / "homework.ipynb") and not trusted(notary, folder / "deeper" / "homework.ipynb")


def test_one_of_the_series_with_a_script_put_into_it_is_not(notary, folder):
    path = folder / SERIES[0].name
    book = nbformat.read(path, as_version=4)
    next(cell for cell in book.cells if cell.cell_type == "code").outputs.append(SCRIPT)
    nbformat.write(book, path)
    assert trust.sign(folder, notary) == [path] and not trusted(notary, path)


def test_white_space_and_line_ends_change_nothing(folder, notary):
    path = folder / SERIES[0].name
    path.write_bytes(json.dumps(json.loads(path.read_text()), indent=4).replace("\n", "\r\n").encode())
    assert trust.sign(folder, notary) == [] and trusted(notary, path)


def test_a_file_that_is_no_notebook_is_named_and_stops_nothing(folder, notary):
    (folder / "broken.ipynb").write_bytes(b"\xff{")
    (folder / "deep.ipynb").write_text("[" * 100_000)
    assert {path.name for path in trust.sign(folder, notary)} == {"broken.ipynb", "deep.ipynb"}


def test_the_list_is_of_these_notebooks():
    assert (data_dir("notebooks") / trust.LIST).read_text() == trust.release_list(data_dir("notebooks")), (
        "type: python -m tools.sync"
    )


@pytest.mark.long
def test_what_make_lab_calls_says_what_it_left_out(folder, tmp_path, monkeypatch):
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=[SCRIPT])]), folder / "homework.ipynb"
    )
    done = subprocess.run(
        [sys.executable, "-m", "gemm_lab.trust", str(folder)],
        capture_output=True,
        text=True,
        cwd=data_dir("notebooks").parent,
        env={"JUPYTER_DATA_DIR": str(tmp_path / "data"), "PATH": "/usr/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert "Not trusted, because changed or not of this release: homework.ipynb" in done.stdout
    makefile = data_dir("notebooks").parent / "Makefile"
    if makefile.is_file():
        assert "gemm_lab.trust" in makefile.read_text() and "nbformat.sign" not in makefile.read_text()
