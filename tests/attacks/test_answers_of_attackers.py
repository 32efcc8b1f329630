"""Answers by which people who had not read the judge tried to get round it, and right ones in a style of their own.

answers/wrong/EXERCISE_IDEA.cu has to be refused, answers/right/EXERCISE_IDEA.cu accepted, with any seed that graders draw.
"""

import re
from pathlib import Path

import pytest
from attack_scale import FULL

from gemm_lab.notebook.exercises import exercises
from gemm_lab_classroom.grading import judged

FOLDER = Path(__file__).parent / "answers"
NAMES = "|".join(sorted(exercises(), key=len, reverse=True))
ANSWERS = [(path.parent.name, re.match(NAMES, path.stem)[0], path) for path in sorted(FOLDER.glob("*/*.cu"))]
CHOSEN = ANSWERS if FULL else ANSWERS[::8]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("kind", "exercise", "path"), CHOSEN, ids=[f"{kind}-{path.stem}" for kind, _, path in CHOSEN])
def test_the_verdict(kind, exercise, path):
    with path.open(encoding="utf-8", newline="") as file:  # line ends as they were handed in
        found = judged(exercise, file.read(), 5)
    assert found.verdict == ("PASS" if kind == "right" else "FAIL"), found.message
    assert found.message and "Traceback" not in found.message


def test_they_are_many():
    assert len({exercise for _, exercise, _ in ANSWERS}) >= 25
    assert sum(kind == "wrong" for kind, *_ in ANSWERS) >= 35 <= sum(kind == "right" for kind, *_ in ANSWERS)
