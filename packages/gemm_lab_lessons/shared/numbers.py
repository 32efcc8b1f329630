"""Checks short exercises that ask for a few numbers: what is right is computed, and slips stand beside the task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gemm_lab.notebook.exercises import Exercise, Solved, WrongAnswer, numbers_of

Right = dict[str, int]


def by_numbers(right: Callable[[], Right]) -> Callable[[Exercise, Any, dict[str, int]], Solved]:
    """A judge of an exercise whose numbers have to be those of `right()`, which has their names and values.

    In exercises.toml, `asks` says of each number what it counts, `slips` has tables of a number's name, a wrong value
    and what that value `says`, and `solved` is a sentence for the card of a right answer.
    """

    def judge(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
        wanted, told = right(), exercise.criteria
        given = dict(zip(wanted, numbers_of(exercise, choices, tuple(wanted)), strict=True))
        reasons = []
        for name, value in given.items():
            if value != wanted[name]:
                slips = (slip["says"] for slip in told.get("slips", ()) if slip.get(name) == value)
                asked = f"Count once more {told['asks'][name]}."
                reasons.append(f"{name} is not {value:,}. {next(slips, asked)}")
        if reasons:
            raise WrongAnswer(exercise, reasons)
        return Solved(
            exercise.title, [*((name, f"{value:,}") for name, value in wanted.items()), ("so", told["solved"])]
        )

    return judge
