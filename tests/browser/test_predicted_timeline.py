"""The predicted timeline in Chromium: pointing, keys, zooming, both themes, and the picture that a notebook stores."""

import json

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

import gemm_lab as lab  # noqa: E402
from gemm_lab.notebook import widgets  # noqa: E402
from tools.widget_page import picture, state_of  # noqa: E402

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def view():
    return widgets.predicted_timeline(lab.kernel("ampere/04_swizzled").predicted_timeline(n=2048))


@pytest.fixture
def opened(widget_page, view):
    def open_page(theme="light", width=824, **changed):
        page = widget_page(theme, width)
        page.mount("predicted_timeline", {**state_of(view), **changed})
        return page

    return open_page


def words(page):
    return page.locator(".gl-says").inner_text()


def test_it_says_that_nothing_was_measured_and_how_far_to_trust_it(opened):
    page = opened()
    head = page.locator(".gl-timeline-head")
    expect(head).to_contain_text("predicted")
    expect(head).to_contain_text("not measured")
    expect(page.locator(".gl-note")).to_contain_text("blind trials")
    expect(page.locator(".gl-timeline-legend")).to_contain_text("long scoreboard")


def test_pointing_at_an_instruction_shows_its_line_and_its_wait(opened, view):
    page = opened()
    box = page.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + 400, box["y"] + 30)  # the first warp
    expect(page.locator(".gl-says")).to_contain_text("block 0, warp 0")
    expect(page.locator(".gl-says")).to_contain_text("line ")
    page.mouse.move(box["x"] + 400, box["y"] + 5)  # the axis
    expect(page.locator(".gl-says")).to_contain_text("tensor cores are busy")


def test_the_keys_reach_every_instruction(opened, view):
    page = opened()
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    first = words(page)
    assert "block 0, warp 0" in first
    page.keyboard.press("ArrowRight")
    expect(page.locator(".gl-says")).not_to_have_text(first)
    page.keyboard.press("ArrowDown")
    assert "block 1, warp 0" in words(page)
    page.keyboard.press("ArrowDown")
    assert "tensor core 0" in words(page)
    page.keyboard.press("Escape")
    expect(page.locator(".gl-says")).to_contain_text("tensor cores are busy")


def test_zooming_and_moving_stay_within_the_cycles_that_were_sent(opened, view):
    page = opened()
    slider = page.get_by_label("first cycle")
    for _ in range(8):
        page.get_by_label("more details").click()
    assert int(slider.get_attribute("max")) == view.length - 20
    for _ in range(12):
        page.get_by_label("fewer details").click()
    assert slider.get_attribute("max") == "0" and slider.input_value() == "0"
    page.locator("canvas").focus()
    page.keyboard.press("+")
    page.keyboard.press("End")
    page.get_by_label("later").click()
    assert slider.input_value() == slider.get_attribute("max")


def test_one_sub_partition_alone(opened):
    page = opened()
    high = page.locator("canvas").bounding_box()["height"]
    page.get_by_label("sub-partition", exact=True).select_option("2")
    expect(page.locator(".gl-timeline-head")).to_contain_text("sub-partition 2 of an SM")
    assert page.locator("canvas").bounding_box()["height"] < high
    assert page.evaluate("window.widget.state.part") == 2


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 824), ("dark", 480)])
def test_nothing_overflows(opened, theme, width):
    page = opened(theme, width)
    assert page.locator(".gemm-lab").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    drawn = page.evaluate("""() => { const c = document.querySelector("canvas");
        const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        return new Set(new Uint32Array(data.buffer)).size; }""")
    assert drawn > 20


def test_text_of_a_kernel_is_shown_and_never_run(opened, view):
    evil = '<img src=x onerror="window.hit = 1"><script>window.hit = 1</script>'
    code = [[evil, kind, line, evil] for _, kind, line, _ in view.code]
    page = opened(title=evil, code=code)
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".gl-says")).to_contain_text("<script>")
    assert page.locator(".gemm-lab img, .gemm-lab script").count() == 0
    assert page.evaluate("window.hit") is None


def test_the_stored_picture_is_a_png_without_controls(widget_page, view):
    page = widget_page()
    data = picture(page, {**state_of(view), "_esm": view._esm})
    assert data.startswith(b"\x89PNG")
    assert page.locator("select, button, input").filter(visible=True).count() == 0
    expect(page.locator(".gl-timeline-head")).to_contain_text("sub-partition 0")


def test_the_state_is_small_enough_to_be_sent(view):
    assert len(json.dumps(state_of(view))) < 1_000_000


def test_the_shares_of_the_view_are_those_of_the_result(opened, view):
    page = opened()
    busy = round(100 * view.found.busy["the tensor cores"])
    expect(page.locator(".gl-says")).to_contain_text(f"the tensor cores are busy for {busy} % of the time")
    for name, share in view.found.waits.items():
        if share > 0.01 and name != "selected":
            expect(page.locator(".gl-timeline-legend")).to_contain_text(f"{name} {round(100 * share)} %")
