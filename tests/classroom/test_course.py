"""`make course`: every notebook with exercises becomes an assignment that nbgrader can read."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gemm_lab.config import DOCUMENTS, data_dir
from gemm_lab.notebook.exercises import exercises
from gemm_lab.notebook.puzzle import puzzles
from gemm_lab_classroom import course
from gemm_lab_classroom.skeletons import BEGIN, code_lines, solution
from gemm_results.errors import LabError

ROOT = Path(__file__).resolve().parents[2]
ASKED, CHECKED = 'lab.exercise("00_coalesce")', 'lab.exercise("00_coalesce").check(answer)'
HANDED_OUT = """%%kernel simt/01_naive --region place --as answer --exercise
  const int row = blockIdx.y * BLOCK_M + threadIdx.x % BLOCK_M;
  const int col = blockIdx.x * BLOCK_N + threadIdx.x / BLOCK_M;"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    return folder, course.build(folder)


def cells_of(folder, kind):
    """{exercise: cell} of all assignments."""
    found = {}
    for path in sorted(folder.glob("source/*/*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if name.startswith(kind):
                assert name not in found, "a grade_id belongs to one cell"
                found[name.removeprefix(kind)] = cell
    return found


def test_every_exercise_is_asked_and_checked_once(built):
    answers, checks = cells_of(built[0], "answer_"), cells_of(built[0], "check_")
    assert set(answers) == set(checks) == set(exercises())
    assert sum(int(re.search(r"(\d+) points", line)[1]) for line in built[1]) == course.POINTS * len(exercises())
    for cell in checks.values():
        data = cell.metadata.nbgrader
        assert data.points == course.POINTS and data.grade and data.locked and not data.solution
    assert all(cell.metadata.nbgrader.solution and not cell.metadata.nbgrader.locked for cell in answers.values())


def test_an_answer_holds_the_solution_between_marks(built):
    for name, cell in cells_of(built[0], "answer_").items():
        if exercises()[name].judge == "kernel":
            first, _, text = cell.source.partition("\n")
            assert first.startswith("%%kernel ") and BEGIN in text
            marks = r"^\s*// (?:BEGIN|END) SOLUTION\n?"
            assert code_lines(re.sub(marks, "", text, flags=re.M)) == code_lines(solution(name))
        else:
            assert cell.source.count("choice = dict(") == 2


def test_a_check_names_the_variable_that_the_cell_binds(built):
    answers = cells_of(built[0], "answer_")
    for name, cell in cells_of(built[0], "check_").items():
        alias = re.search(r"--as (\w+)", answers[name].source)
        assert cell.source == f'lab.exercise("{name}").check({alias[1] if alias else "**choice"})'


def test_assignments_carry_their_pictures_and_no_outputs(built):
    for path in built[0].glob("source/*/*.ipynb"):
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        assert all(not cell.outputs for cell in book.cells if cell.cell_type == "code")
        for name in re.findall(r"src=\"([^\"]+)\"", "\n".join(cell.source for cell in book.cells)):
            assert (path.parent / name).is_file(), f"{path.name} shows {name}"


LINK = re.compile(r"\]\((?!https?:)([^()\s#]+)[^()\s]*\)")


def broken_links(folder):
    """The links of the assignments, and of the documents beside them, that lead to no file of the course."""
    texts = {path: path.read_text(encoding="utf-8") for path in folder.glob("source/*/docs/*.md")}
    for path in folder.glob("source/*/*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        texts[path] = re.sub(r"```.*?```|`[^`\n]*`", "", prose, flags=re.S)
    targets = [(path, target) for path, text in texts.items() for target in LINK.findall(text)]
    assert len(targets) > 50
    return [
        f"{path.parent.name}/{path.name}: {target}" for path, target in targets if not (path.parent / target).exists()
    ]


def test_the_links_of_an_assignment_lead_to_files_that_students_get(built, tmp_path):
    assert broken_links(built[0]) == []
    for folder in (built[0] / "source").iterdir():
        assert {path.name for path in folder.glob("docs/*.md")} == set(DOCUMENTS)
        (book,) = folder.glob("*.ipynb")
        assert "../docs/" not in book.read_text()
    shutil.copytree(built[0] / "source", tmp_path / "source")
    (tmp_path / "source/04_banks_and_wavefronts/docs/GLOSSARY.md").unlink()
    assert "04_banks_and_wavefronts/04_banks_and_wavefronts.ipynb: docs/GLOSSARY.md" in broken_links(tmp_path)


def test_a_second_build_keeps_the_settings_of_the_course(built):
    config = built[0] / "nbgrader_config.py"
    config.write_text(config.read_text() + "# ours\n")
    course.build(built[0], [data_dir("notebooks") / "04_banks_and_wavefronts.ipynb"])
    assert config.read_text().endswith("# ours\n")


def test_students_are_shown_no_folder_of_solutions_and_no_later_rung_before_its_exercise(built, tmp_path):
    name = "06a_t4_feeding_tensor_cores"
    for path in built[0].glob("source/*/*.ipynb"):
        book = nbformat.read(path, as_version=4)
        handed_out = [cell.source for cell in book.cells if not cell.metadata.get("nbgrader", {}).get("solution")]
        assert "solutions/" not in "\n".join(handed_out)
        if path.stem == name:
            later = next(number for number, text in enumerate(handed_out) if "--after 06_swizzle\n//" in text)
            assert "details" in handed_out[later - 1] and "(chunk ^ row % 8)" not in "\n".join(handed_out)
    course.build(tmp_path, [data_dir("notebooks") / f"{name}.ipynb"], unfolded=True)
    text = (tmp_path / "source" / name / f"{name}.ipynb").read_text()
    assert "--after" not in text and "(chunk ^ row % 8)" in text


def test_what_a_teacher_has_changed_survives_a_second_build(tmp_path):
    names = ("04_banks_and_wavefronts", "12_scoreboard")
    paths = [data_dir("notebooks") / f"{name}.ipynb" for name in names]
    course.build(tmp_path, paths)
    theirs, ours = (tmp_path / "source" / name / f"{name}.ipynb" for name in names)
    fresh = ours.read_text()
    theirs.write_text(theirs.read_text().replace('"points": 10', '"points": 25'))
    (ours.parent / "docs" / "GLOSSARY.md").write_text("old")
    kept, built = course.build(tmp_path, paths)
    assert kept.startswith("04_banks_and_wavefronts: kept as it is") and f"delete {theirs.parent}" in kept
    assert built == "12_scoreboard: 1 exercise, 10 points" and '"points": 25' in theirs.read_text()
    assert ours.read_text() == fresh and (ours.parent / "docs" / "GLOSSARY.md").read_text() != "old"
    shutil.rmtree(theirs.parent)
    assert course.build(tmp_path, paths)[0] == "04_banks_and_wavefronts: 1 exercise, 10 points"
    (tmp_path / course.BUILT).write_text("{")
    assert all("kept as it is" in line for line in course.build(tmp_path, paths)), "nobody knows who wrote them"


def test_what_cannot_be_built_is_a_sentence(tmp_path, capsys):
    assert course.main([str(tmp_path / "none.ipynb"), "--into", str(tmp_path / "course")]) == 1
    assert "No assignment was built: " in (said := capsys.readouterr().err) and "none.ipynb" in said


def test_the_next_command_finds_nbgrader_and_the_folder(tmp_path, capsys):
    folder = tmp_path / "a course"
    course.main([str(data_dir("notebooks") / "04_banks_and_wavefronts.ipynb"), "--into", str(folder)])
    said = capsys.readouterr().out
    assert said.startswith("04_banks_and_wavefronts: 1 exercise, 10 points\n")
    activate, enter, run = said.partition("Next: ")[2].strip().split(" && ")
    assert shlex.split(enter) == ["cd", str(folder)] and run == "nbgrader generate_assignment NAME"
    assert shlex.split(activate) == [".", str(Path(sys.prefix) / "bin" / "activate")]


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (['lab.exercise("06_swizzle")'], "06_swizzle has no cell that checks it"),
        (['lab.exercise("06_swizzle")', 'lab.exercise("05_padding")'], "06_swizzle has no cell that checks it"),
        (
            ['lab.exercise("06_swizzle")', 'lab.exercise("05_padding").check(pad_bytes=8)'],
            "06_swizzle has no cell that",
        ),
        ([ASKED, HANDED_OUT, f"x = {CHECKED}"], "which begins with lab.exercise"),
        ([ASKED, CHECKED], "has no cell for its answer"),
        ([ASKED, CHECKED, HANDED_OUT], "has no cell for its answer"),
        ([ASKED, HANDED_OUT.replace(" --exercise", ""), CHECKED], "has no cell for its answer"),
        ([ASKED, HANDED_OUT, HANDED_OUT, CHECKED], "two cells for its answer"),
        ([ASKED, HANDED_OUT, CHECKED] * 2, "asks for 00_coalesce twice"),
        (['lab.exercise("99_none")', 'lab.exercise("99_none").check(x=1)'], "There is no exercise '99_none'"),
        (["1 + 1"], "has no exercise"),
    ],
)
def test_a_notebook_without_a_check_or_an_exercise_is_refused(cells, says, tmp_path):
    path = tmp_path / "book.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# x"), *map(new_code_cell, cells)]), path)
    with pytest.raises(LabError, match=says):
        course.assignment(path)


def test_what_is_no_notebook_is_refused_by_name(tmp_path, capsys):
    path = tmp_path / "book.ipynb"
    path.write_text("{", encoding="utf-8")
    assert course.main([str(path), "--into", str(tmp_path / "c")]) == 1
    assert f"{path} cannot be read as a notebook" in capsys.readouterr().err


def test_the_syllabus_counts_the_exercises_of_every_notebook():
    table = dict(re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", (ROOT / "docs/CLASSROOM.md").read_text(), re.M))
    assert len(table) == 19
    for path in data_dir("notebooks").glob("*.ipynb"):
        assert int(table[path.stem]) == len(set(named("exercise", path))), path.stem
    assert sum(map(int, table.values())) == len(exercises())
    small = dict(re.findall(r"^\| `(\w+)` \|.*\| (\d+) \| \d+ \|$", (ROOT / "docs/CLASSROOM.md").read_text(), re.M))
    for path in data_dir("notebooks").glob("*.ipynb"):
        assert int(small[path.stem]) == len(set(named("@lab.puzzle", path))), path.stem
    assert sum(map(int, small.values())) == len(puzzles())


def named(call, path):
    """The names that `lab.exercise` or `@lab.puzzle` is given in a notebook."""
    return re.findall(rf'{call}\(\\"(\w+)\\"\)', path.read_text(encoding="utf-8"))
