"""The notebooks of the series as files: their list, their kernelspec, and a copy in a learner's folder.

`gemm-lab notebooks FOLDER` makes the copy, and `gemm-lab lab` opens one, for those who have no checkout. The wheel has
notebooks, pictures, glossary, references and errata inside the package. The copy has them side by side, as in a
checkout, so that the notebooks find the pictures between their cells, and their links lead somewhere.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

from gemm_lab.config import DOCUMENTS, data_dir
from gemm_results.errors import LabError

_NUMBERED = re.compile(r"\d\d[a-c]?_")
# The kernelspec of every notebook that is stored or handed out; the environment that ran it may use another name.
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks under `folder` in reading order, without Jupyter's checkpoints."""
    return sorted(path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def stored_cells(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook as its file has them, with their outputs; [] if the file is no notebook any more."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [cell for cell in cells if "source" in cell]
    except (OSError, ValueError, KeyError, TypeError):
        return []


@lru_cache(maxsize=1)
def cells_of_the_series() -> dict[str, tuple[tuple[str, str], ...]]:
    """(type, source) of each cell of every notebook, by its number, such as "03".

    The cells of a notebook in two parts, 02a and 02b, are together under "02".
    """
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for path in notebooks_of(""):
        texts = tuple((cell["cell_type"], "".join(cell["source"])) for cell in stored_cells(path))
        found[path.name[:2]] = found.get(path.name[:2], ()) + texts
    return found


def notebooks_of(number: str) -> list[Path]:
    """The notebooks of the series with this number, such as "02", which has two; with "", all of them, in order."""
    paths = sorted(data_dir("notebooks").glob(f"{number}*.ipynb"))
    return [path for path in paths if _NUMBERED.match(path.name)]


def copy_series(into: Path, keep: bool = False) -> list[Path]:
    """Copy all notebooks to INTO/notebooks, all pictures to INTO/images, and what they link to into INTO/docs.

    Returns the paths of the copied notebooks. Raises `LabError`, and copies nothing, if one of the notebooks is there
    already, or another document of the same name, because either may be somebody's work. keep: leave every file that
    is there as it is instead, and copy what is missing. Raises `LabError` too if a file cannot be written.
    """
    sources = notebooks_in(data_dir("notebooks"))
    pictures = sorted(data_dir("images").glob("*.png"))
    documents = [data_dir("docs") / name for name in DOCUMENTS]
    folders = {"notebooks": sources, "images": pictures, "docs": documents}
    pairs = [(source, into / folder / source.name) for folder, files in folders.items() for source in files]
    try:
        for source, copy in [] if keep else pairs:
            if source in sources and copy.exists() or source in documents and differs(source, copy):
                other = "another " if source in documents else ""
                raise LabError(
                    f"{copy.parent} holds {other}{copy.name} already; choose another folder, or move it away."
                )
        for source, copy in pairs:
            if not (keep and copy.exists()):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
    except OSError as error:
        raise LabError(f"The notebooks cannot be copied to {into}: {error.strerror}. Choose another folder.") from None
    return [into / "notebooks" / source.name for source in sources]


def differs(source: Path, copy: Path) -> bool:
    """Whether `copy` is there and has other content than `source`."""
    return copy.exists() and copy.read_bytes() != source.read_bytes()
