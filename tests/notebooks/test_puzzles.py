"""Puzzles: the shipped solution of each is accepted, each wrong answer refused in the right words, nothing hangs."""

import importlib.util
import inspect
import re
import sys

import nbformat
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.notebook.exercises import WrongAnswer
from gemm_lab.notebook.puzzle import YourTurn, puzzles
from gemm_lab.notebook.trying import Missed, call, expect
from gemm_lab.notebook_files import notebooks_of
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError

NAMES = sorted(puzzles())
FOLDERS = sorted({puzzle.folder for puzzle in puzzles().values()})


def answers(name, kind):
    """The functions of a puzzle's file in `solutions` or `wrong_answers`."""
    return functions(puzzles()[name].folder / kind / f"{name}.py")


def functions(path):
    """The functions of a file, in the order in which it defines them."""
    spec = importlib.util.spec_from_file_location(f"puzzle_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    mine = [f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__]
    return sorted(mine, key=lambda f: f.__code__.co_firstlineno)


def test_every_puzzle_has_a_solution_and_wrong_answers_and_nothing_else_is_there():
    for kind in ("solutions", "wrong_answers"):
        assert sorted(path.stem for folder in FOLDERS for path in (folder / kind).glob("*.py")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_is_accepted(name):
    solved = lab.puzzle(name).check(answers(name, "solutions")[-1])
    assert solved.facts and "solved" in repr(solved)


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("name", NAMES)
def test_wrong_answers_are_refused_in_the_right_words(name):
    wrong = [f for f in answers(name, "wrong_answers") if not f.__name__.startswith("_")]
    assert len(wrong) >= 3
    for function in wrong:
        says = function.__doc__.strip()
        with pytest.raises(WrongAnswer) as refusal:
            lab.puzzle(name).check(function)
        assert says in str(refusal.value), f"{function.__name__}: {refusal.value}"


@pytest.mark.parametrize("name", NAMES)
def test_a_puzzle_that_is_not_written_yet_shows_the_task_and_no_answer(name):
    handed_out = re.search(r"\w+\((.*?)\)", lab.puzzle(name).task)
    assert handed_out, "the task shows the call, such as bank(address)"
    with pytest.raises(YourTurn) as turn:
        lab.puzzle(name).check(lambda *args: ...)
    assert "expected" not in str(turn.value)


@pytest.mark.parametrize("name", NAMES)
def test_the_hint_is_folded(name):
    task = lab.puzzle(name)
    page = task._repr_html_()
    assert page.index("<details") < page.index("hint") and task.hint not in repr(task)


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_hands_it_out_unsolved(name):
    books = [nbformat.read(path, as_version=4) for path in notebooks_of(name[:2])]
    cells = [cell.source for book in books for cell in book.cells if cell.cell_type == "code"]
    handed_out = [source for source in cells if f'@lab.puzzle("{name}")' in source]
    assert len(handed_out) == 1 and "..." in handed_out[0]


def test_one_row_is_not_called_rows():
    with pytest.raises(WrongAnswer, match="These are one tile, in 1 row and 1 column of tiles"):
        lab.puzzle("01_strips").check(lambda tiles: 0)
    with pytest.raises(WrongAnswer, match="in 1 row and 12 columns of tiles"):
        lab.puzzle("01_strips").check(lambda tiles: len({r for r, _ in tiles}) + len({c for _, c in tiles if c < 11}))


# ---- What a function may do wrong ----


def test_the_decorator_shows_the_verdict_and_leaves_the_function_alone(capsys):
    def bank(address):
        return address % 32

    assert lab.puzzle("04_bank")(bank) is bank
    assert "not yet" in capsys.readouterr().out


def test_what_is_no_function_is_refused():
    with pytest.raises(ConfigError, match="above its def"):
        lab.puzzle("04_bank").check(4)
    with pytest.raises(LabError, match="04_bank"):
        lab.puzzle("04_bnk")


def test_an_error_names_its_line():
    def broken(x):
        y = x
        return y / 0

    with pytest.raises(Missed, match=r"broken\(3\) raised ZeroDivisionError in line 3"):
        call(broken, 3)


@pytest.fixture
def untraced():
    """No tool traces this test: beside one, such as coverage, endless loops are not counted."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


@pytest.mark.usefixtures("untraced")
def test_a_loop_that_never_ends_is_stopped_even_if_it_catches_everything():
    def stubborn():
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass

    before = sys.gettrace()
    with pytest.raises(Missed, match="never end"):
        call(stubborn, most_lines=1000)
    assert sys.gettrace() is before


def test_interrupting_the_kernel_is_no_wrong_answer():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(interrupted)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(np.int64(3), 3), ([1, 2], (1, 2)), (np.arange(3), [0, 1, 2]), (0.1 + 0.2, 0.3), (2, 2.0), ("a", "a")],
)
def test_equal_values_of_other_types_are_equal(value, wanted):
    assert expect(lambda: value, (), wanted) is value


@pytest.mark.parametrize("value", [2, [1], [1, 2, 3], "1, 2", None, True, {1, 2}, np.zeros((2, 2))])
def test_unequal_values_are_not(value):
    with pytest.raises(Missed):
        expect(lambda: value, (), (1, 2))
    with pytest.raises(Missed):
        expect(lambda: value, (), 1)


@pytest.mark.parametrize("value", [1, 0, "True", np.float64(1)])
def test_true_and_false_are_asked_for_in_words(value):
    with pytest.raises(Missed, match="expected True. The function has to return True or False"):
        expect(lambda: value, (), True, "Something else.")
    with pytest.raises(Missed, match="expected True. Something else.$"):
        expect(lambda: False, (), True, "Something else.")


def test_an_object_that_fails_to_compare_is_just_wrong():
    class Odd:
        def __eq__(self, other):
            raise ValueError

        __hash__ = None

    with pytest.raises(Missed):
        expect(Odd, (), 1)


def test_every_verdict_of_a_puzzle_has_one_frame():
    from gemm_lab.notebook.cells import error_page

    puzzle = puzzles()["05_toy"]
    frames = []
    for function in (lambda row, column: ..., lambda row, column: column):
        with pytest.raises(LabError) as caught:
            puzzle.check(function)
        frames.append(caught.value._repr_html_())
        assert frames[-1] == error_page(caught.value)
    frames.append(puzzle.check(puzzle.solution())._repr_html_())
    assert [page.count("max-width:980px") for page in frames] == [1, 1, 1]
    assert [page.count("border-left:4px solid") for page in frames] == [1, 1, 1]
