"""The pictures of live widgets in stored notebooks: screenshots of their views in Chromium, for `tools.run_notebooks`.

A view needs no Python: an executed notebook has the text of its module and its state among its metadata.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import nbformat

from gemm_lab.notebook.widgets.asleep import ASLEEP, VIEW
from gemm_look.palette import compact
from gemm_results.errors import LabError
from tools.widget_page import CHROMIUM, chromium, picture, prepared

STATE = "application/vnd.jupyter.widget-state+json"
NO_CHROMIUM = (
    "The picture of a widget is a screenshot in Chromium, and there is none here, so nothing was stored. On Debian: "
    "apt install chromium. A browser elsewhere can be named in GEMM_LAB_CHROMIUM."
)
COLOURS, APART = 24, 14  # of the palette, which keeps a picture below 30,000 characters of base64
WIDTH, HIGH = 824, 1500  # pixels of the page, whose margins of 12 leave 800 for the widget


def models(notebook: nbformat.NotebookNode) -> dict[str, dict]:
    """The models of all widgets of an executed notebook, by the number that their views name."""
    return notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})


def model_of(output: nbformat.NotebookNode) -> str | None:
    """The number of the model of a widget view; None if the output is not a view."""
    return output.get("data", {}).get(VIEW, {}).get("model_id")


def add_pictures(notebook: nbformat.NotebookNode, cells: Sequence[nbformat.NotebookNode]) -> None:
    """Put the picture of every view that the lab draws beside it, in these cells of an executed notebook.

    Raises `LabError` if there is such a view and no Chromium.
    """
    views = [view for cell in cells for view in _views(notebook, cell)]
    if not views:
        return
    if not CHROMIUM:
        raise LabError(NO_CHROMIUM)
    with ThreadPoolExecutor(1) as apart:  # Playwright refuses a thread in which another event loop runs
        pngs = apart.submit(_pictures, [state for _, _, state in views]).result()
    for (_, output, _), png in zip(views, pngs, strict=True):
        output.data["image/png"] = b64encode(compact(png, COLOURS, APART)).decode()


def _pictures(states: list[dict]) -> list[bytes]:
    with chromium(reduced_motion="reduce") as page:
        prepared(page, "light", WIDTH, HIGH)
        return [picture(page, state) for state in states]


def renew(stored: nbformat.NotebookNode, executed: nbformat.NotebookNode) -> list[int]:
    """Give the widgets of a stored notebook the pictures and words that they have in the executed one.

    Returns the numbers of the cells that change, from 0. Raises `LabError` for a cell that shows other widgets than it
    did. A cell without a stored widget stays without.
    """
    changed = []
    for number, (cell, fresh) in enumerate(zip(stored.cells, executed.cells, strict=True)):
        new = [(what, output) for what, output, _ in _views(executed, fresh)]
        old = [(what, output) for what, output in _widgets(cell) if what in dict(new)]
        if old and [what for what, _ in old] != [what for what, _ in new]:
            raise LabError(f"Cell {number} shows other widgets than those that are stored in it.")
        for (_, kept), (_, made) in zip(old, new, strict=False):
            before = dict(kept.data)
            kept.data.update({name: made.data[name] for name in ("image/png", "text/plain")})
            changed += [number] if kept.data != before else []
    return changed


def _views(
    notebook: nbformat.NotebookNode, cell: nbformat.NotebookNode
) -> list[tuple[str, nbformat.NotebookNode, dict]]:
    """(what it is, output, state) of each view in a cell of an executed notebook that a module of the lab draws."""
    found = (
        (what, output, models(notebook).get(model_of(output), {}).get("state", {})) for what, output in _widgets(cell)
    )
    return [view for view in found if "pictured" in view[2]]


def _widgets(cell: nbformat.NotebookNode) -> list[tuple[str, nbformat.NotebookNode]]:
    """(what it is, output) of each output behind one that says which widget follows."""
    return [
        (before.data["text/plain"], output)
        for before, output in pairwise(cell.get("outputs", ()))
        if ASLEEP in before.get("data", {}).get("text/html", "")
    ]
