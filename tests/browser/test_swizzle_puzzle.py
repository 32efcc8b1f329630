"""The swizzle puzzle in Chromium: its rules are Python's, and mouse, keys and wires change the layout."""

import json
from itertools import product

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

from gemm_lab_lessons.ch05.layout_puzzle.puzzle_formula import formula, line  # noqa: E402
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_goals import GOALS  # noqa: E402
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_layout import LIGHTS, PuzzleLayout, accesses, light, served  # noqa: E402
from gemm_lab_lessons.ch05.layout_puzzle.swizzle_puzzle import STATE, page_of, swizzle_puzzle  # noqa: E402

pytestmark = pytest.mark.browser

MIRROR = """async (cases) => {
  const rules = await import("./puzzle_rules.js"), lines = await import("./puzzle_formula.js");
  return JSON.stringify(JSON.parse(cases).map(({ goal, state, names }) => {
    const layout = rules.makeLayout(goal, state), { kind, place } = lines.formula(goal, state);
    return {
      rows: layout.rows, bytes: layout.bytes, kind, place, line: lines.line(goal, state),
      lights: names.map((name) => { const l = rules.light(goal, layout, name); return [l.found, l.ideal, l.worst]; }),
      served: names.map((name) => rules.served(goal, layout, name, rules.accesses(goal, name)[1]).of),
    };
  }));
}"""
CHUNK = '.gl-tile .gl-chunk[data-row="{}"][data-chunk="{}"]'


@pytest.fixture
def puzzle(widget_page):
    def start(goal, theme="light", width=824, height=720, **values):
        page = widget_page(theme, width, height)
        page.emulate_media(reduced_motion="reduce")
        widget = swizzle_puzzle(goal)
        page.mount("swizzle_puzzle", {**{name: getattr(widget, name) for name in ("puzzle", *STATE)}, **values})
        return page

    return start


def saved(page):
    return page.evaluate("window.widget.saved.at(-1)")


def in_python(page, goal):
    """The puzzle in Python, after it has received what the page has saved."""
    widget, state = swizzle_puzzle(goal), saved(page)
    widget.set_state({name: state[name] for name in STATE})
    return widget


def drag(page, row, chunk, to):
    """Drag a chunk onto another one of its row."""
    start, end = (page.locator(CHUNK.format(row, one)).bounding_box() for one in (chunk, to))
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2 + 3, end["y"] + 30, steps=4)
    page.mouse.up()


def box(page, kind, bit):
    return page.locator(f'button[aria-label^="{kind} bit {bit}"]')


def wire(page, row_bit, chunk_bit):
    box(page, "row", row_bit).click()
    box(page, "chunk", chunk_bit).click()


# ---- The mirror ----


def random_cases():
    rng = np.random.default_rng(31)
    for number in range(400):
        goal = list(GOALS.values())[number % len(GOALS)]
        tile = goal.tile
        hand = [list(range(tile.chunks)) for _ in range(tile.rows)]
        if number % 3 == 0:
            for row in rng.choice(tile.rows, 2, replace=False):
                rng.shuffle(hand[row])
        if number % 7 == 0:
            hand = [[chunk ^ int(rng.integers(tile.chunks)) ^ 1 for chunk in hand[0]]] * tile.rows
        every = list(product(range(tile.row_bits), range(tile.chunk_bits)))
        wires = [list(every[n]) for n in sorted(rng.choice(len(every), rng.integers(4), replace=False))]
        if any(sorted(row) != list(range(tile.chunks)) for row in hand):
            hand = [list(range(tile.chunks))] * tile.rows
        state = {"hand": hand, "wires": wires, "padding": int(rng.choice([0, 0, 1, 2, 8]))}
        state["shift"] = int(rng.integers(tile.chunks)) if number % 4 == 0 else 0
        names = [name for name in LIGHTS if name != "copy" or tile.chunk_bytes == 16]
        yield goal, {"goal": page_of(goal), "state": state, "names": names}


def test_the_page_computes_what_python_computes(widget_page):
    page, cases = widget_page(), list(random_cases())
    answers = json.loads(page.evaluate(MIRROR, json.dumps([case for _, case in cases])))
    kinds = set()
    for (goal, case), answer in zip(cases, answers, strict=True):
        state = case["state"]
        layout = PuzzleLayout(
            goal.tile,
            tuple(map(tuple, state["hand"])),
            tuple(map(tuple, state["wires"])),
            state["shift"],
            state["padding"],
        )
        kind, place = formula(layout)
        kinds.add(kind)
        assert answer == {
            "rows": layout.rows,
            "bytes": layout.bytes,
            "kind": kind,
            "place": place,
            "line": line(layout),
            "lights": [list(light(layout, name)) for name in case["names"]],
            "served": [
                served(layout, name, accesses(goal.tile, name)[1]).wavefront.max(1).tolist() for name in case["names"]
            ],
        }, case
    assert kinds == {"plain", "xor", "addition", "both", "table"}


# ---- Mouse, keys, wires ----


def test_the_toy_is_solved_by_the_mouse(puzzle):
    page = puzzle("toy")
    lights = page.locator(".gl-light")
    assert "is red" in lights.nth(1).get_attribute("aria-label")
    for row, chunk, to in ((1, 0, 1), (1, 2, 3), (2, 0, 2), (2, 1, 3), (3, 0, 3), (3, 1, 2)):
        assert page.locator(".gl-line").count() == 0
        drag(page, row, chunk, to)
    expect(page.locator(".gl-line")).to_have_text("chunk ^ (row & 3)")
    assert "is green" in lights.nth(1).get_attribute("aria-label")
    widget = in_python(page, "toy")
    assert widget.solved and widget.cpp == "chunk ^ (row & 3)" and widget.layout[1] == [1, 0, 3, 2]
    page.get_by_role("button", name="Undo").click()
    assert page.locator(".gl-line").count() == 0 and not in_python(page, "toy").solved
    page.get_by_role("button", name="Start again").click()
    assert in_python(page, "toy").layout == [[0, 1, 2, 3]] * 4


@pytest.mark.long
def test_a_drag_that_ends_where_it_began_changes_nothing(puzzle):
    page = puzzle("toy")
    drag(page, 1, 2, 2)
    assert page.evaluate("window.widget.saved.length") == 0


def test_the_keyboard_selects_and_moves(puzzle):
    page = puzzle("rows_64")
    page.locator(".gl-tile").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    said = page.locator(".gl-said")
    expect(said).to_contain_text("Row 3, place 1: chunk 1, banks 20–23.")
    page.keyboard.press("Shift+ArrowRight")
    expect(said).to_contain_text("Row 3: chunks 1 and 2 exchanged.")
    assert saved(page)["hand"][3] == [0, 2, 1, 3]
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")  # at the end of the row, nothing happens
    assert saved(page)["hand"][3] == [0, 2, 3, 1]
    page.keyboard.press("ArrowUp")
    expect(said).to_contain_text("Row 2, place 3")
    expect(page.locator(".gl-tile .gl-unseen")).to_contain_text("Row 3: chunks 0, 2, 3, 1.")


def test_wires_are_connected_and_taken_away(puzzle):
    page = puzzle("rows_64")
    wire(page, 0, 0)
    wire(page, 1, 1)
    assert saved(page)["wires"] == [[0, 0], [1, 1]] and page.locator(".gl-gate").count() == 2
    expect(page.locator(".gl-said")).to_contain_text("Still red: column light.")
    wire(page, 0, 0)
    wire(page, 1, 1)
    assert saved(page)["wires"] == [] and page.locator(".gl-gate").count() == 0
    box(page, "chunk", 0).focus()  # by the keyboard, and the chunk bit first
    page.keyboard.press("Enter")
    box(page, "row", 1).focus()
    page.keyboard.press("Enter")
    wire(page, 2, 1)
    expect(page.locator(".gl-line")).to_have_text("chunk ^ (row >> 1 & 3)")
    assert in_python(page, "rows_64").cpp == "chunk ^ (row >> 1 & 3)"
    box(page, "row", 0).click()
    page.keyboard.press("Escape")
    assert page.locator(".gl-chosen").count() == 0


@pytest.mark.long
def test_padding_and_rotation_and_the_third_light(puzzle):
    page = puzzle("copy")
    page.get_by_label("more rotation").click()
    lights = [page.locator(".gl-light").nth(n) for n in range(3)]
    assert [("is green" in one.get_attribute("aria-label")) for one in lights] == [True, True, False]
    lights[2].click()
    expect(page.locator(".gl-said")).to_contain_text("cp.async writes row 1 in")
    page.get_by_label("less rotation").click()
    page.get_by_label("more padding").click()
    expect(page.locator(".gl-bytes")).to_contain_text("1,152 bytes")
    assert in_python(page, "copy").facts["copy"] == [21, 8]
    page.get_by_label("less padding").click()
    for bit in range(3):
        wire(page, bit, bit)
    expect(page.locator(".gl-line")).to_have_text("chunk ^ (row & 7)")
    assert in_python(page, "copy").solved


@pytest.mark.long
def test_goals_offer_only_their_own_ways(puzzle):
    page = puzzle("toy")
    assert page.locator(".gl-stepper, .gl-bit").count() == 0
    page = puzzle("no_padding")
    assert page.get_by_label("more padding").count() == 0 and page.get_by_label("more rotation").count() == 1
    page = puzzle("rows_128")
    assert page.get_by_label("more rotation").count() == 0
    expect(page.locator(".gl-hint p")).to_be_hidden()
    page.locator(".gl-hint summary").click()
    expect(page.locator(".gl-hint p")).to_be_visible()


@pytest.mark.long
def test_queues_drain_step_by_step(puzzle):
    page = puzzle("toy")
    where = page.locator(".gl-drain .gl-muted")
    expect(where).to_have_text("wavefront 1 of 4 is next")
    for _ in range(4):
        page.get_by_label("wavefront on").click()
    expect(where).to_have_text("4 of 4 wavefronts")
    expect(page.locator(".gl-done")).to_have_text("all served, by 4 wavefronts")
    assert page.locator(".gl-token.gl-gone").count() == 4
    page.get_by_label("wavefront back").click()
    expect(where).to_have_text("wavefront 4 of 4 is next")
    page.locator(".gl-light").first.click()  # a row: another access begins at its first wavefront
    expect(where).to_have_text("wavefront 1 of 1 is next")
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".gl-done")).to_have_text("all served, by 1 wavefront")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.long
def test_a_layout_that_is_no_xor_is_shown_as_a_table(puzzle):
    hand = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 1, 0], [3, 2, 0, 1]]
    page = puzzle("toy", hand=hand)
    expect(page.locator(".gl-said")).to_contain_text("No XOR with bits of the row")
    expect(page.locator(".gl-line")).to_have_text("0123 1032 3201 2310")
    page.locator(CHUNK.format(2, 1)).click()
    expect(page.get_by_role("status")).to_contain_text("Row 2, place 2: word 1, bank 2. All lights are green.")


def test_python_changes_the_page(puzzle):
    page = puzzle("rows_128")
    page.evaluate("window.widget.model.set('padding', 1)")
    expect(page.locator(".gl-line")).to_have_text("row * 9 + chunk")
    assert page.evaluate("window.widget.saved.length") == 0
    assert page.evaluate("window.widget.heard()") == len(STATE)
    page.evaluate("window.widget.close()")
    assert page.evaluate("window.widget.heard()") == 0


@pytest.mark.long
def test_chunks_slide_unless_the_reader_wants_no_motion(puzzle):
    page, moves = puzzle("rows_128"), "e => parseFloat(getComputedStyle(e).transitionDuration)"
    assert page.locator(CHUNK.format(1, 0)).evaluate(moves) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.locator(CHUNK.format(1, 0)).evaluate(moves) > 0


# ---- The look ----

SMALLEST = """() => Math.min(...[...document.querySelectorAll(".gl-puzzle *")].filter((one) => one.textContent.trim())
  .map((one) => parseFloat(getComputedStyle(one).fontSize)))"""
OUTSIDE = """() => { const edge = document.querySelector(".gl-puzzle").getBoundingClientRect();
  return [...document.querySelectorAll(".gl-puzzle *")].filter((one) => !one.closest(".gl-unseen, .gl-hint p"))
    .filter((one) => { const box = one.getBoundingClientRect(); return box.width && (box.right > edge.right - 6 || box.bottom > edge.bottom); })
    .map((one) => one.className); }"""
TABLE = [[chunk ^ row for chunk in range(8)] for row in (0, 1, 2, 3, 4, 5, 7, 6)]  # no XOR with bits of the row
CHANGED = {
    "rows_64": {"wires": [[0, 0], [1, 1]]},
    "rows_128": {"padding": 8},
    "no_padding": {"hand": TABLE},
    "copy": {"shift": 3, "padding": 1},
}


@pytest.mark.long
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 800), ("dark", 480)])
def test_nothing_is_cut_and_all_is_seen_at_once(puzzle, goal, theme, width, tmp_path):
    for values in ({}, CHANGED.get(goal, {})):
        page = puzzle(goal, theme, width, **values)
        page.screenshot(path=tmp_path / "widget.png")
        widget = page.locator(".gl-puzzle")
        assert page.evaluate("document.body.scrollWidth <= innerWidth")
        assert page.evaluate(OUTSIDE) == [] and page.evaluate(SMALLEST) >= 12
        assert widget.evaluate("e => e.classList.contains('gl-dark')") == (theme == "dark")
        if width >= 800:
            page.locator(CHUNK.format(3, 3)).click()
            if goal != "toy":
                page.keyboard.press("Shift+ArrowLeft")
                page.keyboard.press("Shift+ArrowRight")
                expect(page.locator(".gl-heard")).to_contain_text("exchanged")
                box(page, "row", 0).focus()
                box(page, "row", 1).click()
                box(page, "chunk", 0).click()
            assert widget.bounding_box()["height"] <= 560
