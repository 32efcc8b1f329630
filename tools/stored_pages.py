"""Compares the stored outputs of cells that show recorded data with what the data of this checkout give.

    python -m tools.stored_pages [NOTEBOOK ...] [--store | --tag]

A cell with the tag `recorded` shows what lies in results/ and launches nothing. These cells of all notebooks are
executed in one kernel, each after the earlier cells that define the names it uses, and what differs is printed;
exit code 1 says that something does. `--store` writes the new outputs into the notebooks instead, and `--tag` the tag
into the cells that read what is recorded and launch nothing (`reads_records`).
"""

from __future__ import annotations

import argparse
import ast
import builtins
import difflib
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import nbformat
from nbclient import NotebookClient

from gemm_lab.config import data_dir
from gemm_lab.notebook_files import notebooks_in
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError
from tools import run_notebooks

RECORDED = "recorded"
OPENING = "import gemm_lab as lab\n%load_ext gemm_lab\nfrom tools import stored_pages\nstored_pages.only_recorded"
COUNTED = 128**3  # m · n · k of an ablation whose variants are simulated also where others are not
READS = re.compile(
    r"\b(bench|sustained|bursts?|recorded|scoreboard|published|predictions|ablations|requests|three_counts)\b"
    r"|\b(ratios?|gain)\b"
    r"|\.(profile|ablate|roofline|gains?|plot_trace|plot_l2)\("
)
LAUNCHES = re.compile(
    r"\.(run|predict|check|timeline)\(|predicted_timeline|benchmark_kernels|lab\.simulate|inject_fault|widgets\."
)
UNTOUCHED = {run_notebooks.UNSTORED, "raises-exception", "edited"}
GIVEN = {*dir(builtins), "lab", "display", "get_ipython"}


@dataclass(frozen=True)
class Difference:
    """A cell whose stored output is not today's: its notebook, index and first line, and the lines that differ."""

    notebook: str
    cell: int
    first: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        shown = "\n".join(f"    {line}" for line in self.lines[:12])
        return f"{self.notebook}, cell {self.cell} `{self.first}`:\n{shown}"


def only_recorded(counted: bool = True) -> None:
    """From now on, this process launches and predicts nothing: either raises `LabError`.

    An ablation counts its variants on the simulator. With `counted=False` only small ones do; the counts of others are
    not a number, which stands for any in `same`.
    """
    from gemm_lab.lab.actions import ablating, profiles
    from gemm_lab.lab.kernel import Kernel
    from gemm_lab.lab.ladder import Ladder

    def refuse(*_, **__):
        raise LabError("A cell with the tag “recorded” launches or predicts something; take the tag off.")

    for owner, name in ((Kernel, "run"), (Kernel, "predict"), (Kernel, "predicted_timeline"), (Ladder, "predict")):
        setattr(owner, name, refuse)
    profiles.attempted = lambda *_: "A cell with the tag “recorded” predicts nothing."  # a card that nobody recorded
    simulate, unknown = ablating.check_on_simulator, float("nan")
    totals = SimpleNamespace(wavefronts=unknown, sectors=unknown)

    def count_small(kernel, compiled, m, n, k):
        small = counted or m * n * k <= COUNTED
        return (
            simulate(kernel, compiled, m, n, k) if small else ([], SimpleNamespace(instructions=unknown, totals=totals))
        )

    ablating.check_on_simulator = count_small


def differences(paths: list[Path], store: bool = False, counted: bool = True) -> list[Difference]:
    """The cells of these notebooks whose stored text is not what the data of this checkout give.

    Pictures are compared by the words that describe them (`text/plain`). store: write the new outputs into the
    notebooks too. Raises `LabError` if a cell needs a name that only a `%%kernel` cell or a launch can give.
    """
    books = {path: nbformat.read(path, as_version=4) for path in paths}
    wanted = [(path, index) for path, book in books.items() for index in needed(book, path.name)]
    if not wanted:
        return []
    sources = [books[path].cells[index].source for path, index in wanted]
    cells = [nbformat.v4.new_code_cell(source) for source in (f"{OPENING}({counted})", *sources)]
    played = nbformat.v4.new_notebook(cells=cells)
    with tempfile.TemporaryDirectory() as nobody:
        without_gpu = {**os.environ, "XDG_STATE_HOME": nobody, "CUDA_VISIBLE_DEVICES": ""}
        where = {"metadata": {"path": str(paths[0].parent)}}
        client = NotebookClient(
            played,
            kernel_name="python3",
            resources=where,
            timeout=300,
            allow_errors=True,
            coalesce_streams=True,
            extra_arguments=["--log-level=ERROR"],
        )
        client.execute(env=without_gpu | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    if any(output.output_type == "error" for output in played.cells[0].outputs):
        raise LabError(f"The first cell failed:\n{words(played.cells[0].outputs)}")
    found = []
    for output in (output for cell in played.cells if not store for output in cell.outputs):
        output.get("data", {}).pop("image/png", None)  # only what is stored has to become small
    run_notebooks.committed(played)
    for (path, index), fresh in zip(wanted, played.cells[1:], strict=True):
        stored = books[path].cells[index]
        if RECORDED not in stored.metadata.get("tags", ()):
            continue
        before, now = words(stored.outputs), words(fresh.outputs)
        if not same(before, now):
            lines = [line for line in difflib.unified_diff(before, now, n=0, lineterm="")][2:]
            first = stored.source.strip().splitlines()[0]
            found.append(Difference(path.name, index, first, tuple(line for line in lines if line[0] != "@")))
            if store and not any(output.output_type == "error" for output in fresh.outputs):
                stored.outputs = [renumbered(output, stored.execution_count) for output in fresh.outputs]
    if store:
        for path, book in books.items():
            nbformat.write(book, path)
    return found


def same(before: list[str], now: list[str]) -> bool:
    """Whether two outputs have the same words, where `nan` of today's is any number."""
    old, new = (" ".join(lines).split() for lines in (before, now))
    if "nan" not in new:
        return before == now
    return len(old) == len(new) and all(
        a == b or (b == "nan" and a.replace(",", "").isdigit()) for a, b in zip(old, new, strict=True)
    )


def renumbered(output, count):
    """An output as the cell with this number would have it."""
    if "execution_count" in output:
        output.execution_count = count
    return output


def reads_records(cell) -> bool:
    """Whether a cell's stored output comes from results/ alone, by the names that it uses."""
    if cell.cell_type != "code" or not cell.outputs or UNTOUCHED & set(cell.metadata.get("tags", ())):
        return False
    source = cell.source
    return not source.startswith("%%") and bool(READS.search(source)) and not LAUNCHES.search(source)


def tag(paths: list[Path]) -> int:
    """Give the tag to all cells that read what is recorded. Returns how many did not have it."""
    found = 0
    for path in paths:
        book = nbformat.read(path, as_version=4)
        new = [cell for cell in book.cells if reads_records(cell) and RECORDED not in cell.metadata.get("tags", ())]
        for cell in new:
            cell.metadata["tags"] = [*cell.metadata.get("tags", ()), RECORDED]
        if new:
            nbformat.write(book, path)
        found += len(new)
    return found


def needed(book, name: str) -> list[int]:
    """The indexes of the cells with the tag, and of the earlier cells that they need, in order.

    Raises `LabError` if what a cell needs is not defined by a cell of plain Python.
    """
    tagged = [index for index, cell in enumerate(book.cells) if RECORDED in cell.metadata.get("tags", ())]
    found, waiting = set(), list(tagged)
    while waiting:
        index = waiting.pop()
        if index in found:
            continue
        found.add(index)
        for used in sorted(names(book.cells[index].source)[0] - GIVEN):
            earlier = [i for i in range(index) if _binds(book.cells[i], used)]
            if not earlier:
                raise LabError(
                    f"{name}: cell {index} has the tag “recorded” and needs `{used}`, which no cell defines."
                )
            waiting.append(earlier[-1])
    return sorted(found)


def _binds(cell, name: str) -> bool:
    return cell.cell_type == "code" and name in names(cell.source)[1]


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that the Python of a cell needs from earlier cells, and the names that it defines.

    A statement reads before it assigns: `x = f(x)` needs x. Names of functions, comprehensions and loops are their
    own. A cell with a magic in its first line has neither.
    """
    needs: set[str] = set()
    bound: set[str] = set()
    for statement in [] if source.startswith("%%") else ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.M)).body:
        loaded, stored, own = set(), set(), set()
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                (stored if isinstance(node.ctx, ast.Store) else loaded).add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                stored.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                stored |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.arg):
                own.add(node.arg)
            elif isinstance(node, ast.comprehension):
                own |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
        reads_first = isinstance(statement, (ast.Assign, ast.AugAssign))
        needs |= loaded - bound - own - (set() if reads_first else stored)
        bound |= stored
    return needs, bound


def words(outputs) -> list[str]:
    """The text of a cell's outputs, line by line: streams, plain text, the words of HTML, names of errors."""
    found = []
    for output in outputs:
        data = output.get("data", {})
        page = re.sub(r"<(style|script)\b.*?</\1>|base64,[^\"']+", "", data.get("text/html", ""), flags=re.S)
        text = [output.get("text", ""), data.get("text/plain", ""), unescape(re.sub(r"<[^>]+>", "\n", page))]
        if output.output_type == "error":
            text.append(f"{output.ename}: {output.evalue}")
        found += [line.strip() for part in text for line in part.splitlines() if line.strip()]
    return found


def main(argv: list[str] | None = None) -> int:
    """The command line. Returns 0 if all stored outputs are today's or were written, else 1; 2 for a wrong cell."""
    parser = argparse.ArgumentParser(description="Compare stored outputs of recorded data with the data.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="which notebooks (default: the whole series)")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--store", action="store_true", help="write the new outputs into the notebooks")
    ways.add_argument("--tag", action="store_true", help="tag the cells that read what is recorded")
    options = parser.parse_args(argv)
    paths = [path.resolve() for path in options.notebooks] or notebooks_in(data_dir("notebooks"))
    if options.tag:
        print(f"{tag(paths)} cells got the tag “{RECORDED}”")
        return 0
    try:
        found = differences(paths, options.store)
    except SimulatorError as error:
        print(error, file=sys.stderr)
        return 2
    for one in found:
        print(one)
    print(f"{len(found)} stored outputs {'are written anew' if options.store else 'differ from the data'}")
    return 1 if found and not options.store else 0


if __name__ == "__main__":
    sys.exit(main())
