"""The swizzle explorer in Chromium: what it says, draws and refuses, by mouse and by keyboard, and how often it draws."""

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

from gemm_lab_lessons.ch05.swizzle_explorer import TRAITS, swizzle  # noqa: E402

pytestmark = pytest.mark.browser

# The share of a canvas's pixels that differ from its first one, and a sum that changes with the picture.
INK = """(canvas) => {
  const data = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  let other = 0, sum = 0;
  data.forEach((pixel, i) => { if (pixel !== data[0]) other++; sum = (sum * 31 + pixel + i) % 1000003; });
  return [other / data.length, sum];
}"""
# Counts the calls that draw on a canvas.
COUNT_DRAWING = """() => {
  window.drawn = 0;
  const canvas = CanvasRenderingContext2D.prototype;
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(canvas)))
    if (typeof value === "function") canvas[name] = function (...all) { window.drawn++; return value.apply(this, all); };
}"""
# How often something was drawn, once ten frames have passed in which nothing was.
DRAWN = """async () => {
  for (let still = 0, before = window.drawn; still < 10; before = window.drawn) {
    await new Promise(requestAnimationFrame);
    still = window.drawn === before ? still + 1 : 0;
  }
  return window.drawn;
}"""
# The pictures of the frames after another layout was chosen, until thirty frames in a row were the same.
PICTURES = """async (layout) => {
  const picture = () => (INK)(document.querySelector(".gl-view canvas"))[1], seen = [];
  const select = [...document.querySelectorAll("select")].find((one) => one.labels[0]?.textContent.includes("layout"));
  select.value = layout;
  select.dispatchEvent(new Event("change", { bubbles: true }));
  for (let still = 0; still < 30; ) {
    await new Promise(requestAnimationFrame);
    seen.push(picture());
    still = seen.at(-1) === seen.at(-2) ? still + 1 : 0;
  }
  return seen;
}""".replace("INK", INK)


def state_of(widget):
    return {name: getattr(widget, name) for name in (*TRAITS, "predict", "answer", "selected")}


@pytest.fixture
def explorer(widget_page):
    def start(theme="light", width=824, **values):
        page = widget_page(theme, width)
        page.mount("swizzle_explorer", state_of(swizzle(**values)))
        return page

    return start


def saved(page):
    return page.evaluate("window.widget.saved.at(-1)")


def test_choosing_a_layout_changes_the_verdict_the_picture_and_the_state(explorer):
    page = explorer()
    verdict = page.locator(".gl-verdict")
    expect(verdict).to_contain_text("32wavefronts")
    expect(verdict).to_contain_text("8 × the ideal")
    canvas = page.locator(".gl-view canvas")
    share, before = canvas.evaluate(INK)
    assert share > 0.3, "the canvas is not blank"
    page.get_by_label("layout").select_option("xor")
    expect(verdict).to_contain_text("4wavefrontsfree of conflicts")
    page.wait_for_function(f"before => ({INK})(document.querySelector('.gl-view canvas'))[1] !== before", arg=before)
    assert saved(page)["scheme"] == "xor"
    page.get_by_label("access").select_option("cp.async")
    expect(verdict).to_contain_text("cp.async.cg")
    assert page.evaluate("window.widget.saved.length") == 2


def test_an_impossible_layout_says_why_and_the_last_valid_picture_stays(explorer):
    page = explorer(layout="xor")
    canvas, error = page.locator(".gl-view canvas"), page.locator(".gl-error")
    before = canvas.evaluate(INK)
    for value, said in (("96", "no XOR swizzle"), ("100", "steps of 16"), ("", "not NaN")):
        page.get_by_label("row_bytes").fill(value)
        page.get_by_label("row_bytes").press("Tab")
        expect(error).to_be_visible()
        expect(error).to_contain_text(said)
    page.get_by_label("row_bytes").fill("128")
    page.get_by_label("row_bytes").press("Tab")
    expect(error).to_be_hidden()
    page.get_by_label("layout").select_option("swizzle")
    page.get_by_label("shift", exact=True).fill("2")
    page.get_by_label("shift", exact=True).press("Tab")
    expect(error).to_contain_text("themselves")
    assert saved(page)["shift"] == 3 and canvas.evaluate(INK) == before


def test_predict_first_hides_the_count_until_there_is_an_answer(explorer):
    page = explorer(predict=True)
    verdict = page.locator(".gl-verdict")
    expect(verdict).to_contain_text("How many wavefronts")
    assert "32" not in verdict.inner_text().replace("32 lanes", "")
    expect(page.locator("canvas:visible")).to_have_count(1)
    page.get_by_label("your prediction").fill("8")
    page.get_by_label("your prediction").press("Enter")
    expect(verdict).to_contain_text("You said 8.")
    expect(verdict).to_contain_text("32wavefronts")
    assert saved(page)["answer"] == 8
    page.get_by_label("step on").click()
    expect(verdict).to_contain_text("How many wavefronts")
    assert saved(page)["answer"] is None


def test_the_keyboard_reaches_everything(explorer):
    page = explorer(layout="xor", selected=[1, 0])
    seen = []
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.type"))
    assert seen[:9] == ["rows", "row_bytes", "element", "layout", "access", "step back", "step", "step on", "checkbox"]
    page.locator(".gl-view canvas").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert saved(page)["selected"] == [2, 16]
    expect(page.locator(".gl-bits svg")).to_have_attribute("aria-label", "address 304, bank 12")


def test_pointing_links_the_cell_to_its_address_and_python_can_move_it(explorer):
    page = explorer(layout="xor")
    box = page.locator(".gl-view canvas").bounding_box()
    page.mouse.move(box["x"] + 45, box["y"] + 20 + 5 * 14 + 7)
    bits = page.locator(".gl-bits svg")
    expect(bits).to_have_attribute("aria-label", "address 720, bank 20")
    expect(page.locator(".gl-bits")).to_contain_text("0 XOR 5 = 5")
    title = page.locator(".gl-title", has_text="Address")
    expect(title).to_contain_text("of row 5, column 0; T5, wavefront 1 of 4")
    page.mouse.move(0, 0)
    expect(bits).to_have_attribute("aria-label", "address 144, bank 4")
    waves = page.locator("canvas").nth(1).bounding_box()
    page.mouse.move(waves["x"] + 80, waves["y"] + 52)
    expect(title).to_contain_text("row 8, column 0; T8, wavefront 2 of 4")
    page.evaluate("window.widget.model.set('scheme', 'plain')")
    expect(page.locator(".gl-verdict")).to_contain_text("32wavefronts")


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("theme", "width"), [("light", 824), ("dark", 480)])
def test_nothing_overflows_in_either_theme(explorer, theme, width):
    for values in (
        {},
        {"layout": "padded", "access": "column load", "element": "f32", "rows": 128},
        {"row_bytes": 1024, "rows": 16, "layout": "tma128", "access": "cp.async"},
        {"rows": 4, "row_bytes": 16, "element": "f32", "banks": 4, "access": "row store", "layout": "xor"},
    ):
        page = explorer(theme, width, **values)
        widget = page.locator(".gemm-lab")
        assert page.evaluate("document.body.scrollWidth <= innerWidth")
        assert widget.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        assert widget.evaluate("e => e.classList.contains('gl-dark')") == (theme == "dark")
        assert page.locator(".gl-view canvas").evaluate(INK)[0] > 0.02


def test_pointing_draws_nothing_again_and_a_step_does(explorer):
    page = explorer(rows=64, row_bytes=128)
    box = page.locator(".gl-view canvas").bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 20)
    page.evaluate(COUNT_DRAWING)
    page.evaluate(DRAWN)
    before = page.evaluate("window.drawn")
    for n in range(50):
        page.mouse.move(box["x"] + 50 + 6 * n, box["y"] + 30 + 5 * n)
    assert page.evaluate(DRAWN) == before
    page.get_by_label("step", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("before => window.drawn > before", arg=before)


def test_a_closed_view_hears_nothing_more(explorer):
    page = explorer()
    assert page.evaluate("window.widget.heard()") > 10
    page.evaluate("window.widget.close()")
    assert page.evaluate("window.widget.heard()") == 0


def test_lanes_glide_to_another_layout_and_arrive(explorer):
    page = explorer(layout="xor")
    page.wait_for_timeout(50)
    there = page.locator(".gl-view canvas").evaluate(INK)[1]
    page = explorer(layout="plain")
    page.wait_for_timeout(50)
    here = page.locator(".gl-view canvas").evaluate(INK)[1]
    seen = page.evaluate(PICTURES, "xor")
    assert seen[-1] == there and set(seen) - {here, there}, "on their way"
    page.emulate_media(reduced_motion="reduce")
    assert set(page.evaluate(PICTURES, "plain")) <= {here, there}
    seen = page.evaluate(PICTURES, "xor")
    assert seen[-1] == there and set(seen) <= {here, there}, "at once, where the reader wants no motion"
