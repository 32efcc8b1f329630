"""`python -m tools.sync`: cells follow their kernel files; what learners edit on purpose stays."""

import nbformat
import pytest

from gemm_lab import catalog
from gemm_results.errors import LabError
from tools import sync as sync_module
from tools.sync import sync

HEAD = "%%kernel t4/03_swizzled --region layout --as mine"
REGION = catalog.kernel("t4/03_swizzled").regions["layout"].text
EDITED = REGION.replace("row % 8", "row % 4")


def write(folder, *sources, name="book.ipynb", tags=()):
    cells = [nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)} if tags else {}) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / name)


def texts(folder, name="book.ipynb"):
    return [cell.source for cell in nbformat.read(folder / name, as_version=4).cells]


def test_an_edited_cell_is_found_and_repaired(tmp_path):
    write(tmp_path, "x = 1", f"{HEAD}\n{EDITED}", f"{HEAD} --no-run\n{REGION}")
    (found,) = sync(check=True, folder=tmp_path)
    assert "book.ipynb, cell 1" in found and HEAD in found
    assert texts(tmp_path)[1] == f"{HEAD}\n{EDITED}", "a check changes nothing"
    assert len(sync(folder=tmp_path)) == 1
    assert texts(tmp_path) == ["x = 1", f"{HEAD}\n{REGION}", f"{HEAD} --no-run\n{REGION}"]
    assert sync(check=True, folder=tmp_path) == []


def test_a_notebook_in_step_is_not_written(tmp_path):
    write(tmp_path, f"{HEAD}\n{REGION}\n\n")
    before = (tmp_path / "book.ipynb").read_bytes()
    assert sync(folder=tmp_path) == [] and (tmp_path / "book.ipynb").read_bytes() == before


def test_exercises_and_tagged_cells_are_left_alone(tmp_path):
    write(tmp_path, f"{HEAD} --exercise\n{EDITED}", name="exercise.ipynb")
    write(tmp_path, f"{HEAD}\n{EDITED}", name="edited.ipynb", tags=["edited"])
    assert sync(folder=tmp_path) == []
    assert texts(tmp_path, "exercise.ipynb")[0].endswith(EDITED)
    assert texts(tmp_path, "edited.ipynb") == [f"{HEAD}\n{EDITED}"]


def test_whole_kernels_prose_and_other_magics_are_free(tmp_path):
    write(tmp_path, "%%kernel t4/03 --as mine\nanything", "%%time\nx = 1", "print('%%kernel t4/03 --region layout')")
    assert sync(folder=tmp_path) == []


@pytest.mark.parametrize(
    "head, says",
    [
        ("%%kernel t4/03 --region swizzle", "“layout”"),
        ("%%kernel t4/99 --region layout", "t4/03_swizzled"),
        ("%%kernel t4/03 --regoin layout", "--region REGION"),
    ],
)
def test_a_cell_that_names_nothing_known_is_reported_with_its_place(tmp_path, head, says):
    write(tmp_path, "x = 1", f"{head}\n{REGION}")
    with pytest.raises(LabError) as caught:
        sync(check=True, folder=tmp_path)
    assert "book.ipynb, cell 1" in str(caught.value) and says in str(caught.value)


def test_the_series_is_in_step():
    assert sync(check=True) == []


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with the notebooks and the README of a checkout, which `data_dir` finds."""
    (tmp_path / "notebooks").mkdir()
    monkeypatch.setattr(sync_module, "data_dir", lambda name: tmp_path / name)
    return tmp_path


def test_the_command_writes_and_its_check_only_says(checkout, capsys):
    write(checkout / "notebooks", f"{HEAD}\n{EDITED}")
    assert sync_module.main(["--check"]) == 1
    said = capsys.readouterr().out
    assert "book.ipynb, cell 0" in said and said.endswith("Run: python -m tools.sync\n")
    assert texts(checkout / "notebooks") == [f"{HEAD}\n{EDITED}"]
    assert sync_module.main([]) == 0 and "It has been updated." in capsys.readouterr().out
    assert texts(checkout / "notebooks") == [f"{HEAD}\n{REGION}"]
    assert sync_module.main(["--check"]) == 0 and capsys.readouterr().out == ""


def test_the_command_names_a_cell_that_it_cannot_write(checkout, capsys):
    write(checkout / "notebooks", f"%%kernel t4/99 --region layout\n{REGION}")
    assert sync_module.main(["--check"]) == 2
    assert "book.ipynb, cell 0" in capsys.readouterr().err
