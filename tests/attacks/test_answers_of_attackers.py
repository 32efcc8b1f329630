"""Answers that try to get round the judge, one of each kind, and right ones in a style of their own.

answers/wrong/EXERCISE_IDEA.cu has to be refused, answers/right/EXERCISE_IDEA.cu accepted, with any seed that graders draw.
"""

import re
from pathlib import Path

import pytest

from gemm_lab.notebook.exercises import exercises
from gemm_lab_classroom.grading import judged

FOLDER = Path(__file__).parent / "answers"
NAMES = "|".join(sorted(exercises(), key=len, reverse=True))
ANSWERS = [(path.parent.name, re.match(NAMES, path.stem)[0], path) for path in sorted(FOLDER.glob("*/*.cu"))]


@pytest.mark.sampled(every=12)
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kind", "exercise", "path"), ANSWERS, ids=[f"{kind}-{path.stem}" for kind, _, path in ANSWERS]
)
def test_the_verdict(kind, exercise, path):
    with path.open(encoding="utf-8", newline="") as file:  # line ends as they were handed in
        found = judged(exercise, file.read(), 5)
    assert found.verdict == ("PASS" if kind == "right" else "FAIL"), found.message
    assert found.message and "Traceback" not in found.message


def test_they_are_many():
    assert len({exercise for _, exercise, _ in ANSWERS}) >= 25
    assert sum(kind == "wrong" for kind, *_ in ANSWERS) >= 35 and sum(kind == "right" for kind, *_ in ANSWERS) >= 25
