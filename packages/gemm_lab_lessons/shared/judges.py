"""What exercises of several chapters ask: of a kernel, the criteria of the folder of that name; or a few numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemm_lab.lab import Kernel
from gemm_lab.notebook.exercises import Exercise, Solved, numbers_of, settled
from gemm_lab.notebook.judges.criteria import Criteria
from gemm_lab_lessons.shared.criteria import code_criteria
from gemm_lab_lessons.shared.criteria.brackets import sums_beside_xor
from gemm_lab_lessons.shared.criteria.fragment_check import explain_fragments
from gemm_lab_lessons.shared.criteria.wait_counts import too_many_waits
from gpu_simulator.compiler import Compiled


class LessonCriteria(Criteria):
    """`brackets`, `fragments`, `waits`, `full_waits`, and the counts of `code_criteria`."""

    counts = tuple(code_criteria.CODE_CRITERIA)

    def of_text(self, text: str, first_line: int, wanted: Mapping[str, Any]) -> list[str]:
        """Refuses a bare sum beside an XOR."""
        return sums_beside_xor(text, first_line) if wanted.get("brackets") else []

    def of_wrong_result(self, answer: Kernel, wanted: Mapping[str, Any]) -> list[str]:
        """Says which lane holds a wrong element."""
        return explain_fragments(answer) if wanted.get("fragments") else []

    def of_machine_code(
        self, compiled: Compiled, rung: Compiled, wanted: Mapping[str, Any]
    ) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """Counts in the machine code."""
        return code_criteria.judge_code(compiled, rung, wanted)

    def of_run(self, run: Any, wanted: Mapping[str, Any]) -> str:
        """Compares the waits with those of the rung's own text."""
        return too_many_waits(run, wanted)


CRITERIA = [LessonCriteria()]


def judge_numbers(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check a short exercise that asks for a few numbers.

    In exercises.toml, `right` has them, `asks` says what each of them counts, `slips` has tables of a number's name, a
    wrong value and what that value `says`, and `solved` is a sentence for the card of a right answer.
    """
    told, reasons = exercise.criteria, []
    names = tuple(told["right"])
    for name, value in zip(names, numbers_of(exercise, choices, names), strict=True):
        if value != told["right"][name]:
            slips = (slip["says"] for slip in told["slips"] if slip.get(name) == value)
            again = f"Count once more {told['asks'][name]}."
            reasons.append(f"{name} is not {value:,}. {next(slips, again)}")
    return settled(exercise, reasons, [*((name, f"{told['right'][name]:,}") for name in names), ("so", told["solved"])])


JUDGES = {"numbers": judge_numbers}
