"""Regions of a kernel that an exercise further down in the notebook asks for, and a source without their lines.

A card that shows a whole kernel leaves these lines out, because in the kernel's file they can be the solution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from gemm_lab.courses import entries
from gemm_lab.lab import Kernel
from gemm_lab.lab.actions import source
from gemm_lab.notebook.remembered.solved import solved_so_far
from gemm_lab.notebook_files import cells_of_the_series


def later_than(exercise: str) -> dict[str, str]:
    """{region: exercise} of the other regions of its kernel that exercises after it, in its notebook, ask for.

    An exercise that does not exist has nothing after it.
    """
    asked = _asked()
    place = next((place for place, (name, _, _) in enumerate(asked) if name == exercise), None)
    if place is None:
        return {}
    _, kernel, own = asked[place]
    found = _regions(kernel, exercise[:2], asked[place + 1 :])
    return {region: name for region, name in found.items() if region != own}


def later_than_cell(line: str, kernel: str) -> dict[str, str]:
    """{region: exercise} of the exercises about `kernel` that come after a cell of a notebook.

    line: the first line of the cell, without `%%kernel`. A cell that is in no notebook has nothing after it.
    """
    for number, lines in _first_lines():
        if line.strip() in lines:
            below = [other.split() for other in lines[lines.index(line.strip()) + 1 :]]
            regions = {words[words.index("--region") + 1] for words in below if {"--region", "--exercise"} <= {*words}}
            return {region: name for region, name in _regions(kernel, number, _asked()).items() if region in regions}
    return {}


def hidden_lines(made: Kernel, later: Mapping[str, str]) -> dict[tuple[str, int], str]:
    """{(file, line number): exercise} of every line that is left out. Regions with the learner's own text stay."""
    spec = made.spec
    return {
        (spec.file, number): name
        for region, name in later.items()
        if region not in made.edits
        for number in range(spec.regions[region].first_line, spec.regions[region].last_line + 1)
    }


def listing_without(made: Kernel, later: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    """The lines of `source.listing`, with one line in place of each region that is left out."""
    for file, number, text in left_out(source.listing(made), hidden_lines(made, later)):
        if text is not None:
            yield file, number, text


def left_out(
    listing: Iterable[tuple[str, int, str]], hidden: Mapping[tuple[str, int], str]
) -> Iterator[tuple[str, int, str | None]]:
    """The (file, line number, text) of a listing; of lines that are left out, the first names the exercise.

    hidden: as `hidden_lines`. The text of the other lines that are left out is None.
    """
    before = None
    for file, number, text in listing:
        name = hidden.get((file, number))
        if name is None:
            yield file, number, text
        else:
            indent = text[: len(text) - len(text.lstrip())]
            yield file, number, None if name == before else f"{indent}// … the exercise {name} asks for these lines"
        before = name


def not_solved(kernel: str, number: str) -> dict[str, str]:
    """{region: exercise} of the exercises of notebook `number` and of later ones that ask for a region of `kernel`.

    Exercises that the reader has solved are not among them.
    """
    solved = solved_so_far()
    return {
        region: name
        for name, its, region in reversed(_asked())  # of several that ask for a region, the first names it
        if its == kernel and name[:2] >= number and name not in solved
    }


def _regions(kernel: str, number: str, asked: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    return {region: name for name, its, region in asked if its == kernel and name[:2] == number}


@lru_cache(maxsize=1)
def _asked() -> tuple[tuple[str, str, str], ...]:
    """(exercise, kernel, region) of every exercise about a region, in the order of exercises.toml."""
    asked = entries("exercises.toml").items()
    return tuple((name, task["kernel"], task["region"]) for name, (_, task) in asked if "region" in task)


@lru_cache(maxsize=1)
def _first_lines() -> tuple[tuple[str, list[str]], ...]:
    """(number of the notebook, the first lines of its `%%kernel` cells, without the magic) of every notebook."""
    found = []
    for number, cells in cells_of_the_series().items():
        firsts = [text.partition("\n")[0] for kind, text in cells if kind == "code"]
        magics = [line.removeprefix("%%kernel ").strip() for line in firsts if line.startswith("%%kernel ")]
        found.append((number, magics))
    return tuple(found)
