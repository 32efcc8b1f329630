"""The live widgets of a notebook on a page without a server: the state of each, and the module that draws it.

A stored notebook has a picture of each widget and no state. So the cell that shows the widget is evaluated when the
site is built, with the earlier cells that give its names their values, and no other. A widget whose view needs Python
for its answers has no state that would do, so it stays a picture.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import nbformat

from gemm_lab.notebook.widgets.asleep import ASLEEP
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gpu_simulator.errors import SimulatorError
from tools.widget_page import state_of

SHOW = "display"  # what a cell calls to show a value; for the last line of a cell it is added
MAGIC = re.compile(r"^%.*$", re.M)


@dataclass(frozen=True)
class Live:
    """What a page needs to draw a widget: the name and the text of its ES module, its state, and its line of text."""

    module: str
    source: str
    state: dict[str, Any]
    text: str


def pictures(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The stored outputs of a cell that are pictures of live widgets; the output before each says so in words."""
    return [after for before, after in pairwise(cell.get("outputs", ())) if words(before) and _is_picture(after)]


def words(output: nbformat.NotebookNode) -> bool:
    """Whether an output only says what a widget is and how it comes to life in Jupyter."""
    return ASLEEP in "".join(output.get("data", {}).get("text/html", ""))


def _is_picture(output: nbformat.NotebookNode) -> bool:
    return "image/png" in output.get("data", {})


def live_widgets(notebook: nbformat.NotebookNode) -> dict[int, list[Live | None]]:
    """{number of a cell: its widgets}, as many as the cell has pictures; None for one that stays a picture.

    That is one whose view needs Python, and one that could not be made here, as without the CUDA compiler. What cells
    print is dropped, and the learner's own state folder is not touched.
    """
    found: dict[int, list[Live | None]] = {}
    for number, cell in enumerate(notebook.cells):
        if count := len(pictures(cell)):
            code = [one.source for one in notebook.cells if one.cell_type == "code"]
            with _nobody(), contextlib.redirect_stdout(io.StringIO()):
                try:
                    shown = shown_values(code, cell.source)
                except SimulatorError:
                    shown = []
            widgets = [_live(value) for value in shown if hasattr(value, "_ipython_display_")]
            found[number] = widgets if len(widgets) == count else [None] * count
    return found


def _live(value: object) -> Live | None:
    view = value if isinstance(value, PicturedWidget) else getattr(value, "view", None)
    if not isinstance(view, PicturedWidget):
        return None
    state = {name: part for name, part in state_of(view).items() if name != "pictured"}
    module = type(view).__module__.rpartition(".")[2]
    return Live(module, str(view._esm), json.loads(json.dumps(state)), view.text)


@contextlib.contextmanager
def _nobody() -> Iterator[None]:
    """Stored predictions and solved exercises of the user are neither read nor written inside."""
    before = os.environ.get("XDG_STATE_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        try:
            yield
        finally:
            os.environ.pop("XDG_STATE_HOME")
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


def shown_values(cells: Sequence[str], source: str) -> list[Any]:
    """The values that the cell `source` shows when it is evaluated after those of `cells` that it needs.

    cells: the sources of the notebook's code cells in their order, with `source` among them.
    """
    shown: list[Any] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    for text in needed(cells[: list(cells).index(source)], source):
        names[SHOW] = lambda *values: None
        exec(compile(_tree(text), "<cell>", "exec"), names)
    names[SHOW] = lambda *values: shown.extend(values)
    tree = _tree(source)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        last.value = ast.Call(ast.Name(SHOW, ast.Load()), [last.value], [])
    exec(compile(ast.fix_missing_locations(tree), "<cell>", "exec"), names)
    return [value for value in shown if value is not None]


def needed(before: Sequence[str], source: str) -> list[str]:
    """Those of the cells `before` that give the names of the cell `source` their values, in their order.

    A cell that is not Python alone, such as one with `%%kernel`, gives no name.
    """
    wanted, chosen = _read(_tree(source)), []
    for text in reversed(before):
        try:
            tree = _tree(text)
        except SyntaxError:
            continue
        if wanted & _bound(tree):
            chosen.append(text)
            wanted = (wanted - _bound(tree)) | _read(tree)
    return chosen[::-1]


def _tree(text: str) -> ast.Module:
    """The parsed cell without its line magics. Raises `SyntaxError` for one that is not Python, such as `%%kernel`."""
    return ast.parse(text if text.startswith("%%") else MAGIC.sub("", text))


def _read(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound(tree: ast.Module) -> set[str]:
    """The names that a cell binds at its top level."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        else:
            names |= {one.id for one in _stored(ast.walk(node))}
    return names


def _stored(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    return (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
