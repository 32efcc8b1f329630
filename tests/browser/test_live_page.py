"""The live page in Chromium: kernels are edited, compiled and run there, and nothing is asked of another machine.

It needs npm and a folder with NumPy and ml_dtypes for Pyodide, whose path is in GEMM_LAB_WASM_WHEELS.
"""

import os
import shutil
from pathlib import Path

import pytest

from tools.widget_page import CHROMIUM, served

sync_api = pytest.importorskip("playwright.sync_api")
WHEELS = os.environ.get("GEMM_LAB_WASM_WHEELS")
ROOT = Path(__file__).resolve().parents[2]
WAIT_MS = 120_000  # the outer limit of every wait in the page
pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium here; on Debian: apt install chromium"),
    pytest.mark.skipif(not WHEELS, reason="GEMM_LAB_WASM_WHEELS names no folder with NumPy for Pyodide"),
    pytest.mark.skipif(not shutil.which("npm"), reason="there is no npm here"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    from tools.live.build import build

    into = tmp_path_factory.mktemp("site") / "live"
    sizes = build(into, Path(WHEELS), ROOT / "build" / "npm")
    assert sizes["simulator"] < 12e6 and sizes["compiler"] < 24e6
    with served(into) as where:
        yield f"{where}/index.html"


@pytest.fixture(scope="module")
def page(address):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
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


def test_a_kernel_runs_as_it_is(page):
    answer = run(page)
    assert answer["passed"] and not answer["notes"] and "2,816 wavefronts" in answer["summary"]
    assert "The result is right." in page.inner_text("#result") and not page.said


def test_without_the_xor_the_margin_shows_the_conflicts(page):
    original = text_of(page)
    write(page, original.replace("(chunk ^ row % 8)", "chunk"))
    answer = run(page)
    assert answer["passed"] and "17,152 wavefronts" in answer["summary"] and "loses most" in answer["advice"]
    worst = max(answer["lines"], key=lambda line: line["wavefronts"] - line["ideal"])
    assert worst["text"].startswith("ldmatrix") and worst["wavefronts"] == 8 * worst["ideal"]
    page.evaluate("([line]) => ace.edit('editor').gotoLine(line)", [worst["line"]])
    page.wait_for_function("document.querySelector('.ace_gutter').innerText.includes('×8.0')")
    write(page, original)


def test_without_a_barrier_races_are_named_at_their_lines(page):
    original = text_of(page)
    write(page, original.replace("__syncthreads();", "", 1))
    answer = run(page)
    assert not answer["passed"] and answer["heading"] == "Hazards"
    assert any(note["line"] and "there is no barrier between them" in note["text"] for note in answer["notes"])
    write(page, original)


def test_a_typo_is_named_at_its_line(page):
    original = text_of(page)
    line = 1 + original[: original.index("const int lane")].count("\n")
    write(page, original.replace("const int lane", "const itn lane", 1))
    answer = run(page)
    assert not answer["passed"] and answer["notes"][0]["line"] == line and "itn" in answer["notes"][0]["text"]
    write(page, original)


def test_an_endless_loop_is_stopped_and_the_text_is_kept(page):
    original = text_of(page)
    endless = original.replace("// ---- Where this warp works ----", "while (true) __syncwarp();", 1)
    write(page, endless)
    page.evaluate("window.lastAnswer = null")
    page.click("#run")
    page.wait_for_timeout(4000)
    if page.is_visible("#stop"):
        page.click("#stop")
    page.wait_for_function("window.lastAnswer")
    assert text_of(page) == endless
    write(page, original)
    assert run(page)["passed"], "the page works on"


def test_a_kernel_of_ones_own(page):
    choose(page, "simt/01_naive")
    own = """#include "config.cuh"
extern "C" __global__ void __launch_bounds__(BLOCK_N * BLOCK_M)
gemm(const float* a, const float* b, float* d, int M, int N, int K) {
  const int col = blockIdx.x * BLOCK_N + threadIdx.x % BLOCK_N, row = blockIdx.y * BLOCK_M + threadIdx.x / BLOCK_N;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += a[row * K + k] * b[k * N + col];
  d[row * N + col] = sum;
}
"""
    write(page, own)
    answer = run(page)
    assert answer["passed"] and [line["line"] for line in answer["lines"]] == [6, 7]


def test_an_exercise_is_checked_as_in_the_notebook(page):
    choose(page, "exercise/06_swizzle")
    assert "ldmatrix meets no bank conflict" in page.inner_text("#task")
    assert "not yet" in run(page)["verdict"]
    write(page, text_of(page).replace("+ chunk;", "+ (chunk ^ row % 8);"))
    answer = run(page)
    assert answer["passed"] and "solved" in answer["verdict"]


def test_a_text_travels_in_the_address(page, address):
    choose(page, "t4/03_swizzled")
    write(page, text_of(page).replace("(chunk ^ row % 8)", "chunk") + "// what is wrong here?\n")
    sent = text_of(page)
    page.click("#share")
    page.wait_for_function("location.hash.startsWith('#text=')")
    there = page.url
    page.goto("about:blank")
    page.goto(there)
    page.wait_for_selector("#run:not([disabled])")
    assert text_of(page) == sent


@pytest.mark.parametrize("hash", ["#text=abc", "#text=%%", "#kernel=t4/99"])
def test_a_damaged_address_gives_a_sentence(page, address, hash):
    page.goto("about:blank")
    page.goto(address + hash)
    page.wait_for_selector("#run:not([disabled])")
    assert "t4/03_swizzled is shown" in page.inner_text("#state") and "swizzled" in text_of(page)


def test_nothing_was_asked_of_another_machine(page, address):
    own = address.rsplit("/", 1)[0]
    assert page.asked and all(url.startswith((own, "data:", "blob:", "about:")) for url in page.asked)
    assert page.said == []


@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_a_phone_and_a_desk(page, address, width, tmp_path):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address)
    page.wait_for_selector("#run:not([disabled])")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=tmp_path / f"{width}.png")
