"""Wrong answers that the judges have to refuse, each with the words that the refusal holds; and other right ones.

    python -m tools.wrong_answers        judges them all and counts
    python -m tools.wrong_answers 06_swizzle

They stand in notebooks/wrong_answers/EXERCISE.toml as tables `wrong` (what, says) and `right` (what). An answer is
`text`; or the solution with `changes`, pairs of words, and without the lines that hold the words in `drop`; or the text
of another kernel's region, `other = [kernel, region]`; or the kernel's own, `region = true`; or the numbers of a
`choice`. On top of these, every kernel exercise gets those of _tricks.toml: its right solution with an attempt to
reach beyond it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from classroom.skeletons import all_handouts, skeleton, solution
from gemm_lab.catalog import tomllib
from gemm_lab.config import data_dir
from gemm_lab.lab import kernel
from gemm_lab.notebook.exercises import Exercise, exercises, kernel_of
from gpu_simulator.errors import ConfigError, LabError


@lru_cache(maxsize=1)
def tricks() -> dict[str, tuple[str, str, str]]:
    """What is put before and behind every right solution, and words of its refusal, by what it does."""
    path = data_dir("notebooks") / "wrong_answers" / "_tricks.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))["trick"]
    return {entry["what"]: (entry.get("before", ""), entry.get("behind", ""), entry["says"]) for entry in table}


@dataclass(frozen=True)
class Answer:
    """An answer to an exercise. `says` are words of its refusal, "" for a right one; `kind`: mistake, trick, …"""

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
        """What the judge says against it; None if it is accepted."""
        try:
            if self.choice is not None:
                self.exercise.check(**self.choice)
            else:
                self.exercise.check(kernel_of(self.exercise, self.text), seed=seed)
        except LabError as error:
            return str(error)
        return None

    def problem(self) -> str:
        """Why the judge is wrong about it; "" where it is right."""
        refusal = self.refusal()
        if not self.says:
            return f"{self.name}: refused, and it is right. {refusal}" if refusal else ""
        if refusal is None:
            return f"{self.name}: accepted."
        return "" if self.says in refusal else f"{self.name}: refused without “{self.says}”. {refusal}"


def altered(name: str, entry: Mapping[str, Any]) -> str:
    """The text of an entry; a `ConfigError` if it names words that the solution does not hold."""
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
    """What the judge of an exercise is tried with: the solution, the skeleton, its own table, the tricks."""
    task = exercises()[name]
    path = data_dir("notebooks") / "wrong_answers" / f"{name}.toml"
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
    """Judge them all, print a line for each exercise and the sums; 1 if a judge was wrong anywhere."""
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
