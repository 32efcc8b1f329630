"""What the still pictures of the zoom's levels share: their area, the place of the matrices, wrapped words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet

PANEL = 2.3  # inches of the words to the right of a picture
# Colours of the matrices: not used, used by some step, used by this one.
TINTS = {
    "A": ("#D5E6F6", "#9CC4E0", style.BLUE),
    "B": ("#FAEED6", "#EFC97C", "#D98F00"),
    "D": ("#DAF2E6", "#86CCB4", "#008F68"),
}
TINTS["C"] = TINTS["D"]


class Area(NamedTuple):
    """A rectangle of a sheet, in inches, with its top left corner at (x, y)."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def low(self) -> float:
        return self.y + self.h


def arrangement(area: Area, size: Iterable[int], with_c: bool = False, gap: float = 0.16) -> tuple[float, dict]:
    """(inches of an element, matrix -> its `Area`): B above D, A to its left, and C, if there is one, to its right.

    size: elements of [m, n, k].
    """
    m, n, k = size
    across, gaps = k + n * (2 if with_c else 1), gap * (2 if with_c else 1)
    unit = min((area.w - gaps) / across, (area.h - gap) / (k + m))
    left = area.x + (area.w - across * unit - gaps) / 2
    top = area.y + (area.h - (k + m) * unit - gap) / 2
    right, low = left + k * unit + gap, top + k * unit + gap
    found = {
        "A": Area(left, low, k * unit, m * unit),
        "B": Area(right, top, n * unit, k * unit),
        "D": Area(right, low, n * unit, m * unit),
    }
    if with_c:
        found["C"] = Area(right + n * unit + gap, low, n * unit, m * unit)
    return unit, found


def fill(page: Sheet, area: Area, colour: str, edge: str = "none", lw: float = 1.0, z: float = 2) -> None:
    """A rectangle without round corners."""
    page.box(*area, fill=colour, edge=edge, lw=lw, radius=0, z=z)


def name_matrices(page: Sheet, areas: dict, words: dict[str, str]) -> None:
    """Write the words of each matrix beside it: above B and C, and below A and D, where narrow ones keep apart."""
    for name, area in areas.items():
        if name not in words:
            continue
        if name in "BC":
            page.text(area.x + area.w / 2, area.y - 0.11, words[name], bold=True, size=style.FINE)
        elif area.w >= 1.05:
            page.text(area.x + area.w / 2, area.low + 0.13, words[name], bold=True, size=style.FINE)
        else:
            x, ha = (area.right, "right") if name == "A" else (area.x, "left")
            page.text(x, area.low + 0.13, words[name], bold=True, size=style.FINE, ha=ha)


def wrapped(words: str, most: int) -> list[str]:
    """The words over several lines of at most `most` characters."""
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


@dataclass
class Column:
    """Words below each other. x, y: where the next line begins.   most: characters of a line."""

    page: Sheet
    x: float
    y: float
    most: int = 33

    def write(self, words: str, gap: float = 0.1, **look) -> None:
        """Write words over as many lines as they need, `gap` inches below those before. look: as of `Sheet.text`."""
        self.y += gap
        for line in wrapped(words, self.most - 3 * bool(look.get("bold"))):
            self.page.text(self.x, self.y + 0.1, line, ha="left", size=style.FINE, **look)
            self.y += 0.2
