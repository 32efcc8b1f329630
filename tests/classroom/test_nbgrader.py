"""nbgrader from end to end: courses are built, released, handed in by seven students, graded and commented.

One submission is right, one half right; the others are wrong, crash, never end, cheat in Python, or lack their checks.
"""

import os
import re
import subprocess
import sys

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="needs the extra course")

from nbgrader.api import Gradebook  # noqa: E402
from nbgrader.apps import NbGraderAPI  # noqa: E402
from traitlets.config import Config  # noqa: E402

from gemm_lab.config import data_dir  # noqa: E402
from gemm_lab.notebook_files import notebooks_of  # noqa: E402
from gemm_lab_classroom import course, nbgrader_steps  # noqa: E402
from gemm_lab_classroom.skeletons import code_lines, skeleton, solution  # noqa: E402
from tools import run_notebooks as run

pytestmark = pytest.mark.timeout(900)  # a busy machine only takes longer
NAME = "02_short"
KERNEL, CHOICE = "02_inner_product", "02_warp_tile"
RIGHT_KERNEL, RIGHT_CHOICE = solution(KERNEL), "choice = dict(warps_m=4, warps_n=2)"
# A student's Python that would let everything pass in a session of theirs, and would stop a grader that ran it.
CHEAT = """
import gemm_lab.notebook.exercises as e, gemm_lab_classroom.grading as g, gemm_lab.measure.check as c, subprocess, sys
e.Exercise.check = lambda self, *a, **k: None
g.grade = lambda name, text, **k: g.Grade(name, True, 1.0, "", 0)
c.verdict = lambda *a, **k: c.Verdict(True, "", None, 0.0, 0.0)
subprocess.Popen = None
sys.exit = lambda *a: None
"""
ENDLESS = "for (;;) if (k_tile < 0) break;\n"


def short_notebook(folder):
    """Two exercises of notebooks 02a and 02b, a kernel and a choice, and nothing else."""
    book, second = (nbformat.read(path, as_version=4) for path in notebooks_of("02"))
    book.cells += second.cells
    names = [re.findall(r'lab\.exercise\("(\w+)"\)', cell.source) for cell in book.cells]
    starts = [names.index([name]) for name in (KERNEL, CHOICE)]
    book.cells = [book.cells[0], *(cell for start in starts for cell in book.cells[start : start + 5])]
    nbformat.write(book, folder / f"{NAME}.ipynb")
    return folder / f"{NAME}.ipynb"


def nbgrader(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    return done.returncode, done.stdout + done.stderr


def in_this_process(folder, step, assignment):
    """The same without the start of another program, which takes longer than the step."""
    config = Config()
    config.CourseDirectory.course_id, config.CourseDirectory.root = "gemm_lab", str(folder)
    nbgrader_steps.configure(config)
    found = getattr(NbGraderAPI(config=config), step)(assignment)
    return int(not found["success"]), str(found)


def answer(book, name):
    (cell,) = (c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") == f"answer_{name}")
    return cell


def hand_in(folder, student, kernel=RIGHT_KERNEL, choice=RIGHT_CHOICE, change=lambda book: None, files=None):
    """The released notebook with these answers, as a student hands it in."""
    book = nbformat.read(folder / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    cell = answer(book, KERNEL)
    cell.source = cell.source.split("\n")[0] + "\n" + kernel
    answer(book, CHOICE).source = choice
    change(book)
    target = folder / "submitted" / student / NAME
    target.mkdir(parents=True)
    nbformat.write(book, target / f"{NAME}.ipynb")
    for name, text in (files or {}).items():
        (target / name).write_text(text)


def cheat(book):
    book.cells.insert(1, nbformat.v4.new_code_cell(CHEAT))
    for cell in book.cells:  # and the check says that it passed
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.source, cell.metadata.nbgrader["points"] = "pass", 1000
            cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "10"}, execution_count=1)]


def crash(book):
    book.cells.insert(1, nbformat.v4.new_code_cell("import os\nos._exit(0)"))


def without_checks(book):
    book.cells = [cell for cell in book.cells if not cell.metadata.get("nbgrader", {}).get("grade")]


SPOILED = {"numpy.py": "raise SystemExit(0)", "sitecustomize.py": "raise SystemExit(0)", "gemm_lab.py": ""}
STUDENTS = {
    "half right": dict(choice="choice = dict(warps_m=1, warps_n=8)", change=cheat, files=SPOILED),
    "right": dict(files=SPOILED),
    "cheating": dict(kernel=skeleton(KERNEL), choice="choice = dict(warps_m=1, warps_n=8)", change=cheat),
    "wrong": dict(kernel=RIGHT_KERNEL.replace("__syncthreads();", ""), choice="choice = dict(warps_m=8, warps_n=1)"),
    "crashing": dict(kernel=RIGHT_KERNEL.replace("[k]", "[k + (1 << 20)]"), change=crash),
    "endless": dict(kernel=ENDLESS + RIGHT_KERNEL, choice="while True: pass"),
    "unchecked": dict(choice="import os; choice = dict(warps_m=os.cpu_count(), warps_n=2)", change=without_checks),
}
QUICK = ("half right",)  # has a course of its own, so that `make test` grades no others


def cases(*some):
    """Test cases whose first value is a student."""
    return [case if case[0] in QUICK else pytest.param(*case, marks=pytest.mark.long) for case in some]


@pytest.fixture(scope="module")
def course_of(tmp_path_factory):
    """`course_of(student)`: the folder of a course after all steps, and what the steps said. Built when it is asked for."""
    made = {}

    def build(students):
        folder = tmp_path_factory.mktemp("classroom") / "course"
        course.build(folder, [short_notebook(tmp_path_factory.mktemp("source"))])
        step = in_this_process if students == QUICK else nbgrader
        said = {"generate": step(folder, "generate_assignment", NAME)}
        for student in students:
            hand_in(folder, student, **STUDENTS[student])
        said["autograde"] = nbgrader(folder, "autograde", NAME)
        said["feedback"] = step(folder, "generate_feedback", NAME)
        return folder, said

    def of(student):
        students = QUICK if student in QUICK else tuple(name for name in STUDENTS if name not in QUICK)
        if students not in made:
            made[students] = build(students)
        return made[students]

    return of


@pytest.fixture(scope="module")
def classroom(course_of):
    return course_of(QUICK[0])


def scores(folder, student):
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        submission = book.find_submission_notebook(NAME, NAME, student)
        return {grade.name.removeprefix("check_"): (grade.score, grade.max_score) for grade in submission.grades}


@pytest.mark.long
@pytest.mark.parametrize(("student",), cases(("half right",), ("right",)))
def test_every_step_succeeds(course_of, student):
    for step, (code, said) in course_of(student)[1].items():
        assert code == 0, f"{step}: {said[-3000:]}"
        assert "SAWarning" not in said, "SQLAlchemy's warning about nbgrader's own steps is in nobody's way"


@pytest.mark.long
def test_the_release_has_stubs_in_the_language_of_the_cell(classroom):
    book = nbformat.read(classroom[0] / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    cuda, python = answer(book, KERNEL).source, answer(book, CHOICE).source
    assert "// YOUR CODE HERE" in cuda and "NotImplementedError" not in cuda + python
    assert code_lines(cuda.split("\n", 1)[1]) == code_lines(skeleton(KERNEL))
    assert python == "choice = dict(warps_m=0, warps_n=0)\n# YOUR CODE HERE"
    text = (classroom[0] / "release" / NAME / f"{NAME}.ipynb").read_text()
    assert "SOLUTION" not in text and "acc += smem_a" not in text


@pytest.mark.long
@pytest.mark.parametrize(
    ("student", "kernel", "choice"),
    cases(
        ("half right", 10, 0),
        ("right", 10, 10),
        ("wrong", 0, 0),
        ("crashing", 0, 10),
        ("endless", 0, 0),
        ("cheating", 0, 0),
        ("unchecked", 10, 0),
    ),
)
def test_the_grades(course_of, student, kernel, choice):
    assert scores(course_of(student)[0], student) == {KERNEL: (kernel, 10), CHOICE: (choice, 10)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("student", "says"),
    cases(
        ("half right", "A tile, used and given back: solved."),
        ("half right", "Judged with seed"),
        ("right", "A tile, used and given back: solved."),
        ("wrong", "The result is right on the simulator, by luck. A hazard"),
        ("wrong", "Your warps read 1280 elements for each step of k; 1024 is possible."),
        ("crashing", "accessed 4 bytes at shared address"),
        ("endless", "it spins at cell:2"),
        ("endless", "The cell does not say choice = dict(…)."),
        ("cheating", "elements are wrong"),
        ("unchecked", "Write the choice with plain numbers"),
        ("right", "Judged with seed"),
    ),
)
def test_the_feedback_says_why(course_of, student, says):
    page = (course_of(student)[0] / "feedback" / student / NAME / f"{NAME}.html").read_text()
    assert says in re.sub(r"&#39;", "'", page)


@pytest.mark.long
def test_the_source_runs_in_an_ordinary_session_and_its_checks_pass(classroom, tmp_path):
    """What a lecturer opens, and what a student sees who solves it: the checks are in the session here."""
    path = classroom[0] / "source" / NAME / f"{NAME}.ipynb"
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        cell.metadata.pop("tags", None)
    book.cells.insert(1, nbformat.v4.new_code_cell("import gemm_lab as lab\n%load_ext gemm_lab"))
    nbformat.write(book, tmp_path / "book.ipynb")
    assert run.execute(tmp_path / "book.ipynb", tmp_path / "out.ipynb", limit_s=240) is None


# ---- All of it ----


def refusals(path):
    """What the checks of a graded notebook say against it."""
    return [
        output.evalue
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "error"
    ]


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", sorted(data_dir("notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_solutions_of_every_assignment_get_all_points_and_the_release_none(path, tmp_path):
    if "lab.exercise(" not in path.read_text():
        pytest.skip("no exercise")
    name, folder = path.stem, tmp_path / "course"
    course.build(folder, [path])
    code, said = nbgrader(folder, "generate_assignment", name)
    assert code == 0, said
    for student, kind in (("solved", "source"), ("untouched", "release")):
        target = folder / "submitted" / student / name
        target.mkdir(parents=True)
        (target / path.name).write_text((folder / kind / name / path.name).read_text())
    code, said = nbgrader(folder, "autograde", name)
    assert code == 0, said
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        solved, untouched = (book.find_submission_notebook(name, name, student) for student in ("solved", "untouched"))
        assert solved.score == solved.max_score > 0, refusals(folder / "autograded" / "solved" / name / path.name)
        assert untouched.score == 0 and untouched.max_score == solved.max_score
