"""Tries the judge of a grade with wrong answers, which they have to refuse, and with further right ones.

    python -m tools.wrong_answers        tries all exercises and prints the counts
    python -m tools.wrong_answers 06_swizzle

The answers are in wrong_answers/EXERCISE.toml of each room of the lessons, as tables `wrong` (what, says) and `right`
(what); `says` are words that the refusal has to contain. An answer is one of these: a `text`; the solution with
replacements, `changes` (pairs of old and new text), and without the lines that contain a text in `drop`; the text of
another kernel's region, `other = [kernel, region]`; the text of the exercise's own region, `region = true`; or the
numbers of a `choice`. Every kernel exercise is also tried with tests/attacks/tricks.toml: its right solution together
with an attempt to cheat the check.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gemm_lab.catalog import tomllib
from gemm_lab.lab import kernel
from gemm_lab.notebook.exercises import Exercise, exercises, judge_kernel, kernel_of
from gemm_lab_classroom.judge.strict_rules import StrictRules
from gemm_lab_classroom.skeletons import all_handouts, skeleton, solution
from gpu_simulator.errors import ConfigError, SimulatorError

ROOT = Path(__file__).resolve().parents[1]


@lru_cache(maxsize=1)
def tricks() -> dict[str, tuple[str, str, str]]:
    """{what a trick does: (text before the solution, text after it, words of its refusal)}."""
    path = ROOT / "tests" / "attacks" / "tricks.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))["trick"]
    return {entry["what"]: (entry.get("before", ""), entry.get("behind", ""), entry["says"]) for entry in table}


@dataclass(frozen=True)
class Answer:
    """An answer to an exercise.

    kind: "solution", "skeleton", "wrong", "right" or "trick".   says: words of its refusal, "" for a right answer.
    """

    exercise: Exercise
    kind: str
    what: str
    says: str
    text: str = field(default="", repr=False)
    choice: Mapping[str, int] | None = None

    @property
    def name(self) -> str:
        return f"{self.exercise.name}: {self.what}"

    def refusal(self, seed: int = 0) -> str | None:
        """The message with which the check refuses the answer; None if it accepts it."""
        try:
            if self.choice is not None:
                self.exercise.check(**self.choice)
            else:
                judge_kernel(self.exercise, kernel_of(self.exercise, self.text), {}, seed, StrictRules())
        except SimulatorError as error:
            return str(error)
        return None

    def problem(self) -> str:
        """A sentence if the check treats the answer wrongly; "" if it treats it as it should."""
        refusal = self.refusal()
        if not self.says:
            return f"{self.name}: refused, and it is right. {refusal}" if refusal else ""
        if refusal is None:
            return f"{self.name}: accepted."
        return "" if self.says in refusal else f"{self.name}: refused without “{self.says}”. {refusal}"


def altered(name: str, entry: Mapping[str, Any]) -> str:
    """The text of an entry. Raises `ConfigError` if its `drop` or `changes` name text that the solution lacks."""
    if "text" in entry:
        return entry["text"].lstrip("\n")
    if "other" in entry or "region" in entry:
        wanted = exercises()[name].criteria
        other, region = entry.get("other", (wanted["kernel"], wanted["region"]))
        return kernel(other).regions[region]
    text = solution(name)
    for words in entry.get("drop", []):
        lines = text.split("\n")
        kept = [line for line in lines if words not in line]
        _require(name, words, len(kept) < len(lines))
        text = "\n".join(kept)
    for old, new in entry.get("changes", []):
        _require(name, old, old in text)
        text = text.replace(old, new)
    return text


def _require(name: str, words: str, there: bool) -> None:
    if not there:
        raise ConfigError(f"wrong_answers/{name}.toml: the solution does not hold “{words}”.")


def answers(name: str) -> Iterator[Answer]:
    """The answers for an exercise: the solution, the skeleton, those of its own file, and the tricks.

    An exercise that is not about a kernel has no skeleton and no tricks.
    """
    task = exercises()[name]
    path = task.room.folder / "wrong_answers" / f"{name}.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if task.judge != "kernel":
        yield Answer(task, "solution", "the solution", "", choice=tomllib.loads(solution(name)))
    else:
        yield Answer(task, "solution", "the solution", "", solution(name))
        if name in all_handouts():
            yield Answer(task, "skeleton", "the skeleton", "not yet", skeleton(name))
    for kind, says in (("wrong", None), ("right", "")):
        for entry in table.get(kind, []):
            choice = entry.get("choice")
            text = "" if choice is not None else altered(name, entry)
            yield Answer(task, kind, entry["what"], entry["says"] if says is None else says, text, choice)
    if task.judge == "kernel":
        for what, (before, behind, says) in tricks().items():
            yield Answer(task, "trick", what, says, before + solution(name) + behind)


def main(argv: list[str] | None = None) -> int:
    """Try all answers; print one line per exercise and the sums. Returns 1 if a check treated an answer wrongly."""
    parser = argparse.ArgumentParser(description="Try the judges of the exercises with right and wrong answers.")
    parser.add_argument("names", nargs="*", help="exercises (default: all)")
    names, problems, sums = parser.parse_args(argv).names or list(exercises()), [], [0, 0, 0, 0]
    print(f"{'exercise':20}{'right':>8}{'wrong':>8}{'tricks':>8}{'caught':>8}")
    for name in names:
        tried = list(answers(name))
        found = [answer.problem() for answer in tried]
        problems += filter(None, found)
        right = sum(not answer.says for answer in tried)
        tricks = sum(answer.kind == "trick" for answer in tried)
        wrong = len(tried) - right - tricks
        caught = sum(bool(answer.says) and not problem for answer, problem in zip(tried, found, strict=True))
        row = (right, wrong, tricks, caught)
        sums = [a + b for a, b in zip(sums, row, strict=True)]
        print(f"{name:20}" + "".join(f"{count:8}" for count in row), flush=True)
    print(f"{f'{len(names)} exercises':20}" + "".join(f"{count:8}" for count in sums))
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
