"""Answers that try to get round the judge, one of each kind, and right ones in a style of their own.

answers/wrong/EXERCISE_IDEA.cu has to be refused, answers/right/EXERCISE_IDEA.cu accepted, with any seed that graders
draw. Those in answers.toml are the solution with a few words changed.
"""

import re
from pathlib import Path

import pytest

from gemm_lab.catalog import tomllib
from gemm_lab.notebook.exercises import exercises
from gemm_lab_classroom.grading import judged
from tools.wrong_answers import altered

FOLDER = Path(__file__).parent
NAMES = "|".join(sorted(exercises(), key=len, reverse=True))


def answers():
    """(kind, exercise, idea, text) of each, with line ends as they were handed in."""
    for path in sorted(FOLDER.glob("answers/*/*.cu")):
        with path.open(encoding="utf-8", newline="") as file:
            yield path.parent.name, re.match(NAMES, path.stem)[0], path.stem, file.read()
    for kind, entries in tomllib.loads((FOLDER / "answers.toml").read_text(encoding="utf-8")).items():
        for entry in entries:
            name = entry["exercise"]
            yield kind, name, f"{name} {entry['what']}", altered(name, entry)


ANSWERS = list(answers())


@pytest.mark.sampled(every=12)
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kind", "exercise", "text"),
    [(kind, exercise, text) for kind, exercise, _, text in ANSWERS],
    ids=[f"{kind}-{idea}" for kind, _, idea, _ in ANSWERS],
)
def test_the_verdict(kind, exercise, text):
    found = judged(exercise, text, 5)
    assert found.verdict == ("PASS" if kind == "right" else "FAIL"), found.message
    assert found.message and "Traceback" not in found.message


def test_they_are_many():
    assert len({exercise for _, exercise, *_ in ANSWERS}) >= 25
    assert sum(kind == "wrong" for kind, *_ in ANSWERS) >= 35 and sum(kind == "right" for kind, *_ in ANSWERS) >= 25
