"""Widgets fit a screen of 1280 × 720, no letter is smaller than 12 pixels."""

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")

import gemm_lab as lab  # noqa: E402
from gemm_lab.notebook import widgets
from tools.widget_page import state_of  # noqa: E402

pytestmark = pytest.mark.browser
VISIBLE = 620  # pixels of a notebook that JupyterLab shows on a screen of 720
SMALL = """() => [...document.querySelectorAll(".gemm-lab *")].filter((e) => parseFloat(getComputedStyle(e).fontSize) < 12
  && [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())).map((e) => e.textContent)"""


@pytest.fixture(scope="module")
def shown():
    run = lab.kernel("t4/02_vectorized_copy").run(n=256, backend="simulator")
    return {
        "tiling": widgets.TileExplorer(256, 128, 64, gpu="t4"),
        "swizzle_explorer": lab.swizzle(rows=64, row_bytes=128, layout="xor"),
        "wavefront_stepper": widgets.wavefronts(run),
        "fragment_map": widgets.fragments(),
        "mbarrier_stepper": widgets.mbarrier(),
        "predicted_timeline": lab.kernel("ampere/04_swizzled").predicted_timeline(n=1024).view,
    }


@pytest.mark.parametrize(
    "name",
    ["tiling", "swizzle_explorer", "wavefront_stepper", "fragment_map", "mbarrier_stepper", "predicted_timeline"],
)
def test_a_widget_fits_the_screen_and_its_letters_are_legible(widget_page, shown, name):
    for theme, width in (("light", 1180), ("dark", 740)):
        page = widget_page(theme, width, 720)
        page.mount(name, state_of(shown[name]))
        assert page.evaluate(SMALL) == []
        box = page.locator(".gemm-lab").bounding_box()
        assert box["height"] <= VISIBLE and box["x"] + box["width"] <= width


CANVAS_SIZES = """() => {
  window.sizes = [];
  const fill = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (...rest) {
    window.sizes.push(parseFloat(this.font.match(/([0-9.]+)px/)[1]));
    return fill.apply(this, rest);
  };
}"""


@pytest.mark.parametrize("layout", ["plain", "padded", "xor", "tma128"])
def test_the_swizzle_explorer_fits_with_every_layout(widget_page, layout):
    """The controls and all of the picture are seen at once, and what is on its canvases is legible."""
    page = widget_page("light", 800, 720)
    page.evaluate(CANVAS_SIZES)
    page.mount("swizzle_explorer", state_of(lab.swizzle(rows=64, row_bytes=128, layout=layout)))
    box = page.locator(".gemm-lab").bounding_box()
    assert box["height"] <= VISIBLE and box["x"] + box["width"] <= 800
    assert min(page.evaluate("() => window.sizes")) >= 12
    for part in (".gl-controls", ".gl-view canvas", ".gl-low", ".gl-bits svg"):
        inner = page.locator(part).bounding_box()
        assert inner["x"] >= box["x"] and inner["x"] + inner["width"] <= box["x"] + box["width"] + 1, part
        assert inner["y"] + inner["height"] <= box["y"] + box["height"], part
    titles = page.locator(".gl-title").evaluate_all("all => all.map((e) => e.scrollWidth - e.clientWidth)")
    assert max(titles) <= 0, "no title is cut"


def test_the_play_button_is_legible_under_the_pointer(widget_page, shown):
    page = widget_page()
    page.mount("wavefront_stepper", state_of(shown["wavefront_stepper"]))
    play = page.locator(".gl-main")
    before = play.evaluate("e => getComputedStyle(e).backgroundColor")
    play.hover()
    assert play.evaluate("e => getComputedStyle(e).backgroundColor") == before


def test_no_frame_crosses_the_names_of_registers(widget_page):
    page = widget_page()
    page.mount("fragment_map", state_of(widgets.fragments("m16n8k16", "bf16", stored="row-major")))
    frames = page.locator(".gl-named:visible").evaluate_all("all => all.map((e) => e.getBoundingClientRect().height)")
    assert len(frames) == 2 and all(height >= 16 for height in frames), "a frame holds whole rows of registers"
