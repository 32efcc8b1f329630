"""Adapts nbgrader to CUDA cells: stubs in C++, and grading in fresh processes instead of the student's session.

`configure(c)` in nbgrader_config.py replaces steps of nbgrader: in generate_assignment by `ClearKernelSolutions`; in
autograde by `files_handed_in`, `ReadAnything` and `SetRight` (`submission`), `GradeInFreshProcess` and `SaveVerdicts`;
in generate_feedback by `SafeFeedback` (`feedback_page`); in export by `ExportVerdicts`. No cell of a submission is
executed.
"""

from __future__ import annotations

import csv
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from nbformat.v4 import new_output
from nbgrader import converters
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.plugins import CsvExportPlugin
from nbgrader.preprocessors import ClearSolutions, Execute, InstantiateTests, NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import is_grade
from tqdm import tqdm
from traitlets import Float

from gemm_lab.notebook.exercises import exercise
from gemm_lab_classroom.course import HANDED_OUT
from gemm_lab_classroom.feedback_page import SafeFeedback
from gemm_lab_classroom.grading import LIMIT_S, Grade, grade
from gemm_lab_classroom.skeletons import is_rewritten
from gemm_lab_classroom.submission import (
    ANSWER,
    CHECK,
    NOT_JUDGED,
    OWN,
    ReadAnything,
    SetRight,
    about_links,
    exercise_in,
    exercise_of,
    files_handed_in,
    links_in,
    not_judged_in,
    parts_of,
)
from gemm_look import theme
from gemm_look.card import card, printed
from gpu_simulator.errors import SimulatorError

CUDA_STUB = "// YOUR CODE HERE"


class ClearKernelSolutions(ClearSolutions):
    """nbgrader's own step, with a stub in the cell's language: C++ in `%%kernel` cells, Python elsewhere.

    Where a whole region is to be rewritten, the stub is the skeleton.
    """

    def _replace_solution_region(self, cell: Any, language: str) -> bool:
        name, text = exercise_of(cell, ANSWER), cell.metadata.get(HANDED_OUT, "")
        if not cell.source.startswith("%%kernel "):
            return super()._replace_solution_region(cell, language)
        before = self.code_stub
        stub = text if name and text and is_rewritten(name, text) else before.get("cuda", CUDA_STUB)
        try:
            self.code_stub = {**before, "cuda": stub}
            return super()._replace_solution_region(cell, "cuda")
        finally:
            self.code_stub = before


class GradeInFreshProcess(NbGraderPreprocessor):
    """Replaces nbgrader's Execute: `grading.grade` grades every check of an exercise from the answer's text.

    The output of a check becomes an error (no points), a number (some of the points) or a card (all points). It is
    never empty, because nbgrader counts a check without output as passed. An error named `NOT_JUDGED` means that there
    is no grade (see `SaveVerdicts`).
    """

    limit_s = Float(LIMIT_S, help="Processor time in seconds that the process may take that judges one answer.").tag(
        config=True
    )

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        answers: dict[str, list[str]] = {}
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
                if name := exercise_of(cell, ANSWER):
                    answers.setdefault(name, []).append(cell.source)
        own = resources["nbgrader"]
        handed_out = {
            name: body(part.source)
            for name, part in parts_of(own["db_url"], own["notebook"], own["assignment"]).items()
        }
        checks = [cell for cell in nb.cells if cell.cell_type == "code" and is_grade(cell)]
        with self._progress(own, len(checks)) as bar:
            for cell in checks:
                cell.outputs = self._outputs(cell, answers, handed_out, bar)
                bar.update()
        return nb, resources

    def _progress(self, own: dict[str, str], checks: int) -> tqdm:
        """A bar over the exercises of all students who are graded, which begins with those of this student.

        On a terminal only; elsewhere each exercise has a line in nbgrader's log.
        """
        run = self.parent.parent  # the converter that exports each notebook; its assignments have a folder a student
        folders = sorted(run.assignments)
        here = run.coursedir.format_path(run.coursedir.submitted_directory, own["student"], own["assignment"])
        number = folders.index(here) if here in folders else 0
        return tqdm(
            total=len(folders) * checks,
            initial=number * checks,
            desc=f"{own['notebook']}, {own['student']} ({number + 1} of {len(folders)})",
            unit="exercise",
            dynamic_ncols=True,
            disable=None,
        )

    def _outputs(self, cell: Any, answers: dict[str, list[str]], handed_out: dict[str, str], bar: tqdm) -> list[Any]:
        name = exercise_of(cell, CHECK)
        if name is None:
            return [_refusal("This cell checks no exercise of gemm_lab; grade it by hand.")]
        texts = answers.get(name, [])
        notes = "".join(f"{note}\n" for note in cell.metadata.get(OWN, {}).get("notes", []))
        if len(texts) != 1:
            found = f"are {len(texts)} cells" if texts else "is no cell"
            return [_refusal(f"{notes}There {found} with the answer to {name}; it takes one.")]
        bar.set_postfix_str(name)
        if bar.disable:
            self.log.info("Judging %s in a process of its own", name)
        try:
            start = handed_out.get(ANSWER + name, "")
            found = grade(name, body(texts[0]), limit_s=self.limit_s, handed_out=start)
        except (SimulatorError, OSError) as error:
            return [_refusal(f"Not judged: {error} Run nbgrader autograde again.", NOT_JUDGED)]
        return outputs_of(found, float(cell.metadata.nbgrader["points"]), notes)


_init_assignment = Autograde.init_assignment


def _init_without_links(self: Autograde, assignment_id: str, student_id: str) -> None:
    """nbgrader's own `Autograde.init_assignment`, but it copies no symbolic links, and names them in the log."""
    if links := links_in(self._format_source(assignment_id, student_id)):
        self.log.warning("Submission of student %s for %s: %s", student_id, assignment_id, about_links(links))
    before, converters.base.find_all_files = converters.base.find_all_files, files_handed_in
    try:
        _init_assignment(self, assignment_id, student_id)
    finally:
        converters.base.find_all_files = before


def body(source: str) -> str:
    """The text of a cell below its `%%kernel` line. This line is ignored, since the exercise defines its options."""
    first, _, rest = source.partition("\n")
    return rest if first.lstrip().startswith("%%") else source


def outputs_of(found: Grade, points: float, notes: str = "") -> list[Any]:
    """The cell outputs that tell nbgrader a grade: a card for all points, a number for some, an error for none.

    notes: text about the submission, to be shown before the verdict.
    """
    if not found.judged:
        return [_refusal(notes + found.message, NOT_JUDGED)]
    task = exercise(found.exercise)
    said = (
        f"Task: {task.task}\n\n{notes}{found.message}\n"
        + f"Hint: {task.hint}\n" * (not found.passed)
        + f"\nJudged with seed {found.seed}. To repeat the verdict, put the text of your cell, without its first line, "
        f"into a file and type: python -m gemm_lab_classroom.grading {found.exercise} FILE --seed {found.seed}"
    )
    if found.passed:
        page = card(printed(said), theme.GOOD)
        return [new_output("display_data", {"text/html": page, "text/plain": said})]
    if found.share > 0:
        return [
            new_output("display_data", {"text/plain": said}),
            new_output("execute_result", {"text/plain": f"{found.share * points:g}"}, execution_count=1),
        ]
    return [_refusal(said)]


def _refusal(says: str, name: str = "WrongAnswer") -> Any:
    return new_output("error", ename=name, evalue=says, traceback=[says])


class SaveVerdicts(SaveAutoGrades):
    """nbgrader's own step, but a check that was not judged gets no score and is marked as needing manual grading."""

    def _add_score(self, cell: Any, resources: dict[str, Any]) -> None:
        super()._add_score(cell, resources)
        if reasons := not_judged_in(cell):
            marks = cell.metadata["nbgrader"]
            found = self.gradebook.find_grade(marks["grade_id"], self.notebook_id, self.assignment_id, self.student_id)
            found.auto_score, found.needs_manual_grade = None, True
            self.gradebook.db.commit()
            self.log.warning(
                "%s of student %s has no score. %s When the reason is gone: nbgrader autograde %s --force --student %s",
                marks["grade_id"],
                self.student_id,
                " ".join(reasons),
                self.assignment_id,
                self.student_id,
            )


def not_judged(gradebook: Any) -> dict[tuple[str, str], list[str]]:
    """{(assignment, student): names of the checks that have no score}."""
    found: dict[tuple[str, str], list[str]] = {}
    for assignment in gradebook.assignments:
        for submission in assignment.submissions:
            for book in submission.notebooks:
                for one in book.grades:
                    if exercise_in(one.name, CHECK) and one.auto_score is None and one.manual_score is None:
                        found.setdefault((assignment.name, submission.student.id), []).append(one.name)
    return found


class ExportVerdicts(CsvExportPlugin):
    """nbgrader's export of grades as CSV, with an empty score instead of 0 if a check was not judged."""

    def export(self, gradebook: Any) -> None:
        super().export(gradebook)
        path, open_ones = Path(self.to or "grades.csv"), not_judged(gradebook)
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = list(csv.reader(file)) or [[]]
        if not open_ones or "student_id" not in header:
            return
        for row in rows:
            facts = dict(zip(header, row, strict=False))
            names = open_ones.get((facts.get("assignment", ""), facts.get("student_id", "")))
            if names:
                self.log.warning(
                    "%s of student %s has no score, because %s was not judged: the log of autograde says why",
                    facts["assignment"],
                    facts["student_id"],
                    ", ".join(names),
                )
                for column in ("raw_score", "score"):
                    row[header.index(column)] = ""
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])


def configure(c: Any) -> None:
    """Set up nbgrader's configuration object `c`. To be called from nbgrader_config.py."""
    warnings.filterwarnings("ignore", "Object of type <Submitted")  # SQLAlchemy's, about nbgrader's own steps
    # nbgrader runs alembic by its name, which is not found if Python's environment has not been activated.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    steps = GenerateAssignment.class_traits()["preprocessors"].default()
    c.GenerateAssignment.preprocessors = [
        ClearKernelSolutions if step is ClearSolutions else step for step in steps if step is not InstantiateTests
    ]
    steps = Autograde.class_traits()["autograde_preprocessors"].default()
    ours = {Execute: GradeInFreshProcess, SaveAutoGrades: SaveVerdicts}
    c.Autograde.autograde_preprocessors = [ours.get(step, step) for step in steps]
    steps = Autograde.class_traits()["sanitize_preprocessors"].default()
    c.Autograde.sanitize_preprocessors = [SetRight, *steps]
    c.Autograde.exporter_class = ReadAnything
    Autograde.init_assignment = _init_without_links
    c.GenerateFeedback.exporter_class = SafeFeedback
    c.ExportApp.plugin_class = ExportVerdicts
    c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE", "cuda": CUDA_STUB}
    c.OverwriteCells.add_missing_cells = True  # a check that is missing in a submission is put back and graded
