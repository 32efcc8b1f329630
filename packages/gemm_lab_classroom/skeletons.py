"""The three texts of a kernel exercise: the skeleton, the solution, and the solution with its key lines marked.

The skeleton is in the notebook, in the `%%kernel … --exercise` cell after `lab.exercise("NAME")`. The solution is in
`solutions` of the exercise's room. It is the skeleton with additional lines; comparing both texts shows which they are.
Where the cell hands out the region as it is in the kernel's file, right but slow, the whole region is to be rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nbformat

from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_lab.notebook.exercises import exercises
from gemm_results.errors import LabError

BEGIN, END = "// BEGIN SOLUTION", "// END SOLUTION"
TASK = re.compile(r"""lab\.exercise\(["'](\w+)["']\)(?!\.check\()""")


@dataclass(frozen=True)
class Handout:
    """A notebook cell with the skeleton of an exercise: its place, its `%%kernel` line, and the text below it."""

    exercise: str
    notebook: Path
    cell: int
    line: str
    text: str


def handouts(notebook: Path) -> list[Handout]:
    """The `%%kernel … --exercise` cells of a notebook in order. Each belongs to the last exercise named before it."""
    found, task = [], None
    for number, cell in enumerate(nbformat.read(notebook, as_version=4).cells):
        if cell.cell_type != "code":
            continue
        task = (TASK.findall(cell.source) or [task])[-1]
        first, _, text = cell.source.partition("\n")
        if task and first.startswith("%%kernel ") and "--exercise" in first.split():
            found.append(Handout(task, notebook, number, first, text.rstrip("\n")))
    return found


@lru_cache(maxsize=1)
def all_handouts() -> dict[str, Handout]:
    """The handouts of all exercises of the series, by name."""
    paths = sorted(data_dir("notebooks").glob("*.ipynb"))
    return {handout.exercise: handout for path in paths for handout in handouts(path)}


def skeleton(name: str) -> str:
    """The text that students start from in an exercise. Raises `LabError` if no notebook has it."""
    if name not in all_handouts():
        raise LabError(
            f'No notebook hands out {name}: a cell “%%kernel … --exercise” has to follow lab.exercise("{name}").'
        )
    return all_handouts()[name].text


def solution(name: str) -> str:
    """The solution that is shipped: CUDA for the region, or TOML with the numbers of a choice."""
    folder = exercises()[name].room.folder / "solutions"
    path = next(folder.glob(f"{name}.*"), None)
    if path is None:
        raise LabError(f"{folder} has no solution of {name}, such as {name}.cu.")
    return path.read_text(encoding="utf-8").rstrip("\n")


def code_of(line: str) -> str:
    """A line without its comment, and with every run of blanks replaced by one space."""
    return " ".join(re.sub(r"//.*", "", line).split())


def code_lines(text: str) -> list[str]:
    """The lines of a text that have code, as `code_of` gives them."""
    return [code for line in text.split("\n") if (code := code_of(line))]


def only_adds_lines(name: str, text: str) -> bool:
    """Whether the solution is the skeleton `text` with additional lines, ignoring comments."""
    rest = iter(code_lines(solution(name)))
    return all(line in rest for line in code_lines(text))


def is_rewritten(name: str, text: str) -> bool:
    """Whether the skeleton `text` is the region as it is in the kernel's file, so that all of it is to be rewritten."""
    wanted = exercises()[name].criteria
    return code_lines(text) == code_lines(catalog.kernel(wanted["kernel"]).regions[wanted["region"]].text)


def marked_solution(name: str, text: str) -> str:
    """The solution with the lines that it adds to the skeleton `text` between BEGIN and END, below the comments there.

    Without these parts it is the skeleton. Where the region `is_rewritten`, the whole solution is one such part. Raises
    `LabError` if the solution does not only add lines.
    """
    if is_rewritten(name, text):
        return "\n".join([BEGIN, solution(name), END])
    if not only_adds_lines(name, text):
        raise LabError(
            f"The solution of {name} is neither its skeleton plus lines, nor is the skeleton the region as it stands "
            "in the kernel's file; rewrite one of the two."
        )
    theirs, ours = text.split("\n"), solution(name).split("\n")
    result, own, position = [], [], 0

    def flush(until: int) -> None:
        result.extend(theirs[position:until])
        if own:
            indent = re.match(r"\s*", own[0])[0]
            result.extend([indent + BEGIN, *own, indent + END])
        own.clear()

    partner = _partners(theirs, ours)
    for number, line in enumerate(ours):
        if number not in partner:
            own.append(line)
            continue
        flush(partner[number])
        position = partner[number] + 1
        result.append(theirs[partner[number]])
    flush(len(theirs))
    return "\n".join(result)


def _partners(theirs: list[str], ours: list[str]) -> dict[int, int]:
    """{line of the solution: the same line of the skeleton}, without the lines that the solution adds.

    Lines are matched from the end. Their indentation must match too, unless the solution puts lines of the skeleton
    into a new block.
    """
    wanted = {number for number, line in enumerate(theirs) if code_of(line)}
    exact = _matched(theirs, ours, lambda line: line[: len(line) - len(line.lstrip())])
    return exact if wanted <= set(exact.values()) else _matched(theirs, ours, lambda line: "")


def _matched(theirs: list[str], ours: list[str], indent: Callable[[str], str]) -> dict[int, int]:
    def key(line: str) -> str:
        return indent(line) + (code_of(line) or line.strip())

    found, position = {}, len(theirs) - 1
    for number in range(len(ours) - 1, -1, -1):
        here = position
        while here >= 0 and key(theirs[here]) != key(ours[number]) and not code_of(theirs[here]):
            here -= 1  # skip a comment or an empty line that only the skeleton has
        if here >= 0 and key(theirs[here]) == key(ours[number]):
            found[number], position = here, here - 1
    return found
