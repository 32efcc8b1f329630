"""docs/OWN_CHAPTER.md: the course that it writes is built, installed, tried and graded as it stands there."""

import os
import re
import site
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/OWN_CHAPTER.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^\*\*`([^`]+)`\*\*\n\n```\w+\n(.*?)^```$", PAGE, re.M | re.S))


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Runs a program in an environment in which the course is installed; returns what it prints."""
    course, home = tmp_path_factory.mktemp("my_course"), tmp_path_factory.mktemp("environment")
    for name, text in FILES.items():
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_text(text, encoding="utf-8")
    venv.create(home, symlinks=os.name == "posix")
    own = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    (own / "ours.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*install, f"--target={own}", str(course)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # nbgrader calls alembic
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "packages")]), "PATH": programs}

    def run(program: str) -> str:
        command = [home / "bin" / "python", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, cwd=course, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_page_has_every_file_of_its_tree():
    tree = re.search(r"```\nmy_course/\n(.*?)```", PAGE, re.S)[1]
    for path in FILES:
        assert path.rpartition("/")[2] in tree, path
    assert len(FILES) == 8


def test_puzzle_and_prediction(python):
    said = python(
        """
import gemm_lab as lab
puzzle = lab.puzzle("20_patch")
print(puzzle.check(puzzle.solution()))
try:
    puzzle.check(lambda lane: (lane % 4, lane // 4))
except lab.LabError as error:
    print(error)
print(lab.guess("20_sectors").answer(32).compare())
print(lab.puzzle("04_bank").title, "20_patch" in str(lab.progress()._table().lines()) or lab.progress().line)
"""
    )
    assert "A warp as a patch: solved. lanes tried 32" in said and "A warp as a patch: not yet." in said
    assert "It is 4 sectors" in said and "four addresses" in said


KERNEL = """
import gemm_lab as lab
from gemm_lab.notebook.exercises import kernel_of
task = lab.exercise("20_patch_kernel")
text = (task.room.folder / "solutions" / "20_patch_kernel.cu").read_text()
print(task.check(kernel_of(task, text)))
wrong = {"rung": lab.kernel("simt/01_naive").regions["place"], "row": text.replace("lane / 8", "lane / 4")}
for answer in wrong.values():
    try:
        task.check(kernel_of(task, answer))
    except lab.LabError as error:
        print(error)
"""


def test_the_exercise_takes_its_solution_and_refuses_others(python):
    solved, slow, wrong = python(KERNEL).strip().split("\n")
    assert "solved" in solved
    assert "not yet" in slow and "sectors" in slow, "the rung itself is right, and asks for too many"
    assert "not yet" in wrong


CELLS = re.findall(r"^```python\n(.*?)\n```$", PAGE.partition("## Install it")[2], re.M | re.S)
GRADED = f"""
import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config
from gemm_lab.notebook.exercises import exercise
from gemm_lab_classroom import course, nbgrader_steps
from pathlib import Path

NAME, STUDENT = "20_patches", "WHO"
FOLDER = Path("course_of_" + STUDENT).resolve()
nbformat.write(new_notebook(cells=[new_code_cell(text) for text in {CELLS!r}]), NAME + ".ipynb")
print(*course.build(FOLDER, [Path(NAME + ".ipynb")]))
config = Config()
config.CourseDirectory.course_id, config.CourseDirectory.root = "my_course", str(FOLDER)
nbgrader_steps.configure(config)
api, task = NbGraderAPI(config=config), exercise("20_patch_kernel")
assert (made := api.generate_assignment(NAME))["success"], made
book = nbformat.read(FOLDER / "release" / NAME / (NAME + ".ipynb"), as_version=4)
first, _, handed_out = book.cells[1].source.partition("\\n")
assert handed_out == {CELLS[1]!r}.partition("\\n")[2]
if STUDENT == "solved":
    right = (task.room.folder / "solutions" / "20_patch_kernel.cu").read_text()
    book.cells[1].source = first + "\\n" + right
target = FOLDER / "submitted" / STUDENT / NAME
target.mkdir(parents=True)
nbformat.write(book, target / (NAME + ".ipynb"))
assert (made := api.autograde(NAME, STUDENT))["success"], made
with api.gradebook as gradebook:
    print(gradebook.find_submission_notebook(NAME, NAME, STUDENT).score)
"""


@pytest.mark.long
@pytest.mark.parametrize("student, score", [("solved", 10.0), ("untouched", 0.0)])
def test_its_notebook_becomes_an_assignment_and_is_graded(python, student, score):
    pytest.importorskip("nbgrader", reason="needs the extra course")
    assert len(CELLS) == 3
    assert python(GRADED.replace("WHO", student)) == f"20_patches: 1 exercise, 10 points\n{score}\n"


BROKEN = """
import sys
sys.modules["my_course"] = None
import gemm_lab as lab
from gpu_simulator import SimulatorError
try:
    lab.puzzle("04_bank")
except SimulatorError as error:
    print(error)
"""


def test_a_course_that_cannot_be_imported_is_named(python):
    assert "The course my_course cannot be loaded" in python(BROKEN)


def test_the_lessons_are_such_a_course():
    points = [point for point in distribution("gemm_lab_lessons").entry_points if point.group == "gemm_lab.courses"]
    assert [point.value for point in points] == ["gemm_lab_lessons"]
