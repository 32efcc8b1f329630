"""Writes text that has to agree with other files into the notebooks and README.md.

    python -m tools.sync [--check]      with --check nothing is written, and the exit code is 1 if something differs

Every `%%kernel … --region` cell gets exactly that region of its kernel file, except cells of exercises (`--exercise`)
and cells tagged `edited`, which change the region on purpose. After each title come the two cells of `colab`, the badge
and the installation for machines without the lab, if the repository is published. Numbers and blocks between markers,
in prose cells and in README.md, get the recorded results (see `generated_text`). release.sha256 gets the hashes of the
notebooks that result (see `trust`).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nbformat

from gemm_lab import catalog, source_text, trust
from gemm_lab.config import data_dir
from gemm_lab.notebook.cells import parse_line
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError
from tools import colab
from tools.generated_text import NUMBER, written
from tools.readme_blocks import BLOCKS


def wanted_text(cell) -> str | None:
    """The text that a cell should have; None if it may have any. Raises `LabError` for an unknown region or number."""
    if cell.cell_type == "markdown" and NUMBER.search(cell.source):
        return written(cell.source)
    if cell.cell_type != "code" or not cell.source.startswith("%%kernel ") or "edited" in cell.metadata.get("tags", []):
        return None
    first = cell.source.split("\n", 1)[0]
    line = parse_line(first.removeprefix("%%kernel "))
    if line.region is None or line.exercise:
        return None
    regions = catalog.kernel(line.name).regions
    if line.region not in regions:
        raise LabError(f"A cell edits region “{line.region}” of {line.name}, which has {source_text.listed(regions)}.")
    return f"{first}\n{regions[line.region].text}"


def sync(check: bool = False, folder: Path | None = None) -> list[str]:
    """Rewrite the cells and files that differ, or with `check` only find them.

    folder: of the notebooks, by default the series. Returns one sentence for each cell or file that differed.
    """
    found = []
    for path in sorted((folder or data_dir("notebooks")).glob("*.ipynb")):
        book = nbformat.read(path, as_version=4)
        if changed := colab.open_book(book, path.stem, colab.address()):
            found.append(
                f"{path.name}: the badge and the installation cell behind the title are not as they should be."
            )
        for index, cell in enumerate(book.cells):
            try:
                text = wanted_text(cell)
            except SimulatorError as error:
                raise LabError(f"{path.name}, cell {index}: {error}") from None
            if text is None or cell.source.rstrip("\n") == text.rstrip("\n"):
                continue
            first = cell.source.split("\n", 1)[0]
            source = "recorded results" if cell.cell_type == "markdown" else "kernel file"
            found.append(f"{path.name}, cell {index}: “{first}” differs from the {source}.")
            cell.source, changed = text, True
        if changed and not check:
            nbformat.write(book, path)
    if folder is None:
        found += _sync_file(
            data_dir("notebooks") / trust.LIST,
            trust.release_list(data_dir("notebooks")),
            check,
            "does not list the hashes of these notebooks.",
        )
    readme = data_dir("notebooks").parent / "README.md" if folder is None else folder / "README.md"
    if readme.is_file():  # only a checkout has it
        found += _sync_file(
            readme,
            written(readme.read_text(encoding="utf-8"), BLOCKS),
            check,
            "a number or a block between markers differs from the recorded results.",
        )
    return found


def _sync_file(path: Path, wanted: str, check: bool, says: str) -> list[str]:
    """Write `wanted` into a file with another content, or with `check` only report it. Returns at most one sentence."""
    if path.is_file() and path.read_text(encoding="utf-8") == wanted:
        return []
    if not check:
        path.write_text(wanted, encoding="utf-8")
    return [f"{path.name}: {says}"]


def main(argv: list[str] | None = None) -> int:
    """The command line. Returns 1 if something differs and --check is given, 2 if a text cannot be generated."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.sync",
        description="Write kernel regions, opening cells and recorded numbers into the notebooks and README.md.",
    )
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a cell differs")
    options = parser.parse_args(argv)
    try:
        found = sync(check=options.check)
    except SimulatorError as error:
        print(error, file=sys.stderr)
        return 2
    for sentence in found:
        print(sentence if options.check else sentence + " It has been updated.")
    if options.check and found:
        print("Run: python -m tools.sync")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
