"""Names that a cell needs from earlier cells, and which cell to run if such a name has no value.

Somebody who skips the cell of a puzzle meets a NameError further down. `sentence` says which cell binds the name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gemm_lab.notebook_files import cells_of_the_series

_OF_A_NOTEBOOK = re.compile(r"""\.(?:puzzle|guess|predict|exercise)\(["'](\d\d)_\w+["']\)""")
_PUZZLE, _ALIAS = re.compile(r"^@lab\.puzzle\("), re.compile(r"--as (\w+)")
_HEADING = re.compile(r"^#{2,3} (.+)$", re.M)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Statement:
    """A statement of a cell: its first line, the names to which it gives a value, and those that it replaces.

    counts: False for a loop or a block, whose names are not what the cell is for.
    """

    line: str
    binds: frozenset[str]
    replaces: frozenset[str] = frozenset()
    counts: bool = True


@lru_cache(maxsize=1024)
def statements(source: str) -> tuple[Statement, ...]:
    """The statements of a code cell; () if it is no Python. A `%%kernel` cell has one; it binds the name after --as."""
    first, _, _ = source.partition("\n")
    if first.startswith("%%"):
        return (Statement(first, frozenset(_ALIAS.findall(first))),)
    text = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n"))
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return ()
    return tuple(_statement(node, text.split("\n")) for node in body)


def _statement(node: ast.stmt, lines: list[str]) -> Statement:
    binds = _bound(node)
    read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    begin = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    counts = not isinstance(node, (ast.For, ast.While, ast.If, ast.With, ast.Try))
    replaces = frozenset() if isinstance(node, _DEFINITIONS) else frozenset(binds & read)
    return Statement(lines[begin - 1].strip(), frozenset(binds), replaces, counts)


def _bound(node: ast.AST) -> set[str]:
    """The names to which a statement gives a value, outside of functions and comprehensions."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Name(id=name, ctx=ast.Store()):
            return {name}
        case ast.alias(name=name, asname=other):
            return {(other or name).split(".")[0]}
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return set()
    return set().union(*map(_bound, ast.iter_child_nodes(node)))


# ---- Which cell to run ----

STOPPED: dict[str, str] = {}  # cells that needed something that is not here, and the sentence that said so


@dataclass(frozen=True)
class Cell:
    """A code cell of a notebook, and the heading above it."""

    source: str
    section: str


def session_notebook() -> str:
    """The number of the notebook whose cells this session runs, such as "02"; "" if they are of no notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return _last_number(shell.history_manager.input_hist_raw) if shell is not None else ""


def _last_number(ran: Sequence[str]) -> str:
    """The notebook to which the last of these cells belongs that belongs to one; "" if none does."""
    return next((number for text in reversed(ran) if (number := _number(text)) in _notebooks()), "")


def without(name: str, ran: Sequence[str]) -> str:
    """Why a name has no value although the cell that gives it one was run: it stopped, because something is not here.

    "" if that is not the reason.   ran: as for `sentence`.
    """
    for text in reversed(ran[:-1]):
        if any(name in one.binds for one in statements(text)):
            if reason := STOPPED.get(text.strip()):
                return f"“{name}” has no value, because the cell that sets it could not run here: {reason}"
            break
    return ""


def sentence(name: str, ran: Sequence[str]) -> str:
    """Which cells to run so that `name` has a value; "" if no cell of the notebook gives it one.

    ran: the cells that this session has run, the one that lacks the name last. They say which notebook it is.
    """
    cells = _notebooks().get(_last_number(ran), ())
    here = next((place for place, cell in enumerate(cells) if cell.source.strip() == ran[-1].strip()), len(cells))
    wanted: list[str] = []
    for cell in reversed(cells[:here]):
        found = next((one for one in statements(cell.source) if name in one.binds and one.counts), None)
        if found is None:
            continue
        puzzle = _PUZZLE.match(found.line)
        section = f" in the section “{cell.section}”" if cell.section else ""
        wanted.insert(0, f"“{found.line}”{section}{', solved or not' if puzzle else ''}")
        if name not in found.replaces:  # else it needs the value before it
            break
    if not wanted:
        return ""
    if len(wanted) == 1:
        return f"“{name}” has no value yet. First run the cell with the line {wanted[0]}; then run this one again."
    listed = "; then the one with ".join(wanted)
    return f"“{name}” has no value yet. First run the cell with the line {listed}. Then run this one again."


def _number(text: str) -> str:
    """The number of the notebook to which a cell belongs, such as "02"; "" if it may be of several or of none."""
    if named := _OF_A_NOTEBOOK.search(text):
        return named[1]
    same = [
        number for number, cells in _notebooks().items() if any(cell.source.strip() == text.strip() for cell in cells)
    ]
    return same[0] if len(same) == 1 else ""


@lru_cache(maxsize=1)
def _notebooks() -> dict[str, tuple[Cell, ...]]:
    """The code cells of every notebook of the series, by its number."""
    return {number: tuple(_with_sections(cells)) for number, cells in cells_of_the_series().items()}


def _with_sections(cells: Sequence[tuple[str, str]]) -> Iterator[Cell]:
    section = ""
    for kind, text in cells:
        if kind == "code":
            yield Cell(text, section)
        elif headings := _HEADING.findall(text):
            section = headings[-1]
