"""The courses that are installed, and what they add to the lab.

A course is a package that names itself in its pyproject.toml:

    [project.entry-points."gemm_lab.courses"]
    my_course = "my_course"

The packages inside it are its rooms, one for each chapter. The lab looks there for

    puzzles.py or puzzles/    modules that register puzzles; the folder `solutions` beside them has their solutions
    exercises.toml            what `lab.exercise` asks; the room's folder `solutions` has the answers
    questions.toml            what `lab.guess` asks
    judges.py                 JUDGES = {name: function}: the checks of exercises that are not about a kernel, and
                              CRITERIA = [...]: what exercises about a kernel may ask beyond a right result

and in the course itself for NAMES and WIDGETS, {name: module}: the homes of `lab.name`, and of
`gemm_lab.notebook.widgets.name`.
docs/OWN_CHAPTER.md explains each with an example.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from gemm_lab.catalog import tomllib
from gemm_lab.source_text import listed
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import shown
from gpu_simulator.errors import ConfigError

T = TypeVar("T")

GROUP = "gemm_lab.courses"
NONE = "No course is installed; `pip install gemm_lab_lessons` brings the lessons of the notebooks."


@dataclass(frozen=True)
class Room:
    """The package of one chapter: its dotted name, and its folder."""

    package: str
    folder: Path

    def module(self, name: str) -> ModuleType | None:
        """The room's module or package `name`, imported; None if the room has none."""
        whole = f"{self.package}.{name}"
        return importlib.import_module(whole) if find_spec(whole) else None


@lru_cache(maxsize=1)
def courses() -> tuple[ModuleType, ...]:
    """The installed courses, in the order of their names. Raises `ConfigError` for one that cannot be imported."""
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            found.append(point.load())
        except Exception as error:
            raise ConfigError(
                f"The course {point.name} cannot be loaded: {type(error).__name__}: {error}. Mend it, or uninstall it."
            ) from error
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=1)
def rooms() -> tuple[Room, ...]:
    """The rooms of all courses, in the order of their names."""
    return tuple(
        Room(f"{course.__name__}.{part.name}", Path(part.module_finder.path) / part.name)
        for course in courses()
        for part in pkgutil.iter_modules(course.__path__)
        if part.ispkg
    )


@lru_cache(maxsize=2)
def entries(file: str) -> dict[str, tuple[Room, dict[str, Any]]]:
    """{name: (its room, its table)} of the tables in every room's `file`, which is exercises.toml or questions.toml.

    Raises `ConfigError` for a file that is no TOML, and for a name that two rooms use.
    """
    found: dict[str, tuple[Room, dict[str, Any]]] = {}
    for room in rooms():
        path = room.folder / file
        if not path.is_file():
            continue
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{path} is no TOML: {error}.") from None
        if double := set(table) & set(found):
            name = min(double)
            raise ConfigError(f"{file}: both {found[name][0].package} and {room.package} have an entry {name}.")
        found |= {name: (room, entry) for name, entry in table.items()}
    return found


@lru_cache(maxsize=1)
def judges() -> dict[str, Callable[..., Any]]:
    """The JUDGES of all rooms: checks of exercises that are not about a kernel, by name."""
    return {name: judge for module in _judging() for name, judge in getattr(module, "JUDGES", {}).items()}


@lru_cache(maxsize=1)
def criteria() -> tuple[Any, ...]:
    """The CRITERIA of all rooms, objects of `gemm_lab.notebook.judges.criteria.Criteria`."""
    return tuple(one for module in _judging() for one in getattr(module, "CRITERIA", ()))


def _judging() -> list[ModuleType]:
    return [module for room in rooms() if (module := room.module("judges"))]


def import_puzzles() -> None:
    """Import the modules of all rooms that register puzzles."""
    for room in rooms():
        package = room.module("puzzles")
        for part in pkgutil.iter_modules(getattr(package, "__path__", ())):
            importlib.import_module(f"{package.__name__}.{part.name}")


def one_of(known: Mapping[str, T], what: str, name: str) -> T:
    """The puzzle, exercise or question of this name, which is `what`; else a `LabError` that lists similar names."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.3)
    near = near or [other for other in known if name and other.startswith(name[:2])]
    some = f"A name begins with the number of its notebook, such as {listed(list(known)[:3])}." if known else NONE
    raise LabError(f"There is no {what} {shown(name)}. {f'Did you mean {listed(near)}?' if near else some}")


def added(table: str) -> dict[str, str]:
    """{name: module} of what the courses add; table: "NAMES", to the lab, or "WIDGETS", to the list of widgets."""
    return {name: home for course in courses() for name, home in getattr(course, table, {}).items()}
