"""The two cells at the top of every notebook, for machines without the lab such as Colab: a badge and an installation.

They name the address where the repository is published: `Repository` in `[project.urls]` of pyproject.toml, which
`python -m tools.publish OWNER/REPO` writes. Without an address the notebooks have neither cell. `python -m tools.sync`
writes them after the title of each notebook of the series. Both cells have the tag `setup`.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from gemm_results.errors import LabError

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
BRANCH = "main"
TAG = "setup"
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": [TAG]}  # hides the code: Colab, JupyterLab

_BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
_ADDRESS = re.compile(r'^Repository = "(https://github\.com/[^"]+)"$', re.M)
_HUB = re.compile(r"https://[\w.-]+(?::\d+)?(?:/[\w./~-]+)?")
_TITLE = re.compile(r"# \d\d[a-c]? · \S")

# CUDA 13's packages need a driver for CUDA 13; those of CUDA 12 run with any driver of CUDA 12 (minor-version
# compatibility, CUDA Compatibility guide). cuDriverGetVersion gives 1000 · major + 10 · minor.
_SETUP = """\
# @title Install the lab where it is missing, as on Colab
import contextlib, ctypes, importlib.util
if not importlib.util.find_spec("gemm_lab"):
    cuda = ctypes.c_int(0)  # 12040: a driver for CUDA 12.4; 0: no driver, the simulator runs the kernels
    with contextlib.suppress(OSError):
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(cuda))
    extra = "[cuda13]" if cuda.value >= 13000 else "[cuda12]" if cuda.value >= 12000 else ""
    lab = f"gemm_lab{extra} @ git+REPOSITORY@BRANCH"
    simulator = "gpu_simulator @ git+REPOSITORY@BRANCH#subdirectory=packages/gpu_simulator"
    lessons = "gemm_lab_lessons @ git+REPOSITORY@BRANCH#subdirectory=packages/gemm_lab_lessons"
    %pip install --quiet "{lab}" "{simulator}" "{lessons}"
# Colab leaves out the pictures between the cells. A double click on such a cell shows the NAME of a file NAME.png, and
# lab.figure("NAME") in a cell of your own shows the picture."""


def address(project: Path = PROJECT) -> str | None:
    """Where the repository is published, such as "https://github.com/owner/gemm_lab"; None if it is not."""
    found = _ADDRESS.search(project.read_text(encoding="utf-8"))
    return found[1] if found else None


def setup_source(repository: str) -> str:
    """The text of the cell that installs the lab from this address if it is missing."""
    return _SETUP.replace("REPOSITORY", repository).replace("BRANCH", BRANCH)


def links(name: str, repository: str) -> dict[str, str]:
    """{platform: address that opens notebook `name` there}. Codespaces opens the repository as a whole."""
    path = repository.removeprefix("https://github.com/")
    file = f"notebooks/{name}.ipynb"
    return {
        "Colab": f"https://colab.research.google.com/github/{path}/blob/{BRANCH}/{file}",
        "Kaggle": f"https://kaggle.com/kernels/welcome?src={repository}/blob/{BRANCH}/{file}",
        "Binder": f"https://mybinder.org/v2/gh/{path}/{BRANCH}?labpath={file}",
        "Codespaces": f"https://codespaces.new/{path}",
    }


def hub_link(name: str, repository: str, hub: str) -> str:
    """The address of a JupyterHub with nbgitpuller that fetches the repository and opens notebook `name`.

    hub: the address of the hub, such as "https://hub.example.edu". Raises `LabError` if it is none.
    """
    hub = hub.rstrip("/")
    if not _HUB.fullmatch(hub):
        raise LabError(f"{hub!r} is no address of a JupyterHub; write one as https://hub.example.edu.")
    folder = repository.rpartition("/")[2]
    words = {"repo": repository, "branch": BRANCH, "urlpath": f"lab/tree/{folder}/notebooks/{name}.ipynb"}
    return f"{hub}/hub/user-redirect/git-pull?{urlencode(words)}"


def badge_source(name: str, repository: str) -> str:
    """The text of the badge cell of notebook `name`."""
    return f"[![Open in Colab]({_BADGE})]({links(name, repository)['Colab']})"


def is_setup(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell is one of the two cells that this module writes."""
    return TAG in cell.metadata.get("tags", [])


def open_book(book: nbformat.NotebookNode, name: str, repository: str | None) -> bool:
    """Put both cells after the title of a notebook of the series, or take them out where there is no address.

    Returns whether this changed the notebook. A notebook without a title such as “# 06 · T4” is not changed. If both
    cells are already right, they keep their outputs and execution counts.
    """
    if not book.cells or book.cells[0].cell_type != "markdown" or not _TITLE.match(book.cells[0].source):
        return False
    rest = [cell for cell in book.cells if not is_setup(cell)]
    cells = []
    if repository:
        cells = [
            new_markdown_cell(badge_source(name, repository), id="setup-badge", metadata={"tags": [TAG]}),
            new_code_cell(setup_source(repository), id="setup-install", metadata=FOLDED),
        ]
    held = [(cell.cell_type, cell.source, cell.metadata) for cell in book.cells[1 : 1 + len(cells)]]
    right = held == [(cell.cell_type, cell.source, cell.metadata) for cell in cells]
    if right and len(rest) == len(book.cells) - len(cells):
        return False
    book.cells = [rest[0], *cells, *rest[1:]]
    return True
