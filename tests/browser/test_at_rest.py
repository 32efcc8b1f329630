"""What does not move costs nothing: a widget at rest asks for no frame, and one that plays out of sight stands still."""

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

import gemm_lab as lab  # noqa: E402
from gemm_lab.notebook import widgets  # noqa: E402
from tools.widget_page import state_of  # noqa: E402

pytestmark = pytest.mark.browser

# Counts the frames that are asked for, and the calls of timers and observers.
COUNTING = """() => {
  window.calls = 0;
  const counted = (f) => (...all) => (window.calls++, f(...all));
  for (const name of ["requestAnimationFrame", "setInterval", "setTimeout"]) {
    const own = window[name].bind(window);
    window[name] = (f, ...more) => own(counted(f), ...more);
  }
  for (const name of ["ResizeObserver", "MutationObserver"]) {
    const Own = window[name];
    window[name] = class extends Own { constructor(f) { super(counted(f)); } };
  }
}"""
TWO_FRAMES = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))"""
REST_MS, STEPS_MS = 600, 1500


def naive(A, B, D):
    for i in range(4):
        for j in range(4):
            for k in range(4):
                D[i, j] += A[i, k] * B[k, j]


WIDGETS = {
    "swizzle_explorer": lambda: lab.swizzle(rows=64, row_bytes=128),
    "swizzle_puzzle": lambda: lab.swizzle_puzzle("toy"),
    "fragment_map": widgets.fragments,
    "mbarrier_stepper": widgets.mbarrier,
    "tiling": lambda: widgets.TileExplorer(256, 128, 64, warp=(64, 64)),
    "tile_walker": lambda: widgets.tile_walk(naive, 4, 4, 4),
    "zoom": lab.zoom,
    "wavefront_stepper": lambda: widgets.wavefronts(lab.kernel("t4/03_swizzled").run(n=256, backend="simulator")),
    "predicted_timeline": lambda: lab.kernel("ampere/04_swizzled").predicted_timeline(n=1024).view,
}
PLAYERS = {"mbarrier_stepper": "step", "tile_walker": "step", "zoom": "step", "wavefront_stepper": "wavefront"}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", WIDGETS)
def test_at_rest_nothing_is_called(widget_page, name):
    page = widget_page("light", 824, 900)
    page.evaluate(COUNTING)
    page.mount(name, state_of(WIDGETS[name]()))
    page.wait_for_timeout(REST_MS)  # until a first drawing and its transitions are over
    page.evaluate("window.calls = 0")
    page.wait_for_timeout(REST_MS)
    assert page.evaluate("window.calls") == 0
    assert page.evaluate("document.getAnimations().length") == 0


def test_the_count_would_see_a_loop(widget_page):
    page = widget_page()
    page.evaluate(COUNTING)
    page.evaluate("() => { const again = () => requestAnimationFrame(again); again(); setInterval(() => {}, 50); }")
    page.wait_for_timeout(REST_MS)
    assert page.evaluate("window.calls") > 5


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", PLAYERS)
def test_what_plays_out_of_sight_stands_still_and_goes_on_in_sight(widget_page, name):
    page = widget_page("light", 824, 900)
    page.mount(name, state_of(WIDGETS[name]()))
    page.evaluate("document.body.append(Object.assign(document.createElement('div'), { style: 'height: 5000px' }))")
    step = f"window.widget.model.get('{PLAYERS[name]}')"
    first = page.evaluate(step)
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(f"{step} !== {first}", timeout=10_000)
    page.evaluate("window.scrollTo(0, 4000)")
    page.evaluate(TWO_FRAMES)  # after which the observer has been told
    away = page.evaluate(step)
    page.wait_for_timeout(STEPS_MS)
    assert page.evaluate(step) == away
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_function(f"{step} !== {away}", timeout=10_000)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    paused = page.evaluate(step)
    page.wait_for_timeout(STEPS_MS)
    assert page.evaluate(step) == paused
