"""Names that a cell takes from earlier cells: each gets a value there, and a skipped cell is named."""

import builtins
from types import SimpleNamespace

import nbformat
import pytest
from cell_names import binds, needs
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from gemm_lab.config import data_dir
from gemm_lab.notebook.cells import _show_error
from gemm_lab.notebook.unbound import sentence, statements
from gemm_lab.notebook_files import notebooks_in
from gpu_simulator.errors import NotHere

KNOWN = {*dir(builtins), "display", "get_ipython"}
BOOKS = {path.stem: nbformat.read(path, as_version=4).cells for path in notebooks_in(data_dir("notebooks"))}
FIRST_HALF = [name for name in BOOKS if name < "06"]


def code(name):
    return [cell.source for cell in BOOKS[name] if cell.cell_type == "code"]


def unbound(cells):
    """(first line of a cell, name) for each name to which no cell gives a value before that cell needs it."""
    known, found = set(KNOWN), []
    for source in cells:
        found += [(source.split("\n")[0], name) for name in sorted(needs(source) - known)]
        known |= binds(source)
    return found


def names_of_puzzles(cells):
    """(first line of a puzzle, its function, the first later cell that needs it) for each such function."""
    for place, source in enumerate(cells):
        for statement in statements(source):
            for name in statement.binds if statement.line.startswith("@lab.puzzle(") else ():
                later = next((other for other in cells[place + 1 :] if name in needs(other)), None)
                if later is not None:
                    yield statement.line, name, later


@pytest.mark.parametrize("name", BOOKS)
def test_every_name_has_a_value_if_all_cells_are_run_and_no_puzzle_is_solved(name):
    assert unbound(code(name)) == []


def test_a_name_without_a_value_is_found():
    cells = [
        "import gemm_lab as lab",
        '@lab.puzzle("02_x")\ndef x(a):\n    return c',
        "x(b)\nb = 1",
        "%time d",
        "[e for e in x]",
    ]
    assert unbound(cells) == [('@lab.puzzle("02_x")', "c"), ("x(b)", "b")]
    assert unbound(["%%kernel t4/03 --region a --as mine\n  int x = y;", "mine.run()"]) == []


def test_a_name_that_a_stopped_cell_sets_has_the_reason_of_that_cell(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data["text/plain"]))
    monkeypatch.setattr("gemm_lab.notebook.unbound.STOPPED", {})
    first = "print(k.sass())\ninside = 3"
    history = SimpleNamespace(input_hist_raw=["", first])
    shell = SimpleNamespace(history_manager=history, showtraceback=lambda *_, **__: shown.append("traceback"))
    _show_error(shell, NotHere, NotHere("There is no machine code here."), None)
    history.input_hist_raw += ["inside.compare(2)"]
    _show_error(shell, NameError, NameError("name 'inside' is not defined"), None)
    history.input_hist_raw += ["other"]
    _show_error(shell, NameError, NameError("name 'other' is not defined"), None)
    history.input_hist_raw += ["inside = missing", "inside"]
    _show_error(shell, NameError, NameError("name 'inside' is not defined"), None)
    reason = "“inside” has no value, because the cell that sets it could not run here: There is no machine code here."
    assert shown == ["There is no machine code here.", reason, "traceback", "traceback"]


@pytest.mark.parametrize("name", FIRST_HALF)
def test_who_skips_the_cell_of_a_puzzle_is_told_which_cell_to_run(name):
    cells = code(name)
    for puzzle, missing, later in names_of_puzzles(cells):
        said = sentence(missing, [cells[3], later])
        assert f"“{missing}” has no value yet" in said and puzzle in said and "solved or not" in said, said


@pytest.mark.parametrize("name", FIRST_HALF)
def test_a_cell_that_needs_a_puzzle_goes_on_without_its_solution(name):
    for _, missing, later in names_of_puzzles(code(name)):
        assert f".usable({missing})" in later, later


def test_what_else_the_cell_of_a_puzzle_brings_is_named_too():
    cell = next(source for source in code("02a_tiling_in_python") if "*warp" in source)
    assert "“import numpy as np”" in sentence("np", [cell])
    cell = next(source for source in code("05_padding_and_swizzling") if "rule = arrangement(" in source)
    assert "“from gemm_lab_lessons.ch05.arrangement import arrangement”" in sentence("arrangement", [cell])


def test_a_cell_that_replaces_a_value_is_named_after_the_one_that_gives_it():
    said = sentence("naive", ['count(naive, 1)  # of 02: lab.puzzle("02_naive")'])
    assert said.index('@lab.puzzle("02_naive")') < said.index(".usable(naive)")
    assert "“Matrices that count”" in said


def test_a_kernel_and_an_object_of_an_earlier_cell_are_named_too():
    check = next(source for source in code("02b_tiling_on_a_gpu") if source == "used.check(inner)")
    assert "%%kernel simt/03_shared_memory_tiles --region multiply --as inner" in sentence("inner", [check])
    assert 'used = lab.exercise("02_inner_product")' in sentence("used", [check])


@pytest.mark.parametrize(
    ("name", "ran"),
    [
        ("nin_loops", ['nin_loops = lab.puzzle("02_nine_loops").usable(nin_loops)']),
        ("nine_loops", ["nine_loops"]),  # of no notebook
        ("level", ['level  # lab.puzzle("02_reads")']),  # the variable of a loop
        ("simt", ['simt.plot()  # lab.puzzle("02_reads")']),  # of another notebook
    ],
)
def test_nothing_is_said_about_other_names(name, ran):
    assert sentence(name, ran) == ""


def test_a_cell_that_was_edited_still_tells_its_notebook():
    said = sentence("nine_loops", ['lab.puzzle("02_naive")', "nine_loops(1, 2, 3)  # my own"])
    assert '@lab.puzzle("02_nine_loops")' in said


def test_the_session_shows_the_sentence_and_leaves_other_errors_alone():
    source = next(text for text in code("02a_tiling_in_python") if text.startswith("nine_loops = "))
    texts = ["import gemm_lab as lab\n%load_ext gemm_lab", source, "xyzzy + 1", "1 + 1"]
    book = new_notebook(cells=list(map(new_code_cell, texts)))
    NotebookClient(book, kernel_name="python3", allow_errors=True).execute()
    _, skipped, other, last = (cell.outputs for cell in book.cells)
    assert '@lab.puzzle("02_nine_loops")' in skipped[0].data["text/plain"] and "<div" in skipped[0].data["text/html"]
    assert other[0].ename == "NameError" and "xyzzy" in "".join(other[0].traceback)
    assert last[0].data["text/plain"] == "2"


@pytest.mark.parametrize(
    ("source", "needed", "bound"),
    [
        ("x = x + 1", "x", "x"),
        ("x += y", "x y", "x"),
        ("x = 1\ny = x", "", "x y"),
        ("for i in rows:\n    total = total + i", "rows total", "i total"),
        ("for x in x:\n    pass", "x", "x"),
        ("with a as b:\n    b(c)", "a c", "b"),
        ("import numpy.linalg, os as system\nfrom a import b as c", "", "numpy system c"),
        ("try:\n    a\nexcept B as error:\n    error", "a B", "error"),
        ("d = [row for row in row if (last := row)]", "row", "d last"),
        ("d = {k: f(v) for k, v in pairs}", "f pairs", "d"),
        ("f = lambda x, y=y: x + y + z", "y z", "f"),
        ("@a\ndef f(x: b, *args, n=n) -> c:\n    t = x\n    return f(t, args, n, later)", "a b c n later", "f"),
        ("def f():\n    def g():\n        return t + u\n    t = 1\n    return g", "u", "f"),
        ("def f():\n    global x\n    x = y", "y", "f x"),
        ("class A(B):\n    n = m\n    def f(self):\n        return self, q", "B m q", "A"),
        ("del x", "x", ""),
        ("a[i].b = c", "a i c", ""),
        ("f'{x:{width}}'", "x width", ""),
    ],
)
def test_the_names_of_a_statement_are_those_of_python(source, needed, bound):
    assert (needs(source), binds(source)) == (set(needed.split()), set(bound.split()))


def test_a_cell_that_is_no_python_needs_nothing():
    assert needs(new_code_cell("not python at all").source) == set()
