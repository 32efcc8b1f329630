"""The card of `lab.simulate` in a page as wide as a notebook and in a narrow one: nothing is small, nothing is cut."""

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")

import gemm_lab as lab  # noqa: E402

pytestmark = pytest.mark.browser
SOURCE = """__global__ void transpose(float* out, const float* in) {
  __shared__ float tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[32 * y + x];
  __syncthreads();
  out[32 * x + y] = tile[y][x] + tile[x][y];
}"""
SMALL = """() => [...document.querySelectorAll("#here *")].filter((e) => parseFloat(getComputedStyle(e).fontSize) < 12
  && [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())).map((e) => e.textContent)"""
CUT = """() => [...document.querySelectorAll("#here, #here *")].filter((e) => e.scrollWidth > e.clientWidth + 1
  && e.clientWidth).map((e) => e.textContent.slice(0, 60))"""
# The contrast of a cell's colour with the page: the largest difference of a channel, of 255.
PALE = """() => [...document.querySelectorAll("#here td")].map((e) => {
  const of = (text) => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
  const [ink, paper] = [of(getComputedStyle(e).color), of(getComputedStyle(document.body).backgroundColor)];
  return Math.max(...ink.map((value, n) => Math.abs(value - paper[n])));
}).filter((difference) => difference < 120).length"""


@pytest.fixture(scope="module")
def shown():
    arrays = [np.zeros((32, 32), np.float32), np.ones((32, 32), np.float32)]
    return {
        "ran": lab.simulate(SOURCE, grid=1, block=(32, 32), args=arrays),
        "does not compile": lab.simulate(SOURCE.replace("= in[", "= inn["), grid=1, block=(32, 32), args=arrays),
        "out of bounds": lab.simulate(SOURCE, grid=1, block=(32, 32), args=[arrays[0][:1].copy(), arrays[1]]),
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 800])
@pytest.mark.parametrize("name", ["ran", "does not compile", "out of bounds"])
def test_the_card_is_legible_and_fits(widget_page, shown, name, width, theme):
    page = widget_page(theme, width, 900)
    page.evaluate(
        """(html) => { const here = document.getElementById("here");
        here.style.cssText = "font: 14px sans-serif; color: var(--jp-ui-font-color0)"; here.innerHTML = html; }""",
        shown[name]._repr_html_(),
    )
    assert page.evaluate(SMALL) == [] and page.evaluate(CUT) == [] and page.evaluate(PALE) == 0
    lit = page.locator("tr", has_text="▶")
    assert lit.count() == (name == "ran")
    if name == "ran":
        plain = page.locator("tr", has_text="tile[y][x] = in").evaluate("e => getComputedStyle(e).backgroundColor")
        assert lit.evaluate("e => getComputedStyle(e).backgroundColor") != plain
