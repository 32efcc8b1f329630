"""What exercises about a kernel ask beyond a right result and the counts of a run: a course brings it.

`judges.py` of a room has CRITERIA = [...] with objects of this class (`gemm_lab.courses.criteria`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from gemm_lab.lab import Kernel
from gpu_simulator.compiler import Compiled


class Criteria:
    """Criteria that exercises.toml names by their keys; none of these methods refuses an answer.

    wanted: the keys of the exercise.   counts: the keys whose bounds `of_machine_code` holds.
    """

    counts: Collection[str] = ()

    def of_text(self, text: str, first_line: int, wanted: Mapping[str, Any]) -> list[str]:
        """Sentences that refuse the text of an answer; `first_line` is the number of its first line in the cell."""
        return []

    def of_wrong_result(self, answer: Kernel, wanted: Mapping[str, Any]) -> list[str]:
        """Sentences that explain a wrong result."""
        return []

    def of_machine_code(
        self, compiled: Compiled, rung: Compiled, wanted: Mapping[str, Any]
    ) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """(facts, {missed key: reason}) of the kernel that the simulator has run; rung: the same without the edit."""
        return [], {}

    def of_run(self, run: Any, wanted: Mapping[str, Any]) -> str:
        """A sentence that refuses a run with a right result, "" for none."""
        return ""
