"""Runs the notebooks of a finished JupyterLite in Chromium, from top to bottom, and says which cells fail.

`python -m tools.lite.running build/site` prints a table: notebook, cells, failing cells, those of exercises, those
that say that a page lacks what they need, seconds, and the megabytes that a browser loads for it, compressed.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gzip
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tools import widget_page
from tools.widget_page import served

ALLOWED = "raises-exception"  # the tag of a cell that fails until its exercise is solved
WAIT_MS = 180_000  # the outer limit of every wait in the page
# The lab shows its errors as a block, with this text beside it; the kernel of JupyterLite counts the cell as done.
OF_THE_LAB = re.compile(r"(✗ )?(\w*(Error|Dependency|Flood)|Wrong(Result|Answer)): ")
# A sentence of `gemm_lab_browser` and of `NotHere`; a card that has it in an indented line shows the rest.
ABSENT = re.compile(r"^\S.*(is not part of this page|In a web page that compiler|could not run here)", re.M)
# The code cells of the notebook that is shown, and one of them run to its end; both wait for the kernel.
CELLS = """async () => {
  const panel = jupyterapp.shell.currentWidget;
  await panel.sessionContext.ready;
  return panel.content.widgets.map((cell, index) => [index, cell.model]).filter(([, model]) => model.type === "code")
    .map(([index, model]) => ({index, source: model.sharedModel.getSource(), tags: model.getMetadata("tags") ?? []}));
}"""
SHOWN = "window.jupyterapp?.shell?.currentWidget?.content?.widgets?.length > 3"
RUN = """async (index) => {
  const book = jupyterapp.shell.currentWidget.content;
  book.activeCellIndex = index;
  book.deselectAll();
  await jupyterapp.commands.execute("notebook:run-cell");
  return book.widgets[index].model.outputs.toJSON();
}"""


@dataclass(frozen=True)
class Cell:
    """A code cell that ran. error: its error in a line, or "".   text: what it showed, as plain text."""

    source: str
    tags: tuple[str, ...]
    seconds: float
    error: str
    text: str

    @property
    def failed(self) -> bool:
        """Whether it failed, and is not one that fails until its exercise is solved."""
        return bool(self.error) and ALLOWED not in self.tags

    @property
    def absent(self) -> bool:
        """Whether it says that it cannot run in a page."""
        return bool(ABSENT.search(self.text))


def cells_of(page: Any, address: str, name: str) -> Iterator[Cell]:
    """Open a notebook such as "04_banks_and_wavefronts", and run its code cells one after the other.

    page: a page of Playwright.   address: that of the site, whose folder `lite` has JupyterLite.
    """
    page.goto(f"{address}/lite/lab/index.html?path=notebooks/{name}.ipynb")
    page.wait_for_function(SHOWN)
    for cell in page.evaluate(CELLS):
        yield run_cell(page, cell)


def run_cell(page: Any, cell: dict[str, Any]) -> Cell:
    """Run one of the cells that `CELLS` lists, in the notebook that the page shows, and wait for its end."""
    begun = time.monotonic()
    outputs = page.evaluate(RUN, cell["index"])
    errors = [f"{one['ename']}: {one['evalue']}" for one in outputs if one["output_type"] == "error"]
    texts = [one.get("text") or one.get("data", {}).get("text/plain", "") for one in outputs]
    text = "\n".join("".join(one) for one in texts)
    errors += [line for line in text.split("\n") if OF_THE_LAB.match(line)]
    return Cell(cell["source"], tuple(cell["tags"]), time.monotonic() - begun, "".join(errors)[:300], text)


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A page of Chromium that keeps the addresses that it asked for in `page.asked`."""
    with widget_page.chromium(viewport={"width": 1280, "height": 900}) as page:
        page.set_default_timeout(WAIT_MS)
        page.asked = []
        page.context.on("request", lambda request: page.asked.append(request.url))
        yield page


def to_load(site: Path, asked: Iterable[str]) -> int:
    """The bytes of the files of the site behind these addresses, each once and compressed, as a server sends them."""
    paths = {site / urlsplit(url).path.lstrip("/") for url in asked if url.startswith("http")}
    return sum(_compressed(path) for path in paths if path.is_file())


@functools.cache
def _compressed(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), 6))


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks and print the table. Exit code 1 if a cell fails that is no unfilled exercise."""
    parser = argparse.ArgumentParser(prog="python -m tools.lite.running", description="Run notebooks in JupyterLite.")
    parser.add_argument("site", type=Path, help="the folder that has lite and live")
    parser.add_argument("names", nargs="*", default=["00", "01", "02a", "02b", "03", "04", "05"], help="such as 04")
    parser.add_argument("--texts", action="store_true", help="print what each cell shows")
    options = parser.parse_args(arguments)
    books = sorted(path.stem for path in (options.site / "lite" / "files" / "notebooks").glob("*.ipynb"))
    bad = False
    print(f"{'notebook':32}{'cells':>6}{'failing':>9}{'exercises':>11}{'not here':>10}{'seconds':>9}{'MB':>7}")
    for name in (book for book in books if any(re.match(rf"{one}(_|$)", book) for one in options.names)):
        with served(options.site) as address, chromium() as page:
            begun = time.monotonic()
            cells = []
            for cell in cells_of(page, address, name):
                cells.append(cell)
                if options.texts:
                    print(
                        f"--- {cell.seconds:.1f} s  {cell.source[:60]!r}\n{cell.text[:1500]}\n{cell.error}", flush=True
                    )
            failed = [cell for cell in cells if cell.failed]
            unfilled = sum(bool(cell.error) for cell in cells) - len(failed)
            seconds, size = time.monotonic() - begun, to_load(options.site, page.asked) / 1e6
            absent = sum(cell.absent for cell in cells)
            counts = f"{len(cells):6}{len(failed):9}{unfilled:11}{absent:10}"
            print(f"{name:32}{counts}{seconds:9.0f}{size:7.1f}", flush=True)
            for cell in failed:
                print(f"    {cell.source.partition(chr(10))[0][:50]!r}: {cell.error[:200]}")
            bad = bad or bool(failed)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
