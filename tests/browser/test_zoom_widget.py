"""The zoom in Chromium: levels, time, keys, the mouse, both themes, and the sizes that a notebook gives it."""

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402
from widget_frames import work  # noqa: E402

import gemm_lab as lab  # noqa: E402
from gemm_lab_lessons.zoom.zoom_text import LEVELS  # noqa: E402

pytestmark = pytest.mark.browser

TRAITS = ("title", "scene", "level", "step", "blocks", "block", "warps", "warp", "lane")
# The frame times of a zoom over all levels and back, while the steps play, in milliseconds.
FRAMES = """async () => {
  const times = [], root = document.querySelector(".gemm-lab"), wait = (ms) => new Promise((done) => setTimeout(done, ms));
  let last = null, running = true;
  const tick = (now) => (last !== null && times.push(now - last), (last = now), running && requestAnimationFrame(tick));
  requestAnimationFrame(tick);
  root.querySelector(".gl-zoom-time .gl-main").click();
  for (const level of ["level bits", "level DRAM"]) {
    root.querySelector(`[aria-label="${level}"]`).click();
    await wait(1700);
  }
  running = false;
  return times;
}"""


def state_of(widget):
    return {name: getattr(widget, name) for name in TRAITS}


@pytest.fixture(scope="module")
def state():
    return state_of(lab.zoom())


@pytest.fixture
def still(widget_page, state):
    """The widget at its first step, without animation."""
    page = widget_page(height=720)
    page.emulate_media(reduced_motion="reduce")
    page.mount("zoom", {**state})
    return page


def saved(page, name):
    return page.evaluate("name => window.widget.saved.at(-1)[name]", name)


def pixels(page):
    return page.evaluate(
        """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
            done(document.querySelector(".gl-zoom-canvas").toDataURL()))))"""
    )


def test_keys_step_through_time_and_through_the_levels(still, state):
    page = still
    says, canvas = page.locator(".gl-says"), page.locator(".gl-zoom-canvas")
    expect(says).to_have_text(f"Step 1 of 224, line 51: {state['scene']['says'][0]}.")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(says).to_contain_text("Step 3 of 224, line 51")
    assert saved(page, "step") == 2
    page.keyboard.press("ArrowLeft")
    expect(says).to_contain_text("Step 2 of 224")
    page.keyboard.press("End")
    expect(says).to_contain_text("Step 224 of 224")
    page.keyboard.press("ArrowRight")
    expect(says).to_contain_text("Step 224 of 224")
    page.keyboard.press("Home")
    for level in LEVELS[2:]:
        page.keyboard.press("+")
        assert saved(page, "level") == level
    page.keyboard.press("+")
    assert saved(page, "level") == "bits"
    page.keyboard.press("-")
    page.keyboard.press("Escape")
    assert saved(page, "level") == "fragment"
    page.keyboard.press("ArrowDown")
    assert saved(page, "lane") == 6
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.long
def test_every_level_draws_something_of_its_own(still):
    page = still
    seen = set()
    for name in ("DRAM", "blocks", "warps", "fragment", "banks", "bits"):
        page.get_by_label(f"level {name}").click()
        expect(page.get_by_label(f"level {name}")).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".gl-zoom-canvas")).to_have_attribute("aria-label", f"{name}. {said(page)}")
        seen.add(pixels(page))
    assert len(seen) == 6


def said(page):
    return page.locator(".gl-says").inner_text()


def test_the_source_line_of_the_step_is_lit_and_visible(still, state):
    page = still
    lines, at = state["scene"]["lines"], state["scene"]["events"]["line"]
    for step in (0, 60, 223):
        page.evaluate("step => window.widget.model.set('step', step)", step)
        lit = page.locator(".gl-source .gl-now")
        expect(lit).to_have_count(1)
        number, text, _ = lines[at[step]]
        expect(lit).to_contain_text(text.strip()[:30])
        assert lit.inner_text().strip().startswith(str(number))
        box, frame = lit.bounding_box(), page.locator(".gl-source").bounding_box()
        assert frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"] + 1


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("level", "most"), [("dram", 200), ("block", 150), ("warp", 400), ("fragment", 700), ("bank", 800), ("bits", 500)]
)
def test_a_step_changes_few_nodes_and_draws_with_few_calls(still, state, level, most):
    page = still
    page.mount("zoom", {**state, "level": level})
    spent = work(page, list(range(50, 62)))
    assert max(nodes for nodes, _ in spent) <= 8 and max(calls for _, calls in spent) <= most
    assert min(calls for _, calls in spent) > 20, "every step is drawn"


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chosen_level_is_legible_under_the_mouse(widget_page, state, theme):
    page = widget_page(theme, 1180, 720)
    page.mount("zoom", {**state})
    chosen = page.locator(".gl-levels .gl-on")
    before = chosen.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
    chosen.hover()
    assert chosen.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]") == before
    assert before[0] != before[1]


@pytest.mark.parametrize("width", [1180, 760])
def test_the_whole_line_of_the_step_is_seen(widget_page, state, width):
    page = widget_page("light", width, 720)
    page.mount("zoom", {**state})
    for step in (0, 60, 223):
        page.evaluate("step => window.widget.model.set('step', step)", step)
        lit, frame = page.locator(".gl-source .gl-now"), page.locator(".gl-source")
        assert lit.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        assert lit.bounding_box()["width"] <= frame.bounding_box()["width"] + 1


def test_playing_ends_with_the_last_step(still, state):
    page, last = still, len(state["scene"]["events"]["what"]) - 1
    page.evaluate("step => window.widget.model.set('step', step)", last - 1)
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("last => window.widget.state.step === last", arg=last)
    assert page.locator(".gl-zoom-time .gl-main").inner_text() == "Play", "at once, and not with the next tick"


def test_playing_and_the_slider(still):
    page = still
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".gl-says")).to_contain_text("Step 3 of 224", timeout=60_000)
    page.get_by_role("button", name="Pause").click()
    slider = page.get_by_label("step", exact=True)
    slider.evaluate("e => ((e.value = 100), e.dispatchEvent(new Event('input')))")
    expect(page.locator(".gl-says")).to_contain_text("Step 101 of 224")
    assert saved(page, "step") == 100
    page.get_by_label("step on").click()
    page.get_by_label("step back").click()
    expect(slider).to_have_attribute("aria-valuetext", said(page))


@pytest.mark.long
def test_a_click_goes_in_and_the_wheel_goes_on(still):
    page = still
    canvas = page.locator(".gl-zoom-canvas")
    page.evaluate("() => document.activeElement?.blur()")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 150)
    page.mouse.wheel(0, -200)
    assert page.evaluate("() => window.widget.saved.length") == 0  # not clicked yet: the page scrolls
    page.get_by_label("level DRAM").click()
    canvas.click(position={"x": 150, "y": 200})
    assert saved(page, "level") == "block"
    page.mouse.wheel(0, -200)
    page.wait_for_function("() => window.widget.state.level === 'warp'")
    page.mouse.wheel(0, 200)
    page.wait_for_function("() => window.widget.state.level === 'block'")


@pytest.mark.long
def test_lanes_blocks_and_warps_are_chosen(still, state):
    page = still
    page.get_by_label("level banks").click()
    pixels(page)
    before = pixels(page)
    page.get_by_label("lane").fill("9")
    page.get_by_label("lane").press("Enter")
    assert saved(page, "lane") == 9 and pixels(page) != before
    page.get_by_label("lane").fill("40")
    page.get_by_label("lane").press("Enter")
    assert saved(page, "lane") == 9 and page.get_by_label("lane").input_value() == "9"
    page.get_by_label("block", exact=True).fill("2")
    page.get_by_label("block", exact=True).press("Enter")
    assert saved(page, "block") == 2
    page.get_by_label("warp", exact=True).select_option("all")
    assert saved(page, "warp") == -1
    page.evaluate("scene => window.widget.model.set('scene', scene)", {**state["scene"], "total": 5000})
    expect(page.locator(".gl-says")).to_contain_text("(the first 224 of 5,000 are shown)")


def test_an_empty_level_says_why(widget_page):
    widget = lab.zoom(lab.kernel("simt/02_coalesced").run(32, backend="simulator", timed=False), "bank")
    page = widget_page(height=720)
    page.emulate_media(reduced_motion="reduce")
    page.mount("zoom", state_of(widget))
    why = widget.scene["why"]["bank"]
    expect(page.locator(".gl-zoom-canvas")).to_have_attribute("aria-label", f"banks. {why}")
    for name in ("DRAM", "blocks", "warps", "fragment", "bits"):
        page.get_by_label(f"level {name}").click()
        pixels(page)


@pytest.mark.long
@pytest.mark.parametrize(
    ("theme", "width"), [("light", 824), ("dark", 824), ("light", 1280), ("dark", 1280), ("dark", 640)]
)
def test_it_fits_and_follows_the_theme(widget_page, state, theme, width):
    page = widget_page(theme, width, 720)
    page.mount("zoom", {**state, "step": 60})
    root = page.locator(".gemm-lab")
    assert root.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    assert root.bounding_box()["height"] <= (560 if width >= 824 else 600)
    small = root.evaluate(
        "e => [...e.querySelectorAll('*')].filter((x) => parseFloat(getComputedStyle(x).fontSize) < 12).map((x) => x.tagName)"
    )
    assert small == []
    assert root.evaluate("e => e.classList.contains('gl-dark')") == (theme == "dark")
    assert page.locator(".gl-says").evaluate("e => e.scrollHeight <= e.clientHeight + 1")


@pytest.mark.long
def test_the_words_on_the_canvas_are_not_small(widget_page, state):
    page = widget_page(height=720)
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(
        """() => {
          window.sizes = [];
          const fill = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (...rest) {
            window.sizes.push(parseFloat(this.font.match(/([0-9.]+)px/)[1]));
            return fill.apply(this, rest);
          };
        }"""
    )
    page.mount("zoom", {**state, "step": 60})
    for name in ("DRAM", "blocks", "warps", "fragment", "banks", "bits"):
        page.get_by_label(f"level {name}").click()
        pixels(page)
    assert min(page.evaluate("() => window.sizes")) >= 12


@pytest.mark.long
def test_the_zoom_moves_through_the_levels(widget_page, state):
    page = widget_page(height=720)
    page.mount("zoom", {**state, "step": 60})
    times = page.evaluate(FRAMES)
    late = sum(time > 1000 / 30 for time in times)
    print(
        f"{len(times)} frames, median {sorted(times)[len(times) // 2]:.1f} ms, worst {max(times):.1f} ms, {late} over 33 ms"
    )
    assert len(times) > 10 and saved(page, "level") == "dram"


def test_closing_stops_everything(still):
    page = still
    page.get_by_role("button", name="Play").click()
    page.evaluate("() => window.widget.close()")
    assert page.evaluate("() => window.widget.heard()") == 0
    step = page.evaluate("() => window.widget.state.step")
    page.wait_for_timeout(1200)
    assert page.evaluate("() => window.widget.state.step") == step
