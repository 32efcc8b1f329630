"""`lab.exercise("06_swizzle")`: an exercise with a task, a hint, and a check that says what is wrong.

The exercises are in exercises.toml of each room of a course (see `gemm_lab.courses`). An exercise about a kernel is
checked by running the learner's kernel; an exercise about a choice of numbers is checked by a judge of its course. A
wrong answer raises `WrongAnswer`, so a notebook that is run as a whole stops there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import Any

from gemm_lab.courses import Room, entries, judges, one_of
from gemm_lab.lab import Kernel, kernel
from gemm_lab.lab.on_simulator import still_at_work
from gemm_lab.notebook.cells import Uncompiled, superseded
from gemm_lab.notebook.exercise_kernel import kernel_of_exercise, whole_kernel
from gemm_lab.notebook.judges import kernel_judge
from gemm_lab.notebook.judges.cuda_tokens import normalised, tokens
from gemm_lab.notebook.remembered.solved import remember
from gemm_lab.notebook.speed_beside import speed_beside
from gemm_look import theme
from gemm_look.card import card, facts, folded, mark, message
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.errors import ConfigError

KERNEL = "kernel"  # the judge of an exercise about a kernel; the others belong to a course
_PTX_LINE = re.compile(r", PTX line \d+")  # of no use in a refusal, because the learner's line stands before it


class WrongAnswer(LabError):
    """The answer does not solve the exercise or puzzle; `reasons` has a sentence for each thing that is wrong."""

    is_card = True  # its HTML has a frame already

    def __init__(self, exercise: Any, reasons: list[str], judgement: kernel_judge.Judgement | None = None):
        self.exercise, self.reasons, self.judgement = exercise, reasons, judgement
        super().__init__(f"{exercise.title}: not yet. " + " ".join(reasons))

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{message(reason)}</li>" for reason in self.reasons)
        reasons = theme.tag("ul", "list", items)
        title = f"<b>{mark(False)} {escape(self.exercise.title)}: not yet.</b>"
        return card(title + reasons + folded("hint", escape(self.exercise.hint)), theme.BAD)


@dataclass(frozen=True)
class Solved:
    """A correct answer to an exercise. `facts` are (label, value) pairs, such as the counts of the check."""

    title: str
    facts: list[tuple[str, str]]

    def __repr__(self) -> str:
        return f"{self.title}: solved. " + ", ".join(f"{label} {value}" for label, value in self.facts)

    def _repr_html_(self) -> str:
        return card(f"<b>{mark(True)} {escape(self.title)}: solved.</b>{facts(self.facts)}", theme.GOOD)


@dataclass(frozen=True)
class Exercise:
    """An exercise of exercises.toml. `judge` is the name of its check; `criteria` has the keys without an attribute.

    room: of the course, whose folders `solutions` and `wrong_answers` have files with the exercise's name.
    """

    name: str
    title: str
    task: str
    hint: str
    judge: str
    criteria: Mapping[str, Any] = field(repr=False)
    room: Room = field(repr=False)

    @checked
    def check(self, answer: Any = None, *more: Any, seed: int = 0, **choices: int) -> Solved:
        """Check a kernel (`check(mine)`) or a choice of numbers (`check(block_m=128, …)`).

        seed: of the random inputs that a kernel multiplies. Raises `WrongAnswer` for a wrong answer, and `ConfigError`
        for an argument that this exercise does not have, or for numbers without their names.
        """
        if more:
            answer, choices = (answer, *more), {}
        if self.judge == KERNEL:
            verdict = judge_kernel(self, answer, choices, seed)
        else:
            verdict = judges()[self.judge](self, answer, choices)
        remember(self.name)
        return verdict

    def __repr__(self) -> str:
        return f"Exercise. {self.title}. {self.task}"

    def _repr_html_(self) -> str:
        task = f"<b>Exercise. {escape(self.title)}.</b> {escape(self.task)}"
        whole = whole_kernel(self.name, kernel_of_exercise(self.name, self.criteria)) if self.judge == KERNEL else ""
        return card(task + whole + folded("hint", escape(self.hint)), theme.TASK)


def kernel_of(exercise: Exercise, text: str, first_line: int = 2) -> Kernel:
    """The kernel with `text` in the exercise's region, as the `%%kernel` cell of the exercise creates it.

    first_line: number of the text's first line; in a cell it stands below the line of the magic.
    """
    wanted = exercise.criteria
    return kernel(wanted["kernel"]).edit(first_line=first_line, alias="mine", **{wanted["region"]: text.rstrip("\n")})


# ---- Judges -----------------------------------------------------------------


def judge_kernel(
    exercise: Exercise,
    answer: Any,
    choices: dict[str, int],
    seed: int = 0,
    rules: kernel_judge.Rules | None = None,
) -> Solved:
    """Check the kernel of a cell with `kernel_judge`, which uses only the text of its region. rules: of a grader."""
    wanted = exercise.criteria
    if isinstance(answer, Uncompiled):
        raise ConfigError(answer.says)
    if not isinstance(answer, Kernel) or choices:
        raise ConfigError(f"{exercise.title} is checked with the kernel of your cell: exercise.check(mine).")
    if answer.name != wanted["kernel"] or not answer.edited:
        raise ConfigError(f"{exercise.title} is about your edit of {wanted['kernel']}, not {answer.label}.")
    if set(answer.edits) != {wanted["region"]}:
        raise ConfigError(
            f"{exercise.title} is about one region; edit it in a cell that begins with "
            f"%%kernel {wanted['kernel']} --region {wanted['region']}."
        )
    with still_at_work(f"the check of “{exercise.title}”"):
        found = kernel_judge.judge(answer, wanted, seed, rules)
    found.reasons = [_PTX_LINE.sub("", reason) for reason in found.reasons]
    older = f"The last cell of “{answer.alias}” did not compile; this is the version before it."
    reasons = [older, *found.reasons] if answer.alias in superseded else found.reasons
    if found.reasons:
        raise WrongAnswer(exercise, reasons, found)
    notes = [older] if answer.alias in superseded else []
    notes += remarks(answer.edits[wanted["region"]].text, wanted)
    return Solved(exercise.title, [("mind", note) for note in notes] + found.facts + speed_beside(answer))


def remarks(text: str, wanted: Mapping[str, Any]) -> list[str]:
    """What a right answer could do better: the sentences of `remarks` in exercises.toml that its text calls for.

    Each remark `says` a sentence about a text that `has` some words, or `lacks` them, comments and white space aside.
    """
    code = "".join(token.text for token in tokens(normalised(text)) if not token.blank)
    return [
        one["says"]
        for one in wanted.get("remarks", ())
        if (one["has"] in code if "has" in one else one["lacks"] not in code)
    ]


def numbers_of(exercise: Exercise, choices: dict[str, int], names: tuple[str, ...]) -> list[int]:
    """The numbers of an answer in the order of `names`, for a judge. Raises `ConfigError` for others than these."""
    if set(choices) != set(names):
        lacking = [f"{name} is missing" for name in names if name not in choices]
        further = [f"{str(name)[:40]} is none of them" for name in choices if name not in names]
        raise ConfigError(
            f"{exercise.title} is checked by exercise.check({', '.join(f'{name}=…' for name in names)}), "
            f"with {'the names of the numbers' if len(names) > 1 else 'the name of the number'} and no other argument: "
            f"{', '.join([*lacking, *further])}."
        )
    for name, value in choices.items():
        least = 0 if name == "pad_bytes" else 1  # no padding is a legal answer, and it may be the right one
        if (found := as_whole(value)) is None or found < least:
            raise ConfigError(f"{name} must be a whole number ≥ {least}, not {shown(value)}.")
    return [int(choices[name]) for name in names]


def settled(exercise: Exercise, reasons: list[str], facts: list[tuple[str, str]]) -> Solved:
    """What a judge returns: `Solved` with the facts. Raises `WrongAnswer` if there are reasons to refuse the answer."""
    if reasons:
        raise WrongAnswer(exercise, reasons)
    return Solved(exercise.title, facts)


@lru_cache(maxsize=1)
def exercises() -> dict[str, Exercise]:
    """All exercises by name. Raises `ConfigError` for a bad entry in exercises.toml."""
    known, found = (KERNEL, *judges()), {}
    for name, (room, entry) in entries("exercises.toml").items():
        missing = {"title", "task", "hint", "judge"} - set(entry)
        if missing or entry["judge"] not in known:
            raise ConfigError(f"exercises.toml, {name}: needs title, task, hint and a judge of {', '.join(known)}.")
        rest = {key: value for key, value in entry.items() if key not in ("title", "task", "hint", "judge")}
        found[name] = Exercise(name, entry["title"], entry["task"], entry["hint"], entry["judge"], rest, room)
    return found


@checked
def exercise(name: str) -> Exercise:
    """An exercise by name. Raises `LabError` for an unknown name; the message lists similar names."""
    return one_of(exercises(), "exercise", name)
