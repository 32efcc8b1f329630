"""`make run`: runs every notebook without a browser and writes the executed copies into a build folder.

    python -m tools.run_notebooks [NOTEBOOK ...] [--into build/notebooks | --store… ] [--limit 600]

If a notebook fails, its cell and its error are printed, the other notebooks still run, and the exit code is 1. With
`--store`, the executed notebooks replace the originals, in the form in which they are committed. With `--store-new`
they do so too, but a cell with stored outputs keeps them: those in the repository were recorded on an H200, and other
machines give other ones. `--store-pictures` changes only the pictures and the words of live widgets in stored outputs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from tqdm import tqdm

from gemm_lab.config import data_dir
from gemm_lab.notebook.widgets.asleep import VIEW
from gemm_lab.notebook_files import KERNEL, notebooks_in
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError
from tools.colab import FOLDED, is_setup
from tools.figures.png import smaller
from tools.widget_pictures import add_pictures, model_of, models, renew

LIMIT_S = 600.0
REVEAL = "reveal"  # tag of a cell that compares a prediction with the answer
UNSTORED = "unstored"  # tag of a cell whose output would answer a question that stands near it


@dataclass(frozen=True)
class Failure:
    """Why a notebook stopped.

    cell: number of the code cell, from 1, as in the [n] beside it; 0: none of them.   line: its first line.
    """

    notebook: Path
    cell: int
    line: str
    error: str

    def __str__(self) -> str:
        where = f", cell [{self.cell}] `{self.line}`" if self.cell else ""
        return f"{self.notebook.name}{where}: {self.error}"


def code_cells(path: Path) -> int:
    """The number of code cells of a notebook that are not empty."""
    return sum(_runs(cell) for cell in _read(path).cells)


def execute(
    path: Path,
    target: Path,
    *,
    limit_s: float = LIMIT_S,
    advance: Callable[[], object] = lambda: None,
    store: bool = False,
    keep: bool = False,
    pictures: bool = False,
) -> Failure | None:
    """Run one notebook in its own folder and write the executed copy to `target`, even if a cell fails.

    Returns what went wrong, or None. limit_s: time limit of the whole notebook, in seconds.   advance: called after
    each code cell. A cell tagged `raises-exception` may raise, as in Jupyter. With `store`, the copy has the committed
    form (see `committed`), no stored predictions of the user are read, and a notebook that fails is not written. With
    `keep` as well, cells that have outputs in `path` keep these; with `pictures` as well, only the pictures and words
    of live widgets change.
    """
    notebook = _read(path)
    before = [list(cell.get("outputs", ())) if keep else [] for cell in notebook.cells]
    end = time.monotonic() + limit_s
    current = [0, ""]  # number and first line of the current code cell

    def started(cell, cell_index):
        if _runs(cell):
            current[:] = current[0] + 1, cell.source.strip().splitlines()[0]

    client = NotebookClient(
        notebook,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],  # no warning about unencrypted sockets, which are local here
        timeout_func=lambda cell: max(end - time.monotonic(), 0.1),
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=not store,
        coalesce_streams=True,
        on_cell_start=started,
        on_cell_executed=lambda **_: advance(),
    )
    try:
        with tempfile.TemporaryDirectory() as nobody:
            client.execute(**({"env": {**os.environ, "XDG_STATE_HOME": nobody}} if store else {}))
        error = None
    except CellExecutionError as raised:
        error = f"{raised.ename}: {raised.evalue}"
    except CellTimeoutError:
        error = f"still running when the notebook's limit of {limit_s:g} s was reached."
    except (DeadKernelError, RuntimeError) as raised:
        error = f"the kernel died ({raised})."
    if store and error is None:
        try:
            add_pictures(notebook, [cell for cell, outputs in zip(notebook.cells, before, strict=True) if not outputs])
            if pictures:
                renew(stored := _read(path), notebook)
                nbformat.write(stored, target)
                return None
        except SimulatorError as missing:
            return Failure(path, 0, "", str(missing))
        for cell, outputs in zip(notebook.cells, before, strict=True):
            if outputs:
                cell.outputs = outputs
        if bare := without_picture(notebook):
            current[:] = bare
            error = "shows a live widget that has no picture (image/png or text/html), so nothing would be stored."
    if not store or error is None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if store:
            committed(notebook)
        nbformat.write(notebook, target)
    return None if error is None else Failure(path, current[0], current[1], error)


def committed(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without what needs a running kernel: widget views and state. Changes it in place and returns it.

    Without a kernel, a stored widget view is shown as an error; the widget's picture and its text are kept. Progress
    bars, stderr and times of execution are removed too, and pictures get a palette, which makes them small. A cell that
    is tagged `unstored` keeps no output.
    """
    bars = progress_bars(notebook)
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        folded = cell.cell_type == "code" and is_setup(cell)
        cell.metadata = nbformat.from_dict(FOLDED if folded else {"tags": tags} if tags else {})
        if tags and REVEAL in tags:  # JupyterLab shows only the output, because the source may tell the answer
            cell.metadata["jupyter"] = nbformat.from_dict({"source_hidden": True})
        if cell.cell_type != "code":
            continue
        cell.outputs = [
            output
            for output in cell.outputs
            if output.get("name") != "stderr" and model_of(output) not in bars and UNSTORED not in (tags or ())
        ]
        for output in cell.outputs:
            data = output.get("data", {})
            data.pop(VIEW, None)
            if "image/png" in data and not _has_palette(picture := b64decode(data["image/png"])):
                data["image/png"] = b64encode(smaller(picture)).decode()
    return notebook


def _has_palette(picture: bytes) -> bool:
    """Whether a PNG has a palette already, as those of the widgets do; byte 25 is the colour type."""
    return picture[25:26] == b"\x03"


def progress_bars(notebook: nbformat.NotebookNode) -> set[str]:
    """The ids of the models of tqdm's progress bars: boxes that contain a progress widget, in the widget state."""
    saved = models(notebook)
    moving = {f"IPY_MODEL_{name}" for name, model in saved.items() if model.get("model_name") == "FloatProgressModel"}
    return {name for name, model in saved.items() if moving & set(model.get("state", {}).get("children", ()))}


def without_picture(notebook: nbformat.NotebookNode) -> tuple[int, str] | None:
    """The first code cell, (number, first line), with a widget view but no picture or HTML to show instead of it.

    Progress bars do not count, because `committed` removes them. None if there is no such cell.
    """
    bars = progress_bars(notebook)
    cells = [cell for cell in notebook.cells if _runs(cell)]
    for number, cell in enumerate(cells, 1):
        for output in cell.outputs:
            data = output.get("data", {})
            if VIEW in data and model_of(output) not in bars and not {"image/png", "text/html"} & set(data):
                return number, cell.source.strip().splitlines()[0]
    return None


def main(argv: list[str] | None = None) -> int:
    """The command line. Returns 0 if every notebook ran to its end, 1 if one failed, 2 for a wrong path."""
    parser = argparse.ArgumentParser(description="Run notebooks headless and keep the executed copies.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="what to run (default: the whole series)")
    parser.add_argument("--into", type=Path, default=Path("build/notebooks"), help="folder of the copies")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--store", action="store_true", help="write the executed notebooks back in place")
    ways.add_argument("--store-new", action="store_true", help="the same, but cells that have outputs keep them")
    ways.add_argument("--store-pictures", action="store_true", help="change only the pictures of live widgets")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="S", help="seconds for one notebook")
    options = parser.parse_args(argv)
    try:
        folder = None if options.notebooks else data_dir("notebooks")
        paths = notebooks_in(folder) if folder else [path.resolve() for path in options.notebooks]
        if not paths:
            raise LabError(f"There is no notebook in {folder}.")
        for path in paths:
            if not path.is_file():
                raise LabError(f"There is no notebook {path}; give the path of an .ipynb file.")
    except SimulatorError as error:
        print(error, file=sys.stderr)
        return 2
    store = options.store or options.store_new or options.store_pictures
    if store:
        copies = {path: path for path in paths}
    else:
        copies = {path: options.into / (path.relative_to(folder) if folder else path.name) for path in paths}
    how = {"store": store, "keep": options.store_new, "pictures": options.store_pictures, "limit_s": options.limit}
    failures = _run_all(copies, how)
    for failure in failures:
        print(failure)
    where = "stored in place" if store else f"copies in {options.into}"
    print(f"{len(paths) - len(failures)} of {len(paths)} notebooks ran to the end; {where}")
    return 1 if failures else 0


def _run_all(copies: dict[Path, Path], how: dict) -> list[Failure]:
    failures = []
    with tqdm(total=sum(map(code_cells, copies)), unit="cell", disable=None) as bar:
        for path, copy in copies.items():
            bar.set_description(path.stem)
            start = time.monotonic()
            failure = execute(path, copy, advance=bar.update, **how)
            failures += [failure] if failure else []
            verdict = "FAILED" if failure else "ok"
            bar.write(f"{verdict:6} {path.stem} ({time.monotonic() - start:.1f} s)", file=sys.stdout)
    return failures


def _read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def _runs(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


if __name__ == "__main__":
    sys.exit(main())
