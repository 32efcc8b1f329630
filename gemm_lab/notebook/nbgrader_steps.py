"""nbgrader for cells of CUDA: stubs in C++, and grades from fresh processes instead of the student's session.

`configure(c)` in nbgrader_config.py puts two steps in place of nbgrader's own: `ClearKernelSolutions` in
generate_assignment and `GradeInFreshProcess` in autograde. No cell of a submission is executed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from nbformat.v4 import new_output
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, Execute, InstantiateTests, NbGraderPreprocessor
from nbgrader.utils import is_grade
from traitlets import Float

from gemm_lab.api import html
from gemm_lab.errors import LabError
from gemm_lab.notebook import skeletons
from gemm_lab.notebook.exercises import exercises
from gemm_lab.notebook.grading import LIMIT_S, Grade, grade

ANSWER, CHECK = "answer_", "check_"  # what the grade_id of the two cells of an exercise begin with
CUDA_STUB = "// YOUR CODE HERE"


def exercise_of(cell: Any, kind: str) -> str | None:
    """The exercise that a cell is the answer to (`kind` ANSWER) or the check of (CHECK), if it is one."""
    name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    return name.removeprefix(kind) if name.startswith(kind) and name.removeprefix(kind) in exercises() else None


class ClearKernelSolutions(ClearSolutions):
    """nbgrader's own step with the stub of the cell's language: C++ in `%%kernel` cells, Python elsewhere.

    An exercise that begins with a region to be rewritten gets that region back as its stub.
    """

    def _replace_solution_region(self, cell: Any, language: str) -> bool:
        name = exercise_of(cell, ANSWER)
        if not cell.source.startswith("%%kernel "):
            return super()._replace_solution_region(cell, language)
        before = self.code_stub
        stub = skeletons.skeleton(name) if name in skeletons.REWRITTEN else before.get("cuda", CUDA_STUB)
        try:
            self.code_stub = {**before, "cuda": stub}
            return super()._replace_solution_region(cell, "cuda")
        finally:
            self.code_stub = before


class GradeInFreshProcess(NbGraderPreprocessor):
    """In place of nbgrader's Execute: every check of an exercise is judged by `grading.grade` from the answer's text.

    A check gets an error (no points), a number (some of them) or a card (all of them) as its output, never none: a
    check without output would count as passed.
    """

    limit_s = Float(LIMIT_S, help="Seconds after which the process that judges one answer is stopped.").tag(config=True)

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        answers: dict[str, list[str]] = {}
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
                if name := exercise_of(cell, ANSWER):
                    answers.setdefault(name, []).append(cell.source)
        for cell in nb.cells:
            if cell.cell_type == "code" and is_grade(cell):
                cell.outputs = self._outputs(cell, answers)
        return nb, resources

    def _outputs(self, cell: Any, answers: dict[str, list[str]]) -> list[Any]:
        name = exercise_of(cell, CHECK)
        if name is None:
            return [_refusal("This cell checks no exercise of gemm_lab; grade it by hand.")]
        texts = answers.get(name, [])
        if len(texts) != 1:
            return [_refusal(f"The submission has {len(texts)} cells with the answer to {name}; it takes one.")]
        self.log.info("Judging %s in a process of its own", name)
        try:
            found = grade(name, body(texts[0]), limit_s=self.limit_s)
        except (LabError, OSError) as error:
            return [_refusal(f"It could not be judged: {error}")]
        return outputs_of(found, float(cell.metadata.nbgrader["points"]))


def body(source: str) -> str:
    """What a cell holds below its `%%kernel` line. What that line says does not count: the exercise says it."""
    first, _, rest = source.partition("\n")
    return rest if first.lstrip().startswith("%%") else source


def outputs_of(found: Grade, points: float) -> list[Any]:
    """The outputs from which nbgrader reads a grade: a card for all points, a number for some, an error for none."""
    said = f"{found.message}\nJudged with seed {found.seed}."
    if found.passed:
        card = html.card(f"<pre style='white-space:pre-wrap;margin:0'>{html.escape(said)}</pre>", html.GOOD)
        return [new_output("display_data", {"text/html": card, "text/plain": said})]
    if found.share > 0:
        return [new_output("display_data", {"text/plain": said}),
                new_output("execute_result", {"text/plain": f"{found.share * points:g}"}, execution_count=1)]
    return [_refusal(said)]


def _refusal(says: str) -> Any:
    return new_output("error", ename="WrongAnswer", evalue=says, traceback=[says])


def configure(c: Any) -> None:
    """Set up nbgrader's configuration object `c`; call it from nbgrader_config.py."""
    # nbgrader starts alembic by name, which an environment that is not activated does not find.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    steps = GenerateAssignment.class_traits()["preprocessors"].default()
    c.GenerateAssignment.preprocessors = [ClearKernelSolutions if step is ClearSolutions else step for step in steps
                                          if step is not InstantiateTests]
    steps = Autograde.class_traits()["autograde_preprocessors"].default()
    c.Autograde.autograde_preprocessors = [GradeInFreshProcess if step is Execute else step for step in steps]
    c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE", "cuda": CUDA_STUB}
    c.OverwriteCells.add_missing_cells = True  # a check that a submission has deleted is put back and judged
