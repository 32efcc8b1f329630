"""`make course`: writes the notebooks as assignments for nbgrader, into a separate folder.

    python -m gemm_lab_classroom.course [--into course] [NOTEBOOK ...]

Each notebook with exercises becomes source/NAME/NAME.ipynb, unless that has been changed since it was built: then it is
a teacher's, and stays. The cell of an exercise has the solution, with its key
lines between BEGIN and END; the check below it is locked and worth points. From this nbgrader generates the students'
version. Students get one folder for each assignment, so the pictures and documents that it links to lie inside it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from gemm_lab import catalog
from gemm_lab.catalog import tomllib
from gemm_lab.config import DOCUMENTS, data_dir
from gemm_lab.notebook.cells import parse_line
from gemm_lab.notebook.exercises import exercise
from gemm_lab.notebook_files import KERNEL
from gemm_lab_classroom.skeletons import TASK, marked_solution, solution
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError

POINTS = 10
HANDED_OUT = "gemm_lab_handed_out"  # in the metadata of an answer's cell: the text that students start from
CONFIG = '''"""nbgrader for this course. Run nbgrader in this folder; docs/CLASSROOM.md of gemm_lab says how."""

from pathlib import Path

from gemm_lab_classroom.nbgrader_steps import configure

c = get_config()  # noqa: F821  (nbgrader defines it)
c.CourseDirectory.course_id = "gemm_lab"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.GradeInFreshProcess.limit_s = 120.0  # seconds of processor time for one answer
configure(c)
'''
_CHECK = re.compile(r"""^(?:\w+|lab\.exercise\(["'](\w+)["']\))\.check\(""")
_ANSWERS = re.compile(r"\s*[A-Z][^.!?]*\bsolutions/[^.!?]*[.!?]?")  # a sentence that names a folder of solutions
BUILT = "built.json"  # of each assignment, the hash of the notebook as it was built
_BESIDE = re.compile(r"\.\./((?:images|docs)/[\w.-]+)")
_NOTEBOOK = re.compile(r"\]\((\d\d[a-c]?_\w+)\.ipynb")


def assignment(notebook: Path, unfolded: bool = False) -> nbformat.NotebookNode:
    """A notebook as an assignment. Raises `LabError` if it has no exercise, or one without just one answer and a check.

    unfolded: show the text of a region in a later rung although an exercise above asks for it.
    """
    try:
        book = nbformat.read(notebook, as_version=4)
    except (ValueError, nbformat.ValidationError) as error:
        raise LabError(f"{notebook} cannot be read as a notebook: {str(error)[:200].rstrip('.')}.") from None
    cells, open_task, found, alias = [], None, [], ""
    for cell in book.cells:
        tags = cell.metadata.get("tags")  # such as raises-exception: an error in this cell does not stop “Run All”
        cell = nbformat.from_dict({**cell, "metadata": {"tags": tags} if tags else {}})
        if cell.cell_type == "markdown":
            cell.source = _ANSWERS.sub("", cell.source).rstrip()
            cell.source = _NOTEBOOK.sub(r"](../\1/\1.ipynb", _BESIDE.sub(r"\1", cell.source))
            cells.append(cell)
            continue
        cell.outputs, cell.execution_count = [], None
        if named := TASK.findall(cell.source):
            if open_task:
                raise LabError(f"{notebook.name}: {_unchecked(open_task)}")
            open_task, alias = exercise(named[-1]).name, ""
            if open_task in found:
                raise LabError(f"{notebook.name} asks for {open_task} twice; a grade has one place for each exercise.")
            found.append(open_task)
        if open_task and cell.source.startswith("%%kernel ") and "--exercise" in cell.source.split("\n")[0].split():
            if alias:
                raise LabError(f"{notebook.name}: {open_task} has two cells for its answer; keep one with --exercise.")
            first, _, text = cell.source.partition("\n")
            marked = marked_solution(open_task, text.rstrip("\n"))
            cell.metadata[HANDED_OUT] = text.rstrip("\n")
            cells.append(_graded(cell, f"answer_{open_task}", solution_text=f"{first}\n{marked}"))
            alias = parse_line(first.removeprefix("%%kernel ")).alias
            continue
        if open_task and (check := _CHECK.match(cell.source)) and check[1] in (None, open_task):
            if exercise(open_task).judge == "kernel":
                if not alias:
                    cure = "put a cell “%%kernel NAME --region REGION --as answer --exercise” above its check"
                    raise LabError(f"{notebook.name}: {open_task} has no cell for its answer; {cure}.")
                call = f'lab.exercise("{open_task}").check({alias})'
            else:
                cells += _choice_cells(open_task)
                call = f'lab.exercise("{open_task}").check(**choice)'
            cells.append(_graded(cell, f"check_{open_task}", check=call))
            open_task = None
            continue
        if not unfolded and (name := _answered_by(cell.source, found)):
            cell.source = _folded(cell.source.split("\n")[0], name)
            if cells[-1].cell_type == "markdown" and not cells[-1].source.startswith("#"):  # it explains the text
                said = f"<details><summary>When the exercise is solved</summary>\n\n{cells[-1].source}\n\n</details>"
                cells[-1].source = said
        cells.append(cell)
    if open_task:
        raise LabError(f"{notebook.name}: {_unchecked(open_task)}")
    if not found:
        raise LabError(f"{notebook.name} has no exercise.")
    book.cells, book.metadata = cells, nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    nbformat.validate(numbered(book))
    return book


def _unchecked(name: str) -> str:
    return f'{name} has no cell that checks it, which begins with lab.exercise("{name}").check(…).'


def _answered_by(source: str, asked: list[str]) -> str:
    """The exercise among those asked above whose region a `%%kernel` cell shows, of the same ladder; "" if none."""
    line = parse_line(source.split("\n")[0].removeprefix("%%kernel ")) if source.startswith("%%kernel ") else None
    for name in reversed(asked if line and line.region and not line.exercise else []):
        wanted = exercise(name).criteria
        ladders = {catalog.kernel(one).ladder for one in (line.name, wanted.get("kernel", line.name))}
        if wanted.get("region") == line.region and len(ladders) == 1:
            return name
    return ""


def _folded(first: str, name: str) -> str:
    """The cell of a later rung without its text, which the lab puts back when the exercise is solved."""
    says = f"When the check of “{exercise(name).title}” has passed, run this cell: it shows the rung's own text."
    return f"{first} --after {name}\n// {says}"


def numbered(book: Any) -> Any:
    """The notebook itself, after all its cells have been given new, distinct ids."""
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number:03}"
    book.nbformat, book.nbformat_minor = 4, 5
    return book


def _choice_cells(name: str) -> list[Any]:
    """Two cells: one that asks for the numbers of a choice, and one for the answer."""
    numbers = tomllib.loads(solution(name))
    right = ", ".join(f"{key}={value}" for key, value in numbers.items())
    blank = ", ".join(f"{key}=0" for key in numbers)
    text = f"choice = dict({blank})\n### BEGIN SOLUTION\nchoice = dict({right})\n### END SOLUTION"
    return [
        new_markdown_cell("Put your numbers in place of the zeros."),
        _graded(new_code_cell(), f"answer_{name}", solution_text=text),
    ]


def _graded(cell: Any, name: str, solution_text: str = "", check: str = "") -> Any:
    """The cell with nbgrader's metadata: an answer that students edit, or a locked check that is worth points."""
    cell.source = solution_text or check
    data = {
        "grade_id": name,
        "schema_version": 3,
        "solution": bool(solution_text),
        "grade": bool(check),
        "locked": bool(check),
        "task": False,
        "cell_type": "code",
    }
    cell.metadata["nbgrader"] = nbformat.from_dict(data | ({"points": POINTS} if check else {}))
    return cell


def build(into: Path, notebooks: list[Path] | None = None, unfolded: bool = False) -> list[str]:
    """Write source/NAME with its pictures and documents for every notebook with exercises, and nbgrader_config.py.

    Returns a line of text for each assignment. An existing nbgrader_config.py is not changed, and neither is an
    assignment that has been changed since it was built. unfolded: see `assignment`.
    """
    into.mkdir(parents=True, exist_ok=True)
    lines, built = [], _built(into)
    for path in notebooks or sorted(data_dir("notebooks").glob("*.ipynb")):
        if not notebooks and not TASK.search(path.read_text(encoding="utf-8").replace('\\"', '"')):
            continue
        folder = into / "source" / path.stem
        target = folder / f"{path.stem}.ipynb"
        if target.exists() and _hash(target) != built.get(path.stem):
            lines.append(f"{path.stem}: kept as it is, because you have changed it; delete {folder} to build it anew")
            continue
        book = assignment(path, unfolded)
        shutil.rmtree(folder, ignore_errors=True)
        for beside in ("images", "docs"):
            (folder / beside).mkdir(parents=True)
        for name in sorted(set(re.findall(r"images/([\w.-]+)", "\n".join(c.source for c in book.cells)))):
            homes = (path.parent / "images", path.parent.parent / "images", data_dir("images"))
            if home := next((home for home in homes if (home / name).is_file()), None):
                shutil.copy(home / name, folder / "images" / name)
        for name in DOCUMENTS:  # all of them, because they link to each other
            shutil.copyfile(data_dir("docs") / name, folder / "docs" / name)
        nbformat.write(book, target)
        built[path.stem] = _hash(target)
        (into / BUILT).write_text(json.dumps(built, indent=2), encoding="utf-8")
        checks = sum(cell.metadata.get("nbgrader", {}).get("grade", False) for cell in book.cells)
        lines.append(f"{path.stem}: {checks} exercise{'s' * (checks != 1)}, {checks * POINTS} points")
    if not (into / "nbgrader_config.py").exists():
        (into / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    return lines


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _built(into: Path) -> dict[str, str]:
    """{assignment: hash of its notebook as it was built}; without the file, whatever is there counts as changed."""
    try:
        return dict(json.loads((into / BUILT).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def main(argv: list[str] | None = None) -> int:
    """The command line: builds the assignments and prints a line for each. Returns 0, or 1 with a sentence."""
    parser = argparse.ArgumentParser(description="Build the assignments for nbgrader.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="which notebooks (default: all with exercises)")
    parser.add_argument("--into", type=Path, default=Path("course"), help="folder of the course")
    parser.add_argument("--unfolded", action="store_true", help="show later rungs before their exercise is solved")
    options = parser.parse_args(argv)
    try:
        lines = build(options.into, options.notebooks or None, options.unfolded)
    except (SimulatorError, OSError) as error:
        print(f"No assignment was built: {error}", file=sys.stderr)
        return 1
    print(*lines, sep="\n")
    activate = shlex.quote(str(Path(sys.prefix) / "bin" / "activate"))
    print(f"\nNext: . {activate} && cd {shlex.quote(str(options.into))} && nbgrader generate_assignment NAME")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
