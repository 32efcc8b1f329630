"""The tile walk in Chromium: moving, paces, playing, the same words and counts as in Python, in both themes."""

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402
from widget_frames import work  # noqa: E402

from gemm_lab.notebook import widgets  # noqa: E402
from gemm_lab.notebook.puzzle import puzzle  # noqa: E402
from tools.widget_page import state_of  # noqa: E402

pytestmark = pytest.mark.browser

TRAITS = ("title", "size", "wrong", "lines", "steps", "paces", "pace", "step")


@pytest.fixture(scope="module")
def walk():
    return widgets.tile_walk(puzzle("02_nine_loops").solution(), 16, 32, 8, (8, 16, 4), (4, 8, 2), (2, 4))


@pytest.fixture
def state(walk):
    return {name: getattr(walk, name) for name in TRAITS}


WORDS = {
    0: "A[0:8, 0:4] is copied from DRAM into shared memory: 32 elements",
    2: "a warp reads A[0:4, 0:2] out of shared memory: 8 elements",
    5: "a thread loads B[0:1, 0:4] into its registers: 4 elements",
    6: "D[0:2, 0:4] grows by column 0 of A times row 0 of B: 8 multiply-adds",
    1683: "D[8:16, 16:32] is stored in DRAM: 128 elements",
}


def test_words_and_counters(widget_page, walk, state):
    page = widget_page()
    page.mount("tile_walker", state)
    for number, words in WORDS.items():
        page.evaluate("step => window.widget.model.set('step', step)", number)
        step = walk._steps[number]
        expect(page.locator(".gl-happens")).to_have_text(words)
        for box, counter in zip(page.locator(".gl-box b").all(), step.counters, strict=True):
            expect(box).to_have_text(f"{counter:,}")
    expect(page.locator(".gl-keys .gl-end")).to_have_text("read from DRAM: A up to 2 times, B up to 2 times")
    expect(page.locator(".gl-box").last).to_contain_text("of 4,096")


def test_moving_by_tiles_of_a_level(widget_page, walk, state):
    page = widget_page()
    page.mount("tile_walker", {**state, "step": 0})
    stops = {name: steps for name, steps in walk.paces}
    page.get_by_label("on", exact=True).click()
    assert page.evaluate("window.widget.saved.at(-1).step") == stops["block tile"][1]
    page.get_by_label("pace").select_option("warp tile")
    page.get_by_label("to the start").click()
    page.get_by_label("moment").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.widget.saved.at(-1).step") == stops["warp tile"][1]
    page.keyboard.press("End")
    expect(page.locator(".gl-where")).to_have_text("step 1,683 of 1,683")
    page.get_by_label("back").click()
    assert page.evaluate("window.widget.saved.at(-1).step") == stops["warp tile"][-2]
    page.get_by_label("pace").select_option("step")
    page.get_by_label("back").click()
    assert page.evaluate("window.widget.saved.at(-1).step") == stops["warp tile"][-2] - 1


@pytest.mark.parametrize("k", [8, pytest.param(32, marks=pytest.mark.long)])
def test_a_frame_touches_few_nodes_and_draws_with_few_calls(widget_page, k):
    """A step of 64 × 64 × K elements: words are changed and not made anew, and a matrix is one picture."""
    walk = widgets.tile_walk(puzzle("02_nine_loops").solution(), 64, 64, k, (32, 32, 8), (16, 16, 4), (4, 4))
    page = widget_page()
    page.mount("tile_walker", {**state_of(walk), "step": 0})
    spent = work(page, list(range(1, 24)))
    assert max(nodes for nodes, _ in spent) <= 20 and max(calls for _, calls in spent) <= 150
    assert min(calls for _, calls in spent) > 5, "every step is drawn"


def test_python_hears_of_a_step_when_the_walk_pauses(widget_page, state):
    page = widget_page()
    page.mount("tile_walker", {**state, "step": 0})
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => window.widget.state.step > 0")
    assert page.evaluate("() => window.widget.saved.length") == 0
    page.get_by_role("button", name="Pause").click()
    assert page.evaluate("() => window.widget.saved.at(-1).step === window.widget.state.step")


@pytest.mark.long
def test_playing_stops_at_the_end(widget_page, walk, state):
    page = widget_page()
    page.mount("tile_walker", {**state, "step": walk.paces[0][1][-3]})
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".gl-where")).to_have_text("step 1,683 of 1,683", timeout=60_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=60_000)


def test_what_is_wrong_is_shown(widget_page, state):
    page = widget_page()
    page.mount("tile_walker", {**state, "wrong": "D[0, 1] was never stored."})
    expect(page.locator(".gl-error")).to_have_text("D[0, 1] was never stored.")


@pytest.mark.parametrize(("theme", "width"), [("light", 824), ("dark", 824), ("dark", 480)])
def test_it_fits(widget_page, walk, state, theme, width):
    page = widget_page(theme, width, 720)
    page.mount("tile_walker", state)
    box = page.locator(".gemm-lab").bounding_box()
    assert page.locator(".gemm-lab").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    assert box["width"] <= 800 and (width < 800 or box["height"] <= 530)
    play = page.get_by_role("button", name="Play").bounding_box()
    assert play["y"] + play["height"] <= box["y"] + 110, "it is seen before the picture is"
    assert page.locator(".gemm-lab").evaluate("e => e.classList.contains('gl-dark')") == (theme == "dark")
