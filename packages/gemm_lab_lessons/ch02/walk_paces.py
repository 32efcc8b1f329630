"""The paces at which the tile walk can show a product: from tile to tile of a level, or step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gemm_lab_lessons.ch02.traffic_ledger import Step


class Pace(NamedTuple):
    """A name for the distance between two moments that a picture shows, and the steps at which it stops."""

    name: str
    stops: tuple[int, ...]


def paces_of(steps: Sequence[Step]) -> list[Pace]:
    """The paces at which a product can be shown, from the largest to single steps."""
    found = []
    for level, name in ((0, "block tile"), (1, "warp tile"), (2, "thread tile")):
        if any(step.kind == "copy" and step.level == level for step in steps):
            found.append(Pace(name, _with_the_end(steps, _copied(steps, level))))
    if not found:
        stored = [number for number, step in enumerate(steps) if step.kind == "write"]
        found.append(Pace("element of D", _with_the_end(steps, stored)))
    return [*found, Pace("step", tuple(range(len(steps))))]


def _copied(steps: Sequence[Step], level: int) -> list[int]:
    """The steps behind which a new pair of tiles at this level or above it is complete."""
    copies = [step.kind == "copy" and step.level <= level for step in steps]
    return [
        number
        for number, (step, copied) in enumerate(zip(steps, copies, strict=True))
        if copied and step.level == level and not (number + 1 < len(steps) and copies[number + 1])
    ]


def _with_the_end(steps: Sequence[Step], stops: list[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys([*stops, len(steps) - 1]))
