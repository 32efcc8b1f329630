"""The goals of the swizzle puzzle, in the order of their difficulty.

A goal tells the page everything that it shows, and no solution: the lights that must be green, and which ways of
changing the layout there are.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from gemm_lab_lessons.ch05.layout_puzzle.puzzle_layout import PuzzleTile
from gpu_simulator.argument_checks import shown
from gpu_simulator.errors import ConfigError

TOY, HALVES = PuzzleTile(4, 4, 4, 4), PuzzleTile(8, 4)
WHOLE = PuzzleTile(8, 8)
ROW = ("row", "row light", "the copy stores a row")
COLUMN = ("column", "column light", "ldmatrix reads a chunk of eight rows")


@dataclass(frozen=True)
class Goal:
    """One puzzle.

    lights: (key of `model.puzzle_layout.LIGHTS`, name, what the access does).
    ways: of "wires", "padding" and "shift", those that this goal allows beside moving chunks by hand.
    kernel, settings: the rung whose region `layout` the learner's line goes into; no kernel for the toy machine.
    """

    name: str
    title: str
    task: str
    hint: str
    tile: PuzzleTile
    lights: tuple[tuple[str, str, str], ...]
    ways: tuple[str, ...] = ()
    kernel: str = ""
    settings: tuple[tuple[str, int], ...] = ()


_SMALL = (("BLOCK_M", 64), ("BLOCK_N", 64), ("BLOCK_K", 64))
_LIST = (
    Goal(
        "toy",
        "Four banks",
        "Each bank serves one word at a time. Drag words until each row and each column take one wavefront.",
        "The words of a column have one colour. Two words of one colour in the same bank wait for each other, so each "
        "colour may stand in a bank only once. Leave row 0 as it is and begin with row 1.",
        TOY,
        (("row", "row light", "a row is stored"), ("column", "column light", "a column is read")),
    ),
    Goal(
        "rows_64",
        "Rows of 64 bytes",
        "ldmatrix reads the same chunk of eight rows. Find a layout in which it takes one wavefront.",
        "Rows 0 and 1 lie side by side in different banks, so they never meet. Which rows meet row 0, and which bits "
        "of the row number tell those rows from each other?",
        HALVES,
        (("row", "row light", "the copy stores two rows"), COLUMN),
        ("wires", "padding"),
        "ampere/01_vectorized_copy",
        (*_SMALL[:2], ("BLOCK_K", 32)),
    ),
    Goal(
        "rows_128",
        "Rows of 128 bytes",
        "Each row fills all 32 banks. Turn both lights green in any way, and look at the bytes that it costs.",
        "There is a solution with padding alone, and one with wires alone. Eight rows meet, and there are eight groups "
        "of four banks: each row needs another group for its chunk 0.",
        WHOLE,
        (ROW, COLUMN),
        ("wires", "padding"),
        "ampere/01_vectorized_copy",
        _SMALL,
    ),
    Goal(
        "no_padding",
        "Not one byte more",
        "Shared memory is full, so padding is forbidden. Turn both lights green with these 1,024 bytes.",
        "Three row bits number the eight rows that meet, and three chunk bits the eight places of a chunk. If two rows "
        "still meet, a row bit reaches no chunk bit of its own.",
        WHOLE,
        (ROW, COLUMN),
        ("wires", "shift"),
        "ampere/01_vectorized_copy",
        _SMALL,
    ),
    Goal(
        "copy",
        "cp.async as well",
        "Now cp.async writes the rows, in whole sectors of two chunks. Turn all three lights green.",
        "Chunks 0 and 1 are one sector, chunks 2 and 3 the next. Look at the pairs in a row whose copy is slow: a "
        "sector is torn if its two chunks no longer lie in one pair of places.",
        WHOLE,
        (
            ("row", "row light", "a row is stored"),
            COLUMN,
            ("copy", "cp.async light", "cp.async writes a row"),
        ),
        ("wires", "padding", "shift"),
        "ampere/02_cp_async",
        _SMALL,
    ),
)
GOALS = {goal.name: goal for goal in _LIST}


def goal_named(name: str) -> Goal:
    """The goal of this name. Raises `ConfigError` with the names that there are."""
    if name not in GOALS:
        near = difflib.get_close_matches(name, GOALS, n=1)
        meant = f" Did you mean “{near[0]}”?" if near else ""
        raise ConfigError(f"The swizzle puzzle has no goal {shown(name)}; its goals are {', '.join(GOALS)}.{meant}")
    return GOALS[name]
