"""The tile explorer in Chromium: what a slider sends, what is drawn, and that no label collides."""

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

from gemm_lab_lessons.ch01.tiling import CHOICES, TileExplorer  # noqa: E402

pytestmark = pytest.mark.browser
NAMES = (*CHOICES, "options", "shown")
# Pairs of texts whose boxes overlap.
COLLIDING = """() => {
  const boxes = [...document.querySelectorAll(".gl-tile text, .gl-bars b, .gl-bars span, .gl-bars .gl-muted")]
    .map((e) => [e.textContent, e.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1).map(([two]) => [one, two]));
}"""


def state(explorer):
    return {name: getattr(explorer, name) for name in NAMES}


def test_a_slider_sends_its_choice_and_the_answer_is_drawn(widget_page):
    page = widget_page()
    page.mount("tiling", state(TileExplorer(256, 128, 64, gpu="t4")))
    expect(page.locator(".gl-bars")).to_contain_text("32,768 of 65,536 registers of an SM")
    slider = page.get_by_label("BLOCK_N")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.widget.saved.at(-1).block_n") == 144
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("window.widget.saved.at(-1).block_n") == 192
    answer = TileExplorer(256, 256, 64, gpu="t4").shown
    page.evaluate("shown => window.widget.model.set('shown', shown)", answer)
    expect(page.locator(".gl-bars")).to_contain_text("✗ none is left for the rest of the kernel")
    expect(page.locator(".gl-tile")).to_contain_text("tile of D: 256 × 256")
    page.evaluate("shown => window.widget.model.set('shown', { ...shown, problem: 'No.' })", answer)
    expect(page.get_by_role("alert")).to_have_text("No.")


def test_a_bar_is_a_line_of_words_a_track_and_a_line_of_words(widget_page):
    """Styles of another widget, with a class of the same name, once made each of them 100 pixels high."""
    page = widget_page("light", 824, 720)
    page.mount("tiling", state(TileExplorer(256, 192, 32, gpu="t4")))
    heights = page.locator(".gl-bar").evaluate_all("all => all.map((e) => e.getBoundingClientRect().height)")
    assert len(heights) == 4 and max(heights) <= 60
    assert page.locator(".gemm-lab").bounding_box()["height"] <= 420


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 560)])
def test_no_label_collides_and_nothing_is_cut(widget_page, theme, width):
    for tile in ((32, 32, 8), (512, 512, 128), (256, 96, 64)):
        page = widget_page(theme, width, 720)
        page.mount("tiling", state(TileExplorer(*tile, gpu="t4", warp=(16, 32) if tile[0] == 512 else None)))
        assert page.evaluate(COLLIDING) == []
        assert page.locator(".gemm-lab").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
