"""Repairs submissions before nbgrader reads them: any file becomes a notebook that can be graded.

Students edit their notebooks in many ways: they copy, split or delete cells or turn them into Markdown, nbgrader's
metadata is changed or comes from another notebook, and some files are not JSON at all. `ReadAnything` makes a valid
notebook of any file. `SetRight` then assigns nbgrader's metadata of each graded cell, as it is in the gradebook, to one
cell. The feedback says what was decided, and everything else is graded as usual. Symbolic links are not followed: what
one names, such as the gradebook, would come back to the student with the feedback.
"""

from __future__ import annotations

import errno
import json
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import find_all_files

from gemm_lab.notebook.exercises import exercises
from gemm_lab.notebook_files import KERNEL
from gemm_lab_classroom.choice_text import Unreadable, choice_of
from gemm_lab_classroom.course import numbered
from gpu_simulator.errors import SimulatorError

ANSWER, CHECK = "answer_", "check_"  # the prefixes of the grade_id of an exercise's two cells
NOT_JUDGED = "NotJudged"  # the error name that represents the third verdict in a check's output
OWN = "gemm_lab"  # the metadata key for this module's notes for the feedback
MOST_BYTES = 200 << 20
PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}  # the attachments of Markdown that are kept
_MAKERS = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}
_IN_WORDS = {"code": "a code cell", "markdown": "a Markdown cell", "raw": "a raw cell"}


# ---- Any file ----


class ReadAnything(NotebookExporter):
    """An exporter that also reads files that are not notebooks. They become a notebook that says so."""

    def from_filename(self, filename: str, resources: Any = None, **options: Any) -> tuple[Any, Any]:
        try:
            if os.path.islink(filename) or os.path.islink(os.path.dirname(filename)):
                raise OSError(errno.ELOOP, "it or its folder is a symbolic link, which is not followed")
            return super().from_filename(filename, resources=resources, **options)
        except OSError as error:
            return self.from_notebook_node(unreadable(error.strerror or "it cannot be opened"), resources, **options)

    def from_file(self, file_stream: Any, resources: Any = None, **options: Any) -> tuple[Any, Any]:
        data = getattr(file_stream, "buffer", file_stream).read(MOST_BYTES + 1)
        book, links = notebook_of(data), links_in((resources or {}).get("metadata", {}).get("path", ""))
        if links:
            own = book.metadata.setdefault(OWN, nbformat.from_dict({"notes": []}))
            own.notes.append(f"{about_links(links)} Hand in the files themselves.")
        return self.from_notebook_node(book, resources=resources, **options)


def links_in(folder: str) -> list[str]:
    """The symbolic links in a folder and below it, by their paths in it; none for ""."""
    found = Path(folder).rglob("*") if folder else []
    names = (str(path.relative_to(folder)) for path in found if path.is_symlink())
    return sorted(name.encode("utf-8", "replace").decode() for name in names)


def about_links(links: list[str]) -> str:
    """A sentence that names symbolic links which were not followed."""
    more = f" and {len(links) - 5} more" if len(links) > 5 else ""
    return (
        f"Symbolic links are not followed, so these were left out: {', '.join(name[:80] for name in links[:5])}{more}."
    )


def files_handed_in(path: str, exclude: list[str] | None = None) -> list[str]:
    """Replaces nbgrader's `find_all_files` for a submission: the files in a folder and below it that are no links."""
    found = [] if os.path.islink(path.rstrip(os.sep)) else find_all_files(path, exclude)
    return [name for name in found if not os.path.islink(name)]


def unreadable(why: str) -> Any:
    """A notebook that says why the file could not be read as a notebook."""
    says = f"The file that was handed in could not be read as a notebook: {why}. Nothing of it was graded."
    book = new_notebook(cells=[new_markdown_cell(says, id="cell-000")])
    book.metadata[OWN] = {"notes": [says]}
    return book


def notebook_of(data: bytes | str) -> Any:
    """A valid notebook from the bytes of a file: sources and nbgrader's metadata, without outputs and other metadata.

    If the file is not a notebook, the result is that of `unreadable`.
    """
    if len(data) > MOST_BYTES:
        return unreadable(f"it has more than {MOST_BYTES >> 20} MB")
    text = data if isinstance(data, str) else data.decode(json.detect_encoding(data), "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return unreadable("it is not valid JSON" if text.strip() else "it is empty")
    try:
        if isinstance(found, dict) and isinstance(found.get("nbformat"), int) and found["nbformat"] < 4:
            found = json.loads(nbformat.writes(nbformat.reads(text, as_version=4)))
    except Exception:  # converting an old format may raise any exception
        return unreadable("it has an old format that cannot be converted")
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list):
        return unreadable("it holds no list of cells")
    book = new_notebook(cells=[_cell(cell) for cell in found["cells"] if isinstance(cell, dict)])
    book.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    return numbered(book)


def _cell(found: dict[str, Any]) -> Any:
    source, metadata = found.get("source", ""), found.get("metadata")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str)).encode("utf-8", "replace").decode()
    kind = found.get("cell_type")
    cell = _MAKERS[kind if kind in ("code", "markdown") else "raw"](text)
    files = found.get("attachments")
    if kind == "markdown" and isinstance(files, dict):
        kept = {
            name: {form: data for form, data in forms.items() if form in PICTURES and isinstance(data, str)}
            for name, forms in files.items()
            if isinstance(forms, dict)
        }
        cell.attachments = nbformat.from_dict(kept)
    if isinstance(metadata, dict):
        cell.metadata = nbformat.from_dict(
            {key: metadata[key] for key in ("nbgrader", OWN) if isinstance(metadata.get(key), dict)}
        )
    return cell


# ---- nbgrader's metadata ----


@dataclass(frozen=True)
class Part:
    """A cell of the assignment with nbgrader's metadata, as it is in the gradebook."""

    name: str
    cell_type: str
    source: str
    checksum: str
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float

    def marks(self) -> dict[str, Any]:
        """nbgrader's metadata of the cell, for a notebook."""
        found = {
            "grade_id": self.name,
            "schema_version": 3,
            "solution": self.solution,
            "grade": self.grade,
            "locked": self.locked,
            "task": self.task,
            "cell_type": self.cell_type,
            "checksum": self.checksum,
        }
        return found | ({"points": self.points} if self.grade or self.task else {})


def parts_of(db_url: str, notebook: str, assignment: str) -> dict[str, Part]:
    """The cells of an assignment's notebook that are in the gradebook, by name, in their order."""
    with Gradebook(db_url) as book:
        source = book.find_notebook(notebook, assignment)
        grades = {cell.name: cell.max_score for cell in source.grade_cells}
        tasks = {cell.name: cell.max_score for cell in source.task_cells}
        solutions = {cell.name for cell in source.solution_cells}
        return {
            cell.name: Part(
                cell.name,
                cell.cell_type,
                cell.source or "",
                cell.checksum,
                cell.locked,
                cell.name in grades,
                cell.name in solutions,
                cell.name in tasks,
                float({**grades, **tasks}.get(cell.name, 0)),
            )
            for cell in source.source_cells
        }


def exercise_in(grade_id: str, kind: str) -> str | None:
    """The exercise whose answer (kind: ANSWER) or check (CHECK) has this grade_id; None if there is none."""
    name = grade_id.removeprefix(kind)
    return name if grade_id.startswith(kind) and name in exercises() else None


def not_judged_in(cell: Any) -> list[str]:
    """The reasons why a check was not judged, from its outputs; empty if it was."""
    outputs = cell.outputs if cell.cell_type == "code" else []
    return [output.evalue for output in outputs if output.output_type == "error" and output.ename == NOT_JUDGED]


def exercise_of(cell: Any, kind: str) -> str | None:
    """The exercise whose answer (kind: ANSWER) or check (CHECK) this cell is; None if it is not one."""
    return exercise_in(cell.metadata.get("nbgrader", {}).get("grade_id", ""), kind)


class SetRight(NbGraderPreprocessor):
    """Assigns nbgrader's metadata of each part to one cell, puts missing checks back, and writes notes about it.

    If several cells have the same answer, the last changed one above its check counts, because that is the one that the
    check sees when the notebook is run from top to bottom.
    """

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        own = resources["nbgrader"]
        set_right(nb, parts_of(own["db_url"], own["notebook"], own["assignment"]))
        return nb, resources


def set_right(nb: Any, parts: dict[str, Part]) -> None:
    """Implements `SetRight`; changes the notebook `nb` in place."""
    notes: dict[str, list[str]] = defaultdict(list)  # by exercise
    everywhere = list(nb.metadata.pop(OWN, {}).get("notes", []))
    before: dict[int, str] = {}  # notes to be shown above cells, by the number of the cell
    places: dict[str, list[int]] = defaultdict(list)
    for number, cell in enumerate(nb.cells):
        marks = cell.metadata.get("nbgrader", {})
        cell.metadata = nbformat.from_dict({})
        name = marks.get("grade_id")
        if isinstance(name, str) and name in parts:
            places[name].append(number)
        elif isinstance(name, str) and name:
            before[number] = (
                f"This cell is marked as “{name[:80]}”, which is not part of this assignment. It was not judged."
            )
    chosen = {name: found[-1] for name, found in places.items()}
    for name, found in places.items():
        exercise = exercise_in(name, ANSWER)
        if exercise and len(found) > 1:
            chosen[name] = _counts(nb, exercise, found, chosen.get(CHECK + exercise), parts[name].source)
    for name, number in chosen.items():
        part, cell = parts[name], nb.cells[number]
        exercise = exercise_in(name, ANSWER) or exercise_in(name, CHECK)
        if len(places[name]) > 1:
            said = _about_copies(name, exercise, places[name].index(number), len(places[name]))
            notes[exercise or name].append(said)
            for other in places[name]:
                if other != number:
                    before[other] = f"Set aside, and not judged. {said}"
        if cell.cell_type != part.cell_type:
            if not part.locked:
                notes[exercise or name].append(
                    f"The cell marked “{name}” was handed in as {_IN_WORDS[cell.cell_type]}; its text was taken as "
                    f"that of {_IN_WORDS[part.cell_type]}."
                )
            nb.cells[number] = cell = _MAKERS[part.cell_type](cell.source)
        cell.metadata = nbformat.from_dict({"nbgrader": part.marks()})
    back = _missing(parts, chosen, len(nb.cells), notes)
    cells: list[Any] = []
    for number, cell in enumerate(nb.cells):
        cells += [new_markdown_cell(f"**{before[number]}**")] if number in before else []
        cells += [cell, *back.get(number, [])]
    nb.cells = [*back.get(-1, []), *cells]
    for cell in nb.cells:
        exercise = exercise_of(cell, CHECK)
        if exercise and (said := everywhere + notes[exercise]):
            cell.metadata[OWN] = nbformat.from_dict({"notes": said})
    numbered(nb)


def _counts(nb: Any, exercise: str, found: list[int], check: int | None, handed_out: str) -> int:
    """The number of the cell that counts as the answer, of the cells `found` that have its metadata."""
    usable = [number for number in found if _is_answer(nb.cells[number].source, exercise, handed_out)] or found
    above = [number for number in usable if check is None or number < check] or usable
    return above[-1]


def _is_answer(source: str, exercise: str, handed_out: str) -> bool:
    """Whether a cell was changed and can be an answer. Half of a cell that was split, for example, cannot."""
    if source.strip() == handed_out.strip():
        return False
    if exercises()[exercise].judge == "kernel":
        return source.lstrip().startswith("%%")
    try:
        return bool(choice_of(source))
    except Unreadable:
        return True
    except SimulatorError:
        return False


def _about_copies(name: str, exercise: str | None, place: int, count: int) -> str:
    """A sentence about several cells with the same metadata, of which number `place` counts."""
    which = f"number {place + 1} of them from the top" if count > 2 else ("the upper one", "the lower one")[place]
    if exercise is None or name.startswith(CHECK):
        return f"The submission has {count} cells marked “{name}”; only {which} counts."
    return (
        f"The submission has {count} cells with the answer to {exercise}. Only {which} was judged: of those that "
        "were changed, the last one above the check. Delete the others, or copy their text into it."
    )


def _missing(
    parts: dict[str, Part], chosen: dict[str, int], count: int, notes: dict[str, list[str]]
) -> dict[int, list[Any]]:
    """The graded cells that the submission lacks, by the number of the cell after which to insert them; -1: at the top.

    Also adds a note about each of them to `notes`.
    """
    back: dict[int, list[Any]] = defaultdict(list)
    behind = -1
    for name, part in parts.items():
        if name in chosen:
            behind = chosen[name]
        elif part.grade or part.task:
            cell = _MAKERS[part.cell_type](part.source)
            cell.metadata = nbformat.from_dict({"nbgrader": part.marks()})
            back[min(behind, count - 1)].append(cell)
            exercise = exercise_in(name, CHECK)
            notes[exercise or name].append(f"The cell marked “{name}” was missing; it was put back.")
    return back
