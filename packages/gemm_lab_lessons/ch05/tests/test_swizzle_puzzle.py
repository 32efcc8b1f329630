"""The swizzle puzzle's Python side: which layouts turn the lights green, the line of C++, and the kernel that judges."""

from itertools import permutations, product

import numpy as np
import pytest
from traitlets import TraitError

import gemm_lab as lab
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_formula import formula, line
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_goals import GOALS
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_judge import judge
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_layout import PuzzleLayout, PuzzleTile, accesses, light, served
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware import banks


def rows_of(rule, rows, chunks):
    """The layout in which chunk c of row r lies at place rule(r, c)."""
    return [[[rule(r, c) for c in range(chunks)].index(place) for place in range(chunks)] for r in range(rows)]


SOLUTIONS = [
    ("toy", {"layout": rows_of(lambda r, c: c ^ r, 4, 4)}, "chunk ^ (row & 3)"),
    ("toy", {"layout": rows_of(lambda r, c: (c + r) % 4, 4, 4)}, "(chunk + row) & 3"),
    ("toy", {"layout": rows_of(lambda r, c: c ^ r ^ 2, 4, 4)}, "chunk ^ (row & 3) ^ 2"),
    (
        "toy",
        {"layout": [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 1, 0], [3, 2, 0, 1]]},
        "\"0123103232012310\"[4 * (row & 3) + chunk] - '0'",
    ),
    ("rows_64", {"wires": [[1, 0], [2, 1]]}, "chunk ^ (row >> 1 & 3)"),
    ("rows_64", {"wires": [[1, 1], [2, 0]]}, "chunk ^ (row & 2) ^ (row >> 2 & 1)"),
    ("rows_128", {"wires": [[0, 0], [1, 1], [2, 2]]}, "chunk ^ (row & 7)"),
    ("rows_128", {"padding": 1}, "row * 9 + chunk"),
    ("no_padding", {"wires": [[0, 0], [1, 1], [2, 2]]}, "chunk ^ (row & 7)"),
    ("no_padding", {"shift": 3}, "(chunk + 3 * row) & 7"),
    ("copy", {"wires": [[0, 0], [1, 1], [2, 2]]}, "chunk ^ (row & 7)"),
    ("copy", {"wires": [[0, 2], [1, 1], [2, 0]]}, "chunk ^ (row << 2 & 4) ^ (row & 2) ^ (row >> 2 & 1)"),
]
# The goal, a layout that it allows, and the lights that stay red.
WRONG = [
    *((name, {}, ["column"]) for name in GOALS),
    ("toy", {"layout": [[0, 1, 2, 3], [1, 0, 3, 2], [0, 1, 2, 3], [1, 0, 3, 2]]}, ["column"]),
    ("rows_64", {"wires": [[0, 0], [1, 1]]}, ["column"]),
    ("rows_64", {"padding": 1}, ["row"]),
    ("rows_128", {"padding": 2}, ["column"]),
    ("rows_128", {"wires": [[0, 0], [1, 1]]}, ["column"]),
    ("no_padding", {"wires": [[0, 0], [1, 0], [2, 1]]}, ["column"]),
    ("no_padding", {"shift": 2}, ["column"]),
    ("copy", {"shift": 1}, ["copy"]),
    ("copy", {"padding": 1}, ["copy"]),
    ("copy", {"padding": 2}, ["column", "copy"]),
]


@pytest.mark.parametrize(("goal", "choices", "cpp"), SOLUTIONS)
def test_a_solution_turns_all_lights_green_and_the_line_says_so(goal, choices, cpp):
    puzzle = lab.swizzle_puzzle(goal)
    assert not puzzle.solved and puzzle.cpp == ""
    puzzle.change(**choices)
    assert puzzle.solved and all(found.green for found in puzzle.lights.values())
    assert puzzle.cpp == cpp and cpp not in str(puzzle) and "red" not in str(puzzle)


@pytest.mark.parametrize(("goal", "choices", "red"), WRONG)
def test_a_wrong_layout_leaves_a_light_red(goal, choices, red):
    puzzle = lab.swizzle_puzzle(goal).change(**choices)
    assert [key for key, found in puzzle.lights.items() if not found.green] == red
    assert not puzzle.solved and puzzle.cpp == "" and "red" in str(puzzle)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(("goal", "choices"), [(goal, choices) for goal, choices, _ in SOLUTIONS])
def test_the_kernel_agrees_with_a_solution(goal, choices):
    judged = lab.swizzle_puzzle(goal).change(**choices).judge()
    assert judged.passed and judged.right and judged.conflict_degree == 1, judged
    assert "passed" in repr(judged) and "passed" in judged._repr_html_()


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize(("goal", "choices", "red"), WRONG)
def test_the_kernel_refuses_what_the_lights_refuse(goal, choices, red):
    puzzle = lab.swizzle_puzzle(goal).change(**choices)
    judged = puzzle.judge()
    assert judged.right and not judged.passed and judged.conflict_degree > 1, judged
    # The kernel's tiles repeat the rows of the puzzle, so each access has the ratio of its light.
    instruction = {"row": "st.shared", "column": "ldmatrix" if goal != "toy" else "ld.shared", "copy": "cp.async"}
    for key, found in puzzle.lights.items():
        if (count := judged.counts.get(instruction[key])) is not None:
            assert count[0] * found.ideal == count[1] * found.found, key
    assert "not yet" in repr(judged) and "possible" in judged.reasons[0]


def test_the_kernel_computes_a_wrong_result_with_two_chunks_in_one_place():
    """No layout of the widget does this, so one is made without its checks."""
    layout = PuzzleLayout(GOALS["rows_128"].tile, (tuple(range(7, -1, -1)), *[tuple(range(8))] * 7))
    places = layout.places.copy()
    places[3] = [0, 0, 2, 3, 4, 5, 6, 7]
    object.__setattr__(layout, "__dict__", {**vars(layout), "places": places})
    judged = judge(GOALS["rows_128"], layout)
    assert not judged.right and not judged.passed and "wrong" in judged.reasons[0]


# ---- What cannot be ----

TWICE = [[0, 0, 2, 3]] + [[0, 1, 2, 3]] * 3


@pytest.mark.parametrize(
    ("goal", "choices", "said"),
    [
        ("toy", {"layout": TWICE}, "Row 0: chunk 0 stands at two places, and chunk 1 at none"),
        ("toy", {"layout": [[0, 1, 2]] * 4}, "4 rows of 4 chunks"),
        ("toy", {"layout": [[0, 1, 2, 4]] * 4}, "no chunk"),
        ("toy", {"layout": "spiral"}, "list of rows"),
        ("toy", {"layout": [[0.0, 1.0, 2.0, 3.0]] * 4}, "list of rows"),
        ("toy", {"wires": [[0, 0]]}, "goal “toy” allows no wires; it allows the exchange"),
        ("toy", {"padding": 1}, "allows no padding"),
        ("no_padding", {"padding": 1}, "allows no padding; it allows the exchange of chunks in a row, wires, rotation"),
        ("rows_128", {"padding": 9}, "0 to 8 chunks"),
        ("rows_128", {"padding": -1}, "0 to 8 chunks"),
        ("rows_128", {"shift": 1}, "allows no rotation"),
        ("copy", {"shift": 8}, "0 to 7 places"),
        ("copy", {"wires": [[3, 0]]}, "row bits are 0 to 2"),
        ("rows_64", {"wires": [[0, 2]]}, "chunk bits 0 to 1"),
        ("copy", {"wires": [[0, 0], [0, 0]]}, "twice"),
        ("copy", {"wires": [[0]]}, "pair"),
        ("copy", {"padding": "1"}, "whole number"),
        ("copy", {"colour": 1}, "no choice 'colour'"),
        ("copy", {"layout": [list(range(8))] * 8, "shift": 1}, "without wires and shift"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(goal, choices, said):
    puzzle = lab.swizzle_puzzle(goal)
    before = puzzle.get_state()
    with pytest.raises(SimulatorError, match=said):
        puzzle.change(**choices)
    assert puzzle.get_state() == before
    (name, value), *more = choices.items()
    if not more and name != "colour":
        with pytest.raises((LabError, TraitError)):
            setattr(puzzle, name, value)
        assert puzzle.get_state() == before


def test_an_unknown_goal_is_answered_with_the_names():
    with pytest.raises(SimulatorError, match="toy, rows_64, rows_128, no_padding, copy"):
        lab.swizzle_puzzle("spiral")
    with pytest.raises(SimulatorError, match="Did you mean “rows_64”"):
        lab.swizzle_puzzle("rows64")
    with pytest.raises(SimulatorError, match="goal must be a text"):
        lab.swizzle_puzzle(3)


def test_solved_cannot_be_set():
    puzzle = lab.swizzle_puzzle("no_padding")
    for name, value in (("solved", True), ("cpp", "chunk"), ("lights", {}), ("facts", {})):
        with pytest.raises(AttributeError):
            setattr(puzzle, name, value)
    before = puzzle.get_state()
    for message in (
        {"padding": 1},  # padding would turn both lights green
        {"padding": 1, "wires": []},
        {"hand": [list(range(8))] * 7 + [[0] * 8], "shift": 1},
        {"wires": [[0, 0], [1, 1], [2, 9]]},
    ):
        with pytest.raises(SimulatorError):
            puzzle.set_state(message)  # what a page sends
        assert puzzle.get_state() == before and not puzzle.solved
    puzzle.puzzle = {**puzzle.puzzle, "lights": [], "ways": ["padding"]}
    assert not puzzle.solved
    with pytest.raises(SimulatorError):
        puzzle.padding = 1
    puzzle.hand[0][0] = 7  # a list that is changed in place tells nobody
    assert not puzzle.solved


def test_the_page_changes_python():
    puzzle = lab.swizzle_puzzle("copy")
    puzzle.set_state({"hand": puzzle.hand, "wires": [[0, 0], [1, 1], [2, 2]], "padding": 0, "shift": 0})
    assert puzzle.solved and puzzle.layout[5] == [5, 4, 7, 6, 1, 0, 3, 2]
    assert puzzle.facts == {"row": [8, 8], "column": [8, 8], "copy": [8, 8], "bytes": 1024}
    puzzle.layout = [list(range(8))] * 8
    assert puzzle.wires == [] and puzzle.facts["column"] == [64, 8]
    puzzle.change(padding=np.int64(1))
    assert puzzle.facts == {"row": [8, 8], "column": [8, 8], "copy": [21, 8], "bytes": 1152}
    assert puzzle.goal == "copy"


def test_the_page_is_told_no_solution():
    for name in GOALS:
        told = str(lab.swizzle_puzzle(name).get_state(["puzzle", "hand", "wires", "padding", "shift"]))
        assert "^" not in told and "row &" not in told and "wires': []" in told


# ---- The model ----


def test_lights_count_as_the_bank_model_does():
    rng = np.random.default_rng(5)
    for _ in range(60):
        tile = PuzzleTile(8, int(rng.choice([2, 4, 8])))
        hand = tuple(tuple(map(int, rng.permutation(tile.chunks))) for _ in range(8))
        layout = PuzzleLayout(tile, hand, ((0, 0),), int(rng.integers(2)), int(rng.integers(4)))
        stored = layout.addresses.reshape(-1, tile.groups)
        assert light(layout, "row").found == banks.wavefronts(stored, 16).sum()
        assert light(layout, "column").found == banks.wavefronts(layout.addresses.T.copy(), 16).sum()


def test_rows_of_a_copy_may_be_counted_one_by_one():
    """One instruction of a warp copies four rows of 128 bytes. They come from different lines and share no wavefront."""
    rng = np.random.default_rng(6)
    for _ in range(60):
        hand = tuple(tuple(map(int, rng.permutation(8))) for _ in range(8))
        layout = PuzzleLayout(PuzzleTile(8, 8), hand, (), int(rng.integers(3)), int(rng.integers(3)))
        row, chunk = np.divmod(np.arange(64), 8)
        source, to = 4096 * row + 16 * chunk, layout.addresses.reshape(-1)
        whole = sum(banks.cp_async_cg_wavefronts(source[w : w + 32], to[w : w + 32]) for w in (0, 32))
        assert light(layout, "copy").found == whole


def test_every_wiring_of_a_row_of_128_bytes():
    """The column is free exactly if the wires are an invertible matrix over GF(2); then cp.async is free, too."""
    every = list(product(range(3), range(3)))
    solved = 0
    for chosen in range(512):
        wires = tuple(wire for n, wire in enumerate(every) if chosen >> n & 1)
        layout = PuzzleLayout(PuzzleTile(8, 8), wires=wires)
        solved += light(layout, "column").green
        assert light(layout, "row").green and light(layout, "copy").green
    assert solved == 168  # the number of invertible 3 × 3 matrices over GF(2)


def value(text, row, chunk):
    """The value of a line of C++, which Python reads alike: its operators have the same order here."""
    return eval(text.replace(" - '0'", ""), {"row": row, "chunk": chunk})


def test_the_line_gives_every_place():
    rng = np.random.default_rng(7)
    kinds = set()
    for _ in range(300):
        tile = PuzzleTile(8, int(rng.choice([4, 8])))
        hand = [list(range(tile.chunks)) for _ in range(8)]
        for _ in range(int(rng.choice([0, 0, 3]))):
            rng.shuffle(hand[rng.integers(8)])
        every = list(product(range(3), range(tile.chunk_bits)))
        wires = tuple(every[n] for n in sorted(rng.choice(len(every), rng.integers(4), replace=False)))
        layout = PuzzleLayout(
            tile, tuple(map(tuple, hand)), wires, int(rng.choice([0, 0, 1, 3])), int(rng.choice([0, 0, 2]))
        )
        kind = formula(layout).kind
        kinds.add(kind)
        text = line(layout)
        for row, chunk in product(range(8), range(tile.chunks)):
            place = layout.places[row, chunk]
            if kind == "table":
                assert int(formula(layout).place[1 + tile.chunks * row + chunk]) == place
            else:
                # In C++ and in Python & binds less than << and +, and ^ less than &.
                assert value(text, row, chunk) == (row * layout.row_chunks if layout.padding else 0) + place, text
    assert kinds == {"plain", "xor", "addition", "both", "table"}


def test_rows_of_the_toy_that_are_latin_squares_solve_it():
    rows = list(permutations(range(4)))
    tile = GOALS["toy"].tile
    for second in rows:
        layout = PuzzleLayout(tile, ((0, 1, 2, 3), second, (0, 1, 2, 3), (0, 1, 2, 3)))
        assert not light(layout, "column").green
    assert len(accesses(tile, "column")) == 4 and served(layout, "row", accesses(tile, "row")[0]).count == 1
