"""`lab.progress()`: how many puzzles and exercises of the series are solved, and in which notebook the others are.

A puzzle or an exercise counts from the moment at which its check has passed. The file solved.json in the state folder
remembers it; whoever deletes the file begins again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gemm_lab.config import data_dir
from gemm_lab.notebook.exercises import exercises
from gemm_lab.notebook.puzzle import puzzles
from gemm_lab.notebook.remembered.solved import solved_so_far, unsaved
from gemm_lab.notebook_files import notebooks_in
from gemm_look import theme
from gemm_look.card import card, folded, remark
from gemm_look.table import Table


@dataclass(frozen=True)
class Part:
    """One notebook: the names of its puzzles and exercises."""

    notebook: str
    puzzles: tuple[str, ...]
    exercises: tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    """What is solved of the puzzles and exercises of each notebook. problem: why it cannot be saved, or ""."""

    parts: tuple[Part, ...]
    solved: frozenset[str]
    problem: str = ""

    @property
    def line(self) -> str:
        """Such as "23 of 59 puzzles, 4 of 14 exercises"."""
        puzzles = self._share(name for part in self.parts for name in part.puzzles)
        exercises = self._share(name for part in self.parts for name in part.exercises)
        return f"{puzzles} puzzles, {exercises} exercises"

    def _share(self, names: Iterable[str]) -> str:
        names = list(names)
        return f"{sum(name in self.solved for name in names)} of {len(names)}"

    def _table(self) -> Table:
        rows = []
        for part in self.parts:
            done = {*part.puzzles, *part.exercises} <= self.solved
            shares = [self._share(names) if names else "" for names in (part.puzzles, part.exercises)]
            rows.append([part.notebook + " ✓" * done, *shares])
        return Table(["notebook", "puzzles", "exercises"], rows)

    @property
    def _warning(self) -> str:
        return f"What you solve cannot be saved and is forgotten when this session ends: {self.problem}"

    def __repr__(self) -> str:
        warning = [self._warning] if self.problem else []
        return "\n".join([f"Solved so far: {self.line}", *self._table().lines(), *warning])

    def _repr_html_(self) -> str:
        rows = folded("notebook by notebook", self._table().html())
        warning = remark(self._warning, "warn") if self.problem else ""
        return card(f"Solved so far: <b>{self.line}</b>{rows}{warning}", theme.NOTE)


def progress() -> Progress:
    """How many puzzles and exercises you have solved, in all and in each notebook, shown as a line that unfolds.

    What counts is that the check has passed, in this session or an earlier one.
    """
    return Progress(parts(), solved_so_far(), unsaved())


@lru_cache(maxsize=1)
def parts() -> tuple[Part, ...]:
    """The notebooks of the series that have puzzles or exercises, in reading order."""
    texts = {path.stem: _text(path) for path in notebooks_in(data_dir("notebooks"))}
    homes = {name: _home(name, "puzzle", texts) for name in puzzles()}
    asked = {name: _home(name, "exercise", texts) for name in exercises()}
    return tuple(
        Part(
            notebook,
            tuple(name for name, home in homes.items() if home == notebook),
            tuple(name for name, home in asked.items() if home == notebook),
        )
        for notebook in sorted({*homes.values(), *asked.values()})
    )


def _home(name: str, what: str, texts: dict[str, str]) -> str:
    """The notebook that asks for the puzzle or exercise `name`, whose number the name begins with.

    If there are several with this number, it is the first that has a call with the name. In a notebook that the learner
    has changed the call can be missing; then it is the first with the number, or the number itself.
    """
    call = f'lab.{what}(\\"{name}\\")'  # as a notebook's JSON writes it
    own = [stem for stem in texts if stem.startswith(name[:2])] or [name[:2]]
    return next((stem for stem in own if call in texts.get(stem, "")), own[0])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
