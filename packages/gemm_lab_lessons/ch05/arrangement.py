"""Draws where a learner's function puts the chunks of a tile, and counts the wavefronts of its rows and columns.

    from gemm_lab_lessons.ch05.arrangement import arrangement
    arrangement(swizzle, rows=8, chunks=8)       swizzle(row, chunk) is the place of the chunk within its row
    arrangement(swizzle, rows=4, chunks=4, places=4)      the toy machine with four banks

A function that is not written yet, or that gives no number, is answered with a sentence instead of a picture. Chunks
that leave their row are drawn beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gemm_lab.notebook.trying import Missed, NotWritten, call, spelled
from gemm_look import style, theme
from gemm_look.card import card, remark
from gemm_look.sheet import Sheet
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS, MOST_CHUNKS = 16, 8
ROW, LEFT, RIGHT, TOP, PANEL = 0.27, 0.8, 4.68, 1.06, 3.2
BESIDE = 0.3  # inches between the memory and the chunks that leave their row


class Arrangement:
    """The places of the chunks of a tile.

    place: (row, chunk) -> number of the place in shared memory, counted from the beginning of the tile.
    places: how many places lie side by side in the banks. problem: why there is no picture; "" if there is one.
    outside: (row, chunk) -> the number that is no place of the row, for the chunks that leave theirs.
    """

    def __init__(
        self,
        place: dict[tuple[int, int], int],
        places: int,
        problem: str = "",
        outside: dict[tuple[int, int], int] | None = None,
    ):
        self.place, self.places, self.problem, self.outside = place, places, problem, outside or {}

    @property
    def rows(self) -> int:
        return 1 + max(row for row, _ in (*self.place, *self.outside))

    @property
    def chunks(self) -> int:
        return 1 + max(chunk for _, chunk in (*self.place, *self.outside))

    @property
    def row_wavefronts(self) -> int:
        """The most wavefronts that `places` lanes take to write successive chunks of the tile."""
        together = [divmod(row * self.chunks + chunk, self.places)[0] for row, chunk in self.place]
        return self._most(together)

    @property
    def column_wavefronts(self) -> int:
        """The most wavefronts that `places` lanes take to read one chunk of as many successive rows."""
        return self._most([(row // self.places, chunk) for row, chunk in self.place])

    def _most(self, phases: list) -> int:
        """The wavefronts of the worst phase; `phases` has the phase of each chunk, in the order of `place`."""
        banks: dict[Any, Counter] = {}
        for phase, place in zip(phases, self.place.values(), strict=True):
            banks.setdefault(phase, Counter())[place % self.places] += 1
        return max((max(counter.values()) for counter in banks.values()), default=0)

    @property
    def lost(self) -> list[tuple[int, int]]:
        """The chunks that a later chunk overwrites, because it has the same place."""
        last = {place: key for key, place in self.place.items()}
        return [key for key, place in self.place.items() if last[place] != key]

    def __repr__(self) -> str:
        if self.problem:
            return self.problem
        if self.outside:
            return f"{self._leaving()}; a row of {self.chunks} has the places 0 to {self.chunks - 1}"
        return f"{_waves('a row', self.row_wavefronts)}, {_waves('a column', self.column_wavefronts)}"

    def _leaving(self) -> str:
        (row, chunk), place = next(iter(self.outside.items()))
        leave = "leaves its row" if len(self.outside) == 1 else "leave their row"
        number = f"{place:,}" if abs(place) < 10**6 else "a very large number"
        name = "bank" if self.places == 4 else "place"
        return f"{len(self.outside)} of {self.rows * self.chunks} {leave}, such as {row}·{chunk}: {name} {number}"

    def _repr_html_(self) -> str | None:
        return card(remark(self.problem), theme.NOTE) if self.problem else None

    def _repr_png_(self):
        return None if self.problem else self._picture()._repr_png_()

    def _picture(self) -> Figure:
        lines = -(-self.rows * self.chunks // self.places)
        page = Sheet(TOP + max(self.rows, lines) * ROW + (1.0 if self.lost else 0.72))
        width = min(PANEL / self.places, 0.44)
        right = LEFT if self.outside else RIGHT  # what leaves its row needs the room of the tile
        names = ("column", "bank") if self.places == 4 else ("chunk", "place")
        panels = [(right, self.places, names[1])]
        if not self.outside:
            panels.insert(0, (LEFT, self.chunks, names[0]))
            page.text(LEFT, 0.4, "the tile: row·" + names[0], ha="left", bold=True, size=style.BODY)
        what = "where your function puts " + (f"row·{names[0]}" if self.outside else "it")
        page.text(right, 0.4, what, ha="left", bold=True, size=style.BODY)
        for x, count, name in panels:
            page.text(x - 0.12, TOP - 0.2, name, ha="right", colour=style.MUTED)
            for number in range(count):
                page.text(x + (number + 0.5) * width, TOP - 0.2, str(number), colour=style.MUTED)
        for row in range(0 if self.outside else self.rows):
            page.text(LEFT - 0.12, TOP + (row + 0.5) * ROW, f"row {row}", ha="right", colour=style.MUTED)
        for line in range(lines):
            page.text(right - 0.12, TOP + (line + 0.5) * ROW, f"line {line}", ha="right", colour=style.MUTED)
            page.grid(right, TOP + line * ROW, 1, self.places, width, ROW, edge=style.RULE, lw=0.6)
        for row, chunk in () if self.outside else self.place:
            self._cell(page, row, chunk, LEFT + chunk * width, TOP + row * ROW, width)
        for place, (row, chunk) in {place: key for key, place in self.place.items()}.items():
            line, at = divmod(place, self.places)
            self._cell(page, row, chunk, right + at * width, TOP + line * ROW, width)
        if self.outside:
            self._beside(page, width)
        self._verdict(page, TOP + max(self.rows, lines) * ROW + 0.36, right)
        return page.fig

    def _beside(self, page: Sheet, width: float) -> None:
        """Draw each chunk that leaves its row beside the line in which the row lies."""
        conflict, x = style.ink(style.CONFLICT), LEFT + self.places * width + BESIDE
        page.text(x, TOP - 0.2, "outside of their row", ha="left", colour=conflict)
        drawn: dict[int, int] = {}
        for row, chunk in self.outside:
            line = row * self.chunks // self.places
            at, y = x + drawn.get(line, 0) * width, TOP + line * ROW
            drawn[line] = drawn.get(line, 0) + 1
            self._cell(page, row, chunk, at, y, width)
            page.box(at, y, width, ROW, fill="none", edge=conflict, lw=1.2, dashed=True, radius=0, z=6)

    def _cell(self, page: Sheet, row: int, chunk: int, x: float, y: float, width: float) -> None:
        fill = style.tint(style.GROUPS[chunk], 0.42 if chunk else 1)
        words = f"{row}·{chunk}"
        bold = not chunk and len(words) < 4  # a bold 10·0 would be wider than its cell
        page.labelled(x, y, width, ROW, words, fill=fill, edge=style.PAPER, lw=1.2, radius=0, bold=bold)

    def _verdict(self, page: Sheet, y: float, right: float) -> None:
        if self.outside:  # what is missing from the rows and columns cannot be counted
            page.text(LEFT, y, self._leaving(), ha="left", bold=True, colour=style.ink(style.CONFLICT))
        for x, what, count in (
            () if self.outside else ((LEFT, "a row", self.row_wavefronts), (right, "a column", self.column_wavefronts))
        ):
            colour = style.ink(style.WAVEFRONT if count == 1 else style.CONFLICT)
            page.text(x, y, _waves(what, count), ha="left", bold=True, colour=colour)
        if self.lost:
            row, chunk = self.lost[0]
            words = f"{len(self.lost)} of {len(self.place)} are overwritten, such as {row}·{chunk}"
            page.text(LEFT if self.outside else right, y + 0.28, words, ha="left", colour=style.ink(style.CONFLICT))


def _waves(what: str, count: int) -> str:
    return f"{what}: {count} wavefront{'s' * (count > 1)}"


@checked
def arrangement(swizzle: Any, rows: int = 8, chunks: int = 8, places: int = 8) -> Arrangement:
    """The picture of a layout, from a function `swizzle(row, chunk)` that returns the place of a chunk within its row.

    rows, chunks: the size of the tile.   places: how many chunks lie side by side in the banks, 8 of 16 bytes, or 4
    words on the toy machine. Raises `ConfigError` for a size that cannot be drawn.
    """
    for name, value, most in (("rows", rows, MOST_ROWS), ("chunks", chunks, MOST_CHUNKS), ("places", places, 8)):
        if not 1 <= value <= most:
            raise ConfigError(f"{name} is a number from 1 to {most}, not {value}.")
    if not callable(swizzle):
        raise ConfigError(f"arrangement draws a function of row and chunk, not {shown(swizzle)}.")
    try:
        place, outside = _places(swizzle, rows, chunks)
        return Arrangement(place, places, outside=outside)
    except NotWritten:
        return Arrangement(
            {}, places, "The picture of your layout appears here as soon as your function returns places."
        )
    except Missed as missed:
        return Arrangement({}, places, f"There is no picture yet: {missed}")


def _places(
    swizzle: Callable[..., Any], rows: int, chunks: int
) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """The places in the tile of the chunks that stay in their row, and what was returned for those that leave it."""
    found, outside = {}, {}
    for row in range(rows):
        for chunk in range(chunks):
            place = as_whole(value := call(swizzle, row, chunk))
            if place is None:
                raise Missed(
                    f"{spelled(swizzle, (row, chunk))} returned {shown(value)}, and a row of {chunks} has the places "
                    f"0 to {chunks - 1}."
                )
            if 0 <= place < chunks:
                found[row, chunk] = row * chunks + place
            else:
                outside[row, chunk] = place
    return found, outside
