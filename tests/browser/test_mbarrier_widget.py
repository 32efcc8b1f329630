"""The mbarrier stepper in Chromium: stepping, playing, other stories, in both themes."""

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

from gemm_lab.notebook import widgets  # noqa: E402

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def state():
    stepper = widgets.mbarrier()
    return {name: getattr(stepper, name) for name in ("stories", "story", "moments", "step")}


def test_stepping_and_clicking(widget_page, state):
    page = widget_page()
    page.mount("mbarrier_stepper", state)
    now, fields = page.locator(".gl-where"), page.locator(".gl-fields").first
    expect(fields).to_contain_text("1 of 1")
    for _ in range(2):
        page.get_by_label("step on").click()
    expect(now).to_have_text("step 2 of 10")
    expect(fields).to_contain_text("49,152")
    expect(page.locator(".gl-waiters")).to_have_text("consumer waits for parity 0")
    page.locator(".gl-moments tr").nth(5).click()
    expect(page.locator(".gl-waiters")).to_have_text("consumer goes on")
    expect(page.locator(".gl-box.gl-now")).to_contain_text("phase 1: now")
    assert page.evaluate("window.widget.saved.at(-1).step") == 4


def test_another_story_starts_at_its_first_step_and_bad_steps_show(widget_page, state):
    page = widget_page()
    page.mount("mbarrier_stepper", {**state, "step": 3})
    page.get_by_label("story").select_option("parity never flipped")
    expect(page.locator(".gl-where")).to_have_text("step 0 of 7")
    page.get_by_label("step", exact=True).fill("6")
    expect(page.locator(".gl-verdict.gl-conflict")).to_contain_text("returns at once")
    assert page.locator(".gl-moments tr.gl-bad").count() == 2


@pytest.mark.long
def test_playing_stops_at_the_end(widget_page, state):
    page = widget_page()
    page.mount("mbarrier_stepper", {**state, "step": 8})
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".gl-where")).to_have_text("step 10 of 10", timeout=60_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=60_000)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("theme", "width"), [("light", 824), ("dark", 824), ("dark", 480)])
def test_nothing_overflows(widget_page, state, theme, width, tmp_path):
    page = widget_page(theme, width)
    page.mount("mbarrier_stepper", {**state, "story": "parity never flipped", "step": 6})
    page.screenshot(path=tmp_path / "widget.png", clip={"x": 0, "y": 0, "width": width, "height": 620})
    assert page.locator(".gemm-lab").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    assert page.locator(".gemm-lab").evaluate("e => e.classList.contains('gl-dark')") == (theme == "dark")
