"""A small nbgrader course for tests of submissions. A word in an answer decides its grade, and no process is started."""

import json
import re
from pathlib import Path
from unittest import mock

import nbformat
import nbgrader.api
from alembic.script import ScriptDirectory
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from gemm_lab.notebook_files import notebooks_of
from gemm_lab_classroom import course, nbgrader_steps
from gemm_lab_classroom.grading import Grade

NAME = "02_short"
KERNEL, CHOICE = "02_inner_product", "02_warp_tile"
FIRST = "%%kernel simt/03 --region inner_product --as mine --exercise"
GOOD, BAD = f"{FIRST}\nRIGHT", "choice = dict(warps_m=1, warps_n=8)"


def version_of_the_schema() -> str:
    """Replaces nbgrader's function, which starts a process for each new course that imports nbgrader again."""
    return ScriptDirectory(Path(nbgrader.__file__).with_name("alembic")).get_current_head()


def by_a_word(name, text, **options):
    """Replaces `grading.grade`: text with RIGHT or warps_m=4 passes, with ILL it is not judged, and otherwise it fails."""
    passed = "RIGHT" in text or "warps_m=4" in text
    return Grade(
        name, passed, float(passed), f"{'Not judged: ' * ('ILL' in text)}Read: {text[:200]}", 1, "ILL" not in text
    )


class Course:
    """Two exercises of notebooks 02a and 02b, a kernel and a choice, released and graded with `by_a_word`."""

    def __init__(self, folder):
        book, second = (nbformat.read(path, as_version=4) for path in notebooks_of("02"))
        book.cells += second.cells
        names = [re.findall(r'lab\.exercise\("(\w+)"\)', cell.source) for cell in book.cells]
        starts = [names.index([name]) for name in (KERNEL, CHOICE)]
        book.cells = [book.cells[0], *(cell for start in starts for cell in book.cells[start : start + 5])]
        source = folder / f"{NAME}.ipynb"
        nbformat.write(book, source)
        self.folder = folder / "course"
        course.build(self.folder, [source])
        config = Config()
        config.CourseDirectory.course_id, config.CourseDirectory.root = "gemm_lab", str(self.folder)
        nbgrader_steps.configure(config)
        self.api = NbGraderAPI(config=config)
        with mock.patch.object(nbgrader.api, "get_alembic_version", version_of_the_schema):
            self.must(self.api.generate_assignment(NAME))

    @staticmethod
    def must(result):
        assert result["success"], result.get("error") or result.get("log")
        return result

    def released(self):
        return json.loads((self.folder / "release" / NAME / f"{NAME}.ipynb").read_text())

    def solved(self):
        """The released notebook as JSON with two answers that pass."""
        book = self.released()
        answer(book, KERNEL)["source"] = GOOD
        answer(book, CHOICE)["source"] = "choice = dict(warps_m=4, warps_n=2)"
        return book

    def hand_in(self, student, data):
        target = self.folder / "submitted" / student / NAME
        target.mkdir(parents=True)
        path = target / f"{NAME}.ipynb"
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())

    def grade(self, student):
        self.must(self.api.autograde(NAME, student, force=True))
        self.must(self.api.generate_feedback(NAME, student, force=True))

    def scores(self, student):
        with self.book() as book:
            found = book.find_submission_notebook(NAME, NAME, student).grades
            return {one.name.removeprefix("check_"): one.auto_score for one in found}

    def book(self):
        return Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}")

    def page(self, student):
        return (self.folder / "feedback" / student / NAME / f"{NAME}.html").read_text()

    def messages(self, student):
        """The outputs of all checks as one text."""
        book = nbformat.read(self.folder / "autograded" / student / NAME / f"{NAME}.ipynb", as_version=4)
        outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
        return "\n".join(output.get("evalue", "") or output.get("data", {}).get("text/plain", "") for output in outputs)


def marked(book, grade_id):
    """The number of the first cell with this grade_id."""
    return next(
        number
        for number, cell in enumerate(book["cells"])
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )


def answer(book, name):
    return book["cells"][marked(book, f"answer_{name}")]


def check(book, name):
    return book["cells"][marked(book, f"check_{name}")]
