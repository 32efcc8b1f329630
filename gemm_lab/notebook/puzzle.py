"""`@lab.puzzle("04_bank")` above a function: tries the function and shows at once whether it is right.

A puzzle is practice, not a graded exercise: a grade never executes a student's Python. The puzzles belong to a course,
whose modules make them with `register`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from gemm_lab.courses import import_puzzles, one_of
from gemm_lab.notebook.exercises import Solved, WrongAnswer
from gemm_lab.notebook.remembered.solved import remember
from gemm_lab.notebook.trying import Missed, NotWritten, expect
from gemm_look import theme
from gemm_look.card import card, folded
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked, shown
from gpu_simulator.errors import ConfigError, SimulatorError

F = TypeVar("F", bound=Callable[..., Any])
Facts = list[tuple[str, str]]
Right = tuple[Any, str | Callable[[Any], str]]  # a value, and a sentence for who missed it; see `expect`
_known: dict[str, Puzzle] = {}


@dataclass(frozen=True)
class Puzzle:
    """A function to write. `judge` calls it; it returns (label, value) facts, or raises `Missed` with a sentence."""

    name: str
    title: str
    task: str
    hint: str
    judge: Callable[[Callable[..., Any]], Facts] = field(repr=False)

    @property
    def folder(self) -> Path:
        """Of the module that registered the puzzle; its folder `solutions` has NAME.py."""
        return Path(inspect.getfile(inspect.unwrap(self.judge))).parent

    def __call__(self, function: F) -> F:
        """As a decorator: show whether the function is right, and return it unchanged, right or wrong."""
        from IPython.display import display

        try:
            display(self.check(function))
        except (WrongAnswer, YourTurn) as verdict:
            display(verdict)
        return function

    @checked
    def check(self, function: Any) -> Solved:
        """Try a function. Raises `WrongAnswer` for a wrong one, `ConfigError` for anything that is no function."""
        right = self._tried(function)
        remember(self.name)
        return right

    def _tried(self, function: Any) -> Solved:
        if not callable(function):
            raise ConfigError(
                f"{self.title} is solved by a function: put @lab.puzzle({self.name!r}) above its def, not above "
                f"{shown(function)}."
            )
        try:
            return Solved(self.title, self.judge(function))
        except NotWritten:
            raise YourTurn(self) from None
        except Missed as missed:
            raise WrongAnswer(self, [str(missed)]) from None

    @checked
    def usable(self, function: Any) -> Callable[..., Any]:
        """The function itself if it is right; otherwise the shipped solution, and two printed lines say so.

        With it, the cells below a puzzle work for a reader who has not solved it.
        """
        try:
            self._tried(function)  # it can be the shipped solution, which does not count as solved
        except SimulatorError:
            print(f"“{self.title}” is not solved yet,\nso the cells below use the lab's own function.")
            return self.solution()
        return function

    def solution(self) -> Callable[..., Any]:
        """The last function of solutions/NAME.py beside the module of the puzzle."""
        path = self.folder / "solutions" / f"{self.name}.py"
        names: dict[str, Any] = {"__name__": f"puzzle_{self.name}"}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
        return [value for value in names.values() if inspect.isfunction(value)][-1]

    def __repr__(self) -> str:
        return f"Puzzle. {self.title}. {self.task}"

    def _repr_html_(self) -> str:
        return _card(f"Puzzle. {self.title}.", self)


class YourTurn(LabError):
    """The function still returns `...`, as it was handed out."""

    is_card = True  # its HTML has a frame already

    def __init__(self, puzzle: Puzzle):
        self.puzzle = puzzle
        super().__init__(f"{puzzle.title}: your turn. {puzzle.task}")

    def _repr_html_(self) -> str:
        return _card(f"{self.puzzle.title}: your turn.", self.puzzle)


def _card(title: str, puzzle: Puzzle) -> str:
    """A card with the task, in which text between backticks is code, and the folded hint."""
    task = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(puzzle.task))
    return card(f"<b>{escape(title)}</b> {task}" + folded("hint", escape(puzzle.hint)), theme.TASK)


def register(name: str, title: str, task: str, hint: str) -> Callable[[Callable[..., Facts]], Puzzle]:
    """Decorator for a judge: makes the puzzle `name`, whose first two characters are the number of its notebook."""

    def make(judge: Callable[..., Facts]) -> Puzzle:
        if name in _known:
            raise ConfigError(f"There are two puzzles {name}.")
        _known[name] = Puzzle(name, title, task, hint, judge)
        return _known[name]

    return make


def register_law(
    name: str, title: str, task: str, hint: str, cases: Sequence[tuple[Any, ...]], tried: str, facts: Sequence = ()
) -> Callable[[Callable[..., Right]], Puzzle]:
    """Decorator for the law that a puzzle asks for: makes the puzzle `name`, which tries the arguments in `cases`.

    The law returns the right value, and why, which `expect` takes. A solved puzzle says how many cases were tried, with
    the words of `tried`, and then the `facts`.
    """

    def make(law: Callable[..., Right]) -> Puzzle:
        @wraps(law)
        def judge(answer: Callable[..., Any]) -> Facts:
            for case in cases:
                expect(answer, case, *law(*case))
            return [(tried, f"{len(cases):,}"), *facts]

        return register(name, title, task, hint)(judge)

    return make


@lru_cache(maxsize=1)
def puzzles() -> dict[str, Puzzle]:
    """All puzzles by name, in the order of the notebooks."""
    import_puzzles()
    return dict(sorted(_known.items(), key=lambda item: item[0][:2]))


@checked
def puzzle(name: str) -> Puzzle:
    """A puzzle by name. Raises `LabError` for an unknown name; the message lists similar names."""
    return one_of(puzzles(), "puzzle", name)
