"""The tile walk replays a function that multiplies counted matrices: what is read from where, and what it costs.

from gemm_lab.notebook import widgets
widgets.tile_walk(block_tiles, 16, 32, 8, 8, 16, 4)     block_tiles(A, B, D, 8, 16, 4) for 16 × 32 with k = 8
"""

from __future__ import annotations

import linecache
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import traitlets

from gemm_lab.notebook.widgets.modules import css, esm
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_lab_lessons.ch02.counted_matrix import TileError, product_of
from gemm_lab_lessons.ch02.traffic_ledger import Step
from gemm_lab_lessons.ch02.walk_paces import paces_of
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import shown
from gpu_simulator.errors import SizeError

MOST_EDGE = 64  # rows and columns that a picture can show
KINDS, MATRICES = ("copy", "multiply", "write"), ("A", "B", "D")
COUNTERS = ("DRAM", "shared memory", "registers", "multiply-adds")


class TileWalk(PicturedWidget):
    """The widget that `tile_walk` creates. `now` is the step that it shows.

    `step` and `pace` are attributes, which follow the live view and change it.
    """

    what = "The tile walk: what a function of yours reads from where, step by step."
    _esm = esm(__file__)
    _css = css()

    title = traitlets.Unicode().tag(sync=True)
    size = traitlets.List().tag(sync=True)  # m, n, k
    wrong = traitlets.Unicode().tag(sync=True)  # what is wrong with the product; empty if it is right
    lines = traitlets.List().tag(sync=True)  # texts of source lines
    steps = traitlets.List().tag(sync=True)  # see `_plain`
    paces = traitlets.List().tag(sync=True)  # [name, steps at which it stops]
    pace = traitlets.Unicode().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def __init__(self, title: str, size: tuple[int, int, int], steps: list[Step], wrong: str):
        super().__init__()
        self._steps, self._paces = steps, paces_of(steps)
        texts = {step.line: linecache.getline(*step.line).strip() for step in steps}
        numbers = {line: number for number, line in enumerate(texts)}
        self.title, self.size, self.wrong = title, list(size), wrong
        self.lines = list(texts.values())
        self.steps = [_plain(step, numbers) for step in steps]
        self.paces = [[pace.name, list(pace.stops) if pace.name != "step" else []] for pace in self._paces]
        self.pace = self._paces[0].name
        self.pictured = {"step": self._telling()}

    def _telling(self) -> int:
        """A step a third of the way, at which every level holds a tile, or an element of D is complete.

        The screenshot cannot be played, and the first step shows little.
        """
        stops = self._paces[-2].stops
        number = stops[bisect_left(stops, len(self._steps) // 3)]
        if self._steps[number].kind == "write":
            return number
        following = range(number, min(number + 4, len(self._steps)))
        return next((at for at in following if self._steps[at].kind == "multiply"), number)

    @traitlets.validate("step")
    def _step_exists(self, proposal):
        if not 0 <= proposal["value"] < len(self._steps):
            raise LabError(f"There is no step {proposal['value']}; there are steps 0 to {len(self._steps) - 1}.")
        return proposal["value"]

    @traitlets.validate("pace")
    def _pace_exists(self, proposal):
        names = [pace.name for pace in self._paces]
        if proposal["value"] not in names:
            raise LabError(f"There is no pace {shown(proposal['value'])}; there are {', '.join(names)}.")
        return proposal["value"]

    # ---- What it shows ----

    @property
    def now(self) -> Step:
        return self._steps[self.step]

    @property
    def text(self) -> str:
        m, n, k = self.size
        moved = ", ".join(f"{name} {count:,}" for name, count in zip(COUNTERS, self.now.counters, strict=True))
        wrong = f". {self.wrong}" if self.wrong else ""
        of = f"step {self.step} of {len(self._steps) - 1}"
        return f"Tile walk: {self.title}, {m} × {n} with k = {k}, {of}: {moved}{wrong}"


def _plain(step: Step, lines: dict[tuple[str, int], int]) -> list[int]:
    """Line, kind, matrix, level, rows (start, stop, step), columns, k, four counters, then four numbers a read."""
    row = [lines[step.line], KINDS.index(step.kind), MATRICES.index(step.matrix), step.level]
    row += [part for each in (step.rows, step.cols) for part in (each.start, each.stop, each.step)]
    row += [step.k, *step.counters]
    return row + [part for name, level, i, j in step.reads for part in (MATRICES.index(name), level, i, j)]


def tile_walk(function: Callable[..., Any], m: int, n: int, k: int, *args: Any, **named: Any) -> TileWalk:
    """Let `function(A, B, D, *args, **named)` multiply A (m, k) and B (k, n), and replay what it did.

    A wrong product is shown too, with a sentence that says what is wrong, and so is a function that stops at a
    misused matrix. Raises `LabError` for a function that does nothing, and `SizeError` for sizes that are no picture.
    """
    if not callable(function):
        raise LabError(f"tile_walk takes a function of A, B and D first, not {shown(function)}.")
    product = product_of(m, n, k, record=True)
    if max(product.size) > MOST_EDGE:
        raise SizeError(f"{m} × {n} with k = {k} is too large for a picture; each can be 1 to {MOST_EDGE}.")
    try:
        function(*product.matrices, *args, **named)
        wrong = product.wrong
    except TileError as error:
        wrong = f"It stopped here: {error}"
    steps = product.ledger.steps
    name = getattr(function, "__name__", "function")
    if not steps:
        raise LabError(f"{name} copied, multiplied and stored nothing, so there is nothing to see. {wrong}".rstrip())
    given = ", ".join([*map(shown, args), *(f"{key}={shown(value)}" for key, value in named.items())])
    return TileWalk(f"{name}(A, B, D{', ' if given else ''}{given})", product.size, steps, wrong)
