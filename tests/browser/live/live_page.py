"""The live page as its tests have it: built, opened in Chromium, written into and run."""

import os
import shutil
from pathlib import Path

import pytest

from tools.widget_page import CHROMIUM, served

sync_api = pytest.importorskip("playwright.sync_api")
WHEELS = os.environ.get("GEMM_LAB_WASM_WHEELS")
ROOT = Path(__file__).resolve().parents[3]
WAIT_MS = 120_000  # the outer limit of every wait in the page
MARKS = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium here; on Debian: apt install chromium"),
    pytest.mark.skipif(not WHEELS, reason="GEMM_LAB_WASM_WHEELS names no folder with NumPy for Pyodide"),
    pytest.mark.skipif(not shutil.which("npm"), reason="there is no npm here"),
]
ADD = """__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() { add<<<4, 256>>>(0, 0, 0, 1000); }
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    from tools.live.build import build

    into = tmp_path_factory.mktemp("site") / "live"
    sizes = build(into, Path(WHEELS), ROOT / "build" / "npm")
    assert sizes["simulator"] < 13e6 and sizes["compiler"] < 24e6
    with served(into) as where:
        yield f"{where}/index.html"


@pytest.fixture(scope="module")
def page(address):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(WAIT_MS)
        page.said, page.asked = [], []
        page.on("console", lambda message: message.type == "error" and page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(address)
        yield page
        browser.close()


def choose(page, name):
    page.select_option("#kernel", name)


def text_of(page):
    return page.evaluate("ace.edit('editor').getValue()")


def write(page, text):
    page.evaluate("([text]) => ace.edit('editor').session.setValue(text)", [text])


def run(page):
    page.evaluate("window.lastAnswer = null")
    page.click("#run")
    page.wait_for_function("window.lastAnswer")
    return page.evaluate("window.lastAnswer")


def launch_of(page):
    """What the form holds: [kernel, grid, block, further options], and {parameter: word}."""
    return page.evaluate(
        """[["name", "grid", "block", "more"].map((id) => document.getElementById(id).value),
        Object.fromEntries(Array.from(document.querySelectorAll("#arguments label"),
          (label) => [label.firstChild.textContent.trim(), label.querySelector("input").value]))]"""
    )


def paste(page, text, kernel):
    """Put a text in place of another, and wait until the form describes its kernel."""
    write(page, text)
    page.wait_for_function("([name]) => document.getElementById('name').value === name", arg=[kernel])


def argument(page, number, word):
    page.locator("#arguments input").nth(number).fill(word)


def anew(page, address):
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#run:not([disabled])")
