"""The swizzle puzzle: invent a swizzle by hand, until rows and columns of a tile are free of bank conflicts.

import gemm_lab as lab
puzzle = lab.swizzle_puzzle("rows_64")     exchange chunks, wire row bits to chunk bits, add padding
puzzle.solved, puzzle.cpp                  whether all lights are green, and the line of C++ that does it
puzzle.judge()                             the same line in a kernel, on the simulator
"""

from __future__ import annotations

import traitlets

from gemm_lab.notebook.widgets.modules import css, esm
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_formula import line
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_goals import Goal, goal_named
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_judge import Judged, judge
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_layout import Light, PuzzleLayout, light, order_problem
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.swizzle import LayoutError

STATE = ("hand", "wires", "padding", "shift")
WAYS = {"wires": "wires", "padding": "padding", "shift": "rotation of rows"}


class ImpossibleLayout(LayoutError, traitlets.TraitError):
    """A layout that the goal does not allow. As a `TraitError` it also undoes a change that the page has sent."""


class SwizzlePuzzle(PicturedWidget):
    """The widget that `swizzle_puzzle` creates.

    `layout` has a list for each row, with the chunk at each of its places. It follows the live view and can be set, and
    so can `wires` ([row bit, chunk bit] pairs), `padding` (chunks) and `shift` (places for each row number). An
    impossible value raises `ImpossibleLayout`, which is a `LabError`, and changes nothing.
    """

    what = "The swizzle puzzle: move the chunks of a tile until rows and columns are free of bank conflicts."
    _esm = esm(__file__)
    _css = css()

    puzzle = traitlets.Dict().tag(sync=True)  # what the page shows of the goal; Python reads `_goal`
    hand = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)
    wires = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)
    padding = traitlets.Int(0).tag(sync=True)
    shift = traitlets.Int(0).tag(sync=True)

    def __init__(self, goal: Goal):
        self._goal = goal
        super().__init__()
        self.puzzle = page_of(goal)
        self.hand = [list(row) for row in goal.tile.plain]

    @traitlets.validate(*STATE)
    def _possible(self, proposal):
        self._resolve({proposal["trait"].name: proposal["value"]})
        return proposal["value"]

    def change(self, **values) -> SwizzlePuzzle:
        """Set several of `layout`, `wires`, `padding` and `shift` at once; returns the widget.

        A `layout` is the whole order of the rows, so it removes wires and rotation. Raises `ImpossibleLayout` with the
        reason if the goal does not allow the result.
        """
        known = ("layout", *STATE[1:])
        if unknown := set(values) - set(known):
            raise ImpossibleLayout(f"The puzzle has no choice {shown(min(unknown))}; it has {', '.join(known)}.")
        if "layout" in values:
            values = {"wires": [], "shift": 0, **values, "hand": values["layout"]}
            del values["layout"]
            if values["wires"] or values["shift"]:
                raise ImpossibleLayout("A layout is the whole order of the rows; give it without wires and shift.")
        kept = self._plain(values)
        self._resolve(kept)
        with self.hold_trait_notifications():
            for name, value in kept.items():
                setattr(self, name, value)
        return self

    def _plain(self, values: dict) -> dict:
        """The values with Python's integers and lists. Raises `ImpossibleLayout` for values of another kind."""
        kept = {}
        for name, value in values.items():
            if name in ("padding", "shift"):
                kept[name] = as_whole(value)
                words = "a whole number"
            else:
                kept[name] = _lists_of_numbers(value)
                words = "a list of rows" if name == "hand" else "a list of [row bit, chunk bit] pairs"
            if kept[name] is None:
                raise ImpossibleLayout(f"{'layout' if name == 'hand' else name} is {words}, not {shown(value)}.")
        return kept

    def _resolve(self, values: dict) -> PuzzleLayout:
        """The layout with these values. Raises `ImpossibleLayout` if there is none, or if the goal forbids it."""
        hand, wires, padding, shift = (values.get(name, getattr(self, name)) for name in STATE)
        tile = self._goal.tile
        hand = hand or [list(row) for row in tile.plain]  # before the first assignment it is empty
        if problem := order_problem(tile, hand):
            raise ImpossibleLayout(problem)
        if any(len(wire) != 2 for wire in wires):
            raise ImpossibleLayout("A wire is a pair [row bit, chunk bit].")
        for way, used in (("wires", wires), ("padding", padding), ("shift", shift)):
            if used and way not in self._goal.ways:
                allowed = ", ".join(["the exchange of chunks in a row", *(WAYS[name] for name in self._goal.ways)])
                raise ImpossibleLayout(f"The goal “{self.goal}” allows no {WAYS[way]}; it allows {allowed}.")
        try:
            return PuzzleLayout(tile, _tuples(hand), _tuples(wires), shift, padding)
        except LayoutError as error:
            raise ImpossibleLayout(str(error)) from None

    # ---- What it shows ----

    @property
    def goal(self) -> str:
        """The name of the goal."""
        return self._goal.name

    @property
    def current(self) -> PuzzleLayout:
        """The layout as the lights see it."""
        return self._resolve({})

    @property
    def layout(self) -> list[list[int]]:
        """For each row, the chunk at each place."""
        return self.current.rows

    @layout.setter
    def layout(self, rows: list[list[int]]) -> None:
        self.change(layout=rows)

    @property
    def lights(self) -> dict[str, Light]:
        """Key of a light -> its wavefronts, and whether it is green. Computed here, whatever the page says."""
        return {key: light(self.current, key) for key, _, _ in self._goal.lights}

    @property
    def solved(self) -> bool:
        """Whether all lights of the goal are green."""
        try:
            return all(found.green for found in self.lights.values())
        except SimulatorError:  # a list that was changed in place
            return False

    @property
    def cpp(self) -> str:
        """The line of C++ that makes this layout, once all lights are green; "" before."""
        return line(self.current) if self.solved else ""

    @property
    def facts(self) -> dict[str, object]:
        """For each light [wavefronts, the fewest possible], and the bytes of the tile."""
        counted = {key: [found.found, found.ideal] for key, found in self.lights.items()}
        return {**counted, "bytes": self.current.bytes}

    def judge(self) -> Judged:
        """Put the layout into a kernel and run it on the simulator: is the result right, and what does it cost?"""
        return judge(self._goal, self.current)

    @property
    def text(self) -> str:
        lights = ", ".join(
            f"{name} {'green' if self.lights[key].green else 'red'} ({self.lights[key].found} wavefronts, "
            f"{self.lights[key].ideal} possible)"
            for key, name, _ in self._goal.lights
        )
        return f"Swizzle puzzle “{self.goal}”: {lights}; {self.current.bytes:,} bytes"


def page_of(goal: Goal) -> dict:
    """What the page has to know about a goal."""
    tile = goal.tile
    told = {name: getattr(goal, name) for name in ("name", "title", "task", "hint")}
    told |= {name: getattr(tile, name) for name in ("rows", "chunks", "chunk_bytes", "banks")}
    return told | {"lights": [list(entry) for entry in goal.lights], "ways": list(goal.ways)}


def _lists_of_numbers(value) -> list[list[int]] | None:
    """`value` as a list of lists of Python's integers; None if it is something else."""
    try:
        rows = [[as_whole(number) for number in row] for row in value]
    except TypeError:
        return None
    return None if any(number is None for row in rows for number in row) else rows


def _tuples(rows) -> tuple:
    return tuple(map(tuple, rows))


@checked
def swizzle_puzzle(goal: str = "toy") -> SwizzlePuzzle:
    """Invent a swizzle: move the chunks of a tile until rows and columns are free of bank conflicts.

    goal  "toy" (four banks, 4 × 4 words), "rows_64", "rows_128" (padding helps, too), "no_padding", "copy" (cp.async
          writes the tile)

    Drag a chunk to another place of its row, or connect row bits to chunk bits. When all lights are green, `cpp` is the
    line that makes this layout, and `judge()` runs it in a kernel. Raises `ConfigError` for an unknown goal.
    """
    return SwizzlePuzzle(goal_named(goal))
