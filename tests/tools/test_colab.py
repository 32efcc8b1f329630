"""The badge and the installation cell: which packages for which driver, and that sync puts both in their place."""

import ctypes
import importlib.util

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gemm_lab import catalog
from gemm_results.errors import LabError
from tools import colab, publish
from tools import run_notebooks as run
from tools.sync import sync

REPOSITORY = "https://github.com/octocat/gemm_lab"


class FakeDriver:
    """libcuda as the cell sees it: one function, which answers with a version."""

    def __init__(self, version):
        self.version = version

    def cuDriverGetVersion(self, pointer):  # noqa: N802  (the driver's name for it)
        pointer._obj.value = self.version
        return 0


def installed(monkeypatch, driver, present=False):
    """What the cell gives to pip, where the driver has this version (None: no driver) and the lab is present or not."""

    def load(name):
        assert name == "libcuda.so.1"
        if driver is None:
            raise OSError("libcuda.so.1: cannot open shared object file")
        return FakeDriver(driver)

    shell, found, asked = InteractiveShell.instance(), importlib.util.find_spec, []
    monkeypatch.setattr(ctypes, "CDLL", load)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found(name) if present else None)
    monkeypatch.setitem(shell.magics_manager.magics["line"], "pip", asked.append)
    result = shell.run_cell(colab.setup_source(REPOSITORY))
    result.raise_error()
    assert result.result is None, "the cell shows nothing"
    return asked


@pytest.mark.parametrize(
    ("driver", "extra"),
    [
        (None, ""),
        (0, ""),
        (11_080, ""),
        (12_000, "[cuda12]"),
        (12_040, "[cuda12]"),
        (12_090, "[cuda12]"),
        (13_000, "[cuda13]"),
        (13_010, "[cuda13]"),
        (14_000, "[cuda13]"),
    ],
)
def test_the_driver_chooses_the_packages(monkeypatch, driver, extra):
    (line,) = installed(monkeypatch, driver)
    source = f"git+{REPOSITORY}@{colab.BRANCH}"
    folders = ("gpu_simulator", "gemm_lab_lessons")
    both = " ".join(
        [f'"gemm_lab{extra} @ {source}"', *(f'"{n} @ {source}#subdirectory=packages/{n}"' for n in folders)]
    )
    assert line == f"install --quiet {both}"


@pytest.mark.parametrize("driver", [None, 12_040, 13_000])
def test_nothing_happens_where_the_lab_is(monkeypatch, driver):
    assert installed(monkeypatch, driver, present=True) == []


def test_what_notebook_06_says_of_a_t4():
    def runs(ladder: str) -> int:
        return sum("sm_75" in kernel.targets for kernel in catalog.ladder(ladder).kernels)

    for ladder in ("simt", "t4"):
        assert runs(ladder) == len(catalog.ladder(ladder).kernels)
    newer = ("ampere", "rtx5090", "wmma", "hopper", "b200")
    assert 0 < sum(map(runs, newer)) < 0.2 * sum(len(catalog.ladder(name).kernels) for name in newer)


# ---- sync ----


def book(*cells, title="# 06 · T4"):
    return new_notebook(cells=[new_markdown_cell(title), new_code_cell("import gemm_lab as lab"), *cells])


def test_the_cells_stand_behind_the_title_once():
    made = book()
    assert colab.open_book(made, "06a_t4_feeding_tensor_cores", REPOSITORY) and not colab.open_book(
        made, "06a_t4_feeding_tensor_cores", REPOSITORY
    )
    assert [cell.source for cell in made.cells] == [
        "# 06 · T4",
        colab.badge_source("06a_t4_feeding_tensor_cores", REPOSITORY),
        colab.setup_source(REPOSITORY),
        "import gemm_lab as lab",
    ]
    assert "blob/main/notebooks/06a_t4_feeding_tensor_cores.ipynb)" in made.cells[1].source
    nbformat.validate(made)


def test_how_to_see_the_pictures_on_colab_stands_in_the_folded_cell_alone():
    made = book(new_markdown_cell('<img src="../images/banks.png" alt="Banks">'))
    colab.open_book(made, "06a_t4_feeding_tensor_cores", REPOSITORY)
    assert made.cells[1].source.count("\n") == 0, "nothing but the badge comes before the first idea"
    assert 'lab.figure("NAME")' in made.cells[2].source and made.cells[2].metadata.jupyter.source_hidden
    made.cells[1].source += "\n\nOn Colab the pictures between the cells are missing."
    assert colab.open_book(made, "06a_t4_feeding_tensor_cores", REPOSITORY) and "missing" not in made.cells[1].source


@pytest.mark.parametrize(
    "harm",
    [
        lambda cells: cells.pop(2),
        lambda cells: cells.pop(1),
        lambda cells: cells[2].update(source="pass"),
        lambda cells: cells[2].metadata.pop("jupyter"),
        lambda cells: cells.insert(3, cells[2].copy()),
        lambda cells: cells.insert(1, cells.pop(3)),
    ],
)
def test_a_harmed_opening_is_repaired(harm):
    made = book()
    colab.open_book(made, "06a_t4_feeding_tensor_cores", REPOSITORY)
    right = [cell.source for cell in made.cells]
    harm(made.cells)
    assert colab.open_book(made, "06a_t4_feeding_tensor_cores", REPOSITORY)
    assert [cell.source for cell in made.cells] == right


def test_sync_reports_and_repairs_and_the_recorder_keeps_the_cell_folded(tmp_path, monkeypatch):
    monkeypatch.setattr(colab, "address", lambda: REPOSITORY)
    path = tmp_path / "06a_t4_feeding_tensor_cores.ipynb"
    nbformat.write(book(), path)
    assert "06a_t4_feeding_tensor_cores.ipynb: the badge" in sync(check=True, folder=tmp_path)[0]
    assert len(nbformat.read(path, as_version=4).cells) == 2, "a check changes nothing"
    sync(folder=tmp_path)
    assert sync(check=True, folder=tmp_path) == []
    nbformat.write(run.committed(nbformat.read(path, as_version=4)), path)
    assert sync(check=True, folder=tmp_path) == []


def test_other_notebooks_are_left_alone():
    made = book(title="# My notes")
    assert not colab.open_book(made, "notes", REPOSITORY) and len(made.cells) == 2
    assert not colab.open_book(new_notebook(), "empty", REPOSITORY)


# ---- Published, or not ----


def test_without_an_address_the_cells_are_taken_out():
    made = book()
    before = [cell.source for cell in made.cells]
    assert not colab.open_book(made, "06a_t4_feeding_tensor_cores", None)
    colab.open_book(made, "06a_t4_feeding_tensor_cores", REPOSITORY)
    assert colab.open_book(made, "06a_t4_feeding_tensor_cores", None) and [c.source for c in made.cells] == before


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text(colab.PROJECT.read_text(encoding="utf-8"), encoding="utf-8")
    publish.publish(None, path)
    return path


def test_an_address_is_written_replaced_and_withdrawn(project):
    before = project.read_text(encoding="utf-8")
    assert colab.address(project) is None
    for name in ("octocat/gemm_lab", "a-b/c.d_e"):
        publish.publish(publish.checked(name), project)
        assert colab.address(project) == f"https://github.com/{name}"
        assert project.read_text(encoding="utf-8").count("[project.urls]") == 1
    publish.publish(None, project)
    assert project.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("name", ["octocat/gemm_lab", "https://github.com/octocat/gemm_lab", "octocat/gemm_lab.git"])
def test_the_name_may_be_an_address(name):
    assert publish.checked(name) == REPOSITORY


@pytest.mark.parametrize("name", ["octocat", "YOUR_NAME/gemm_lab", "-a/b", "a--b/c", "a/b/c", "a/", "a b/c", ""])
def test_what_is_no_name_of_a_repository_is_refused(name, capsys):
    with pytest.raises(LabError, match="write OWNER/REPO"):
        publish.checked(name)
    assert publish.main(["octocat"]) == 1 and "OWNER/REPO" in capsys.readouterr().err


def test_each_platform_opens_the_notebook():
    found = colab.links("00_start_here", REPOSITORY)
    assert list(found) == ["Colab", "Kaggle", "Binder", "Codespaces"]
    assert all("octocat/gemm_lab" in link for link in found.values())
    assert all("notebooks/00_start_here.ipynb" in link for name, link in found.items() if name != "Codespaces")


def test_no_invented_address_stands_anywhere():
    root = colab.PROJECT.parent
    invented = "YOUR" + "_ACCOUNT"
    texts = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("notebooks/*.ipynb"), *root.glob("tools/*.py")]
    assert texts and [path.name for path in texts if invented in path.read_text(encoding="utf-8")] == []
