"""The wavefront stepper in Chromium: stepping, playing, choosing, in both themes."""

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

import gemm_lab as lab  # noqa: E402
from gemm_lab.notebook import widgets  # noqa: E402

pytestmark = pytest.mark.browser

TRAITS = ("title", "lines", "line", "warps", "warp", "accesses", "whole", "execution", "wavefront")


@pytest.fixture(scope="module")
def state():
    stepper = widgets.wavefronts(lab.kernel("t4/02_vectorized_copy").run(n=256, backend="simulator"))
    return {name: getattr(stepper, name) for name in TRAITS}


def saved(page, name):
    return page.evaluate("name => window.widget.saved.at(-1)[name]", name)


def test_stepping_through_the_passes(widget_page, state):
    page = widget_page()
    page.mount("wavefront_stepper", state)
    verdict, now = page.locator(".gl-verdict"), page.locator(".gl-player .gl-where")
    expect(verdict).to_contain_text("32wavefronts")
    expect(verdict).to_contain_text("all executions of this warp: 2,048 of 256 ideal")
    expect(now).to_have_text("all 32")
    page.get_by_label("wavefront on").click()
    expect(now).to_have_text("wavefront 1 of 32: lanes 0")
    page.get_by_label("wavefront", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(now).to_have_text("wavefront 2 of 32: lanes 1")
    page.get_by_label("wavefront back").click()
    page.get_by_label("wavefront back").click()
    assert saved(page, "wavefront") == 0
    page.get_by_label("execution on").click()
    expect(page.locator(".gl-steps .gl-where").first).to_have_text("execution 2 of 64")
    assert saved(page, "execution") == 1 and saved(page, "wavefront") == -1


def test_playing_shows_one_after_the_other(widget_page, state):
    page = widget_page()
    page.mount("wavefront_stepper", state)
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".gl-player .gl-where")).to_have_text("wavefront 3 of 32: lanes 2", timeout=60_000)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_python_hears_of_another_line_or_warp_and_its_answer_is_drawn(widget_page, state):
    page = widget_page()
    page.mount("wavefront_stepper", state)
    page.get_by_label("warp").select_option("3")
    assert saved(page, "warp") == 3
    page.get_by_label("line", exact=True).select_option(index=0)
    assert saved(page, "line") == state["lines"][0]["number"]
    store = {
        "opcode": "st.shared.v4.u32",
        "kind": "store",
        "width": 16,
        "addresses": [16 * n for n in range(32)],
        "source": [],
    }
    page.evaluate("items => window.widget.model.set('accesses', items)", [store])
    expect(page.locator(".gl-verdict")).to_contain_text("4wavefrontsfree of conflicts")


@pytest.mark.parametrize(("theme", "width"), [("light", 824), ("dark", 480)])
def test_nothing_overflows(widget_page, state, theme, width):
    page = widget_page(theme, width)
    page.mount("wavefront_stepper", state)
    assert page.locator(".gemm-lab").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    assert page.locator("canvas").count() == 2
