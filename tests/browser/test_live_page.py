# ruff: noqa: F811
"""The live page in Chromium: kernels are edited, compiled and run there, and nothing is asked of another machine.

It needs npm and a folder with NumPy and ml_dtypes for Pyodide, whose path is in GEMM_LAB_WASM_WHEELS.
"""

import re

import numpy as np
import pytest

from tests.browser.live.live_page import (  # noqa: F401
    ADD,
    MARKS,
    address,
    anew,
    argument,
    choose,
    launch_of,
    page,
    paste,
    run,
    text_of,
    write,
)
from tests.site.test_accessibility import axe, violations  # noqa: F401

pytestmark = MARKS
SOFTMAX = """__global__ void softmax(const float* x, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  float m = -INFINITY, s = 0.f;
  for (int i = threadIdx.x; i < cols; i += 32) m = fmaxf(m, row[i]);
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  for (int i = threadIdx.x; i < cols; i += 32) s += __expf(row[i] - m);
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  for (int i = threadIdx.x; i < cols; i += 32) y[blockIdx.x * cols + i] = __expf(row[i] - m) / s;
  if (threadIdx.x == 0) printf("row %d\\n", blockIdx.x);
}
"""
PARTIAL = """__global__ void k(unsigned* out) {
  __shared__ __align__(16) unsigned s[128];
  for (int i = threadIdx.x; i < 128; i += 32) s[i] = i;
  __syncthreads();
  if (threadIdx.x > 8) return;
  unsigned a, b, c, d, at = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x * 4]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
  out[threadIdx.x] = a + b + c + d;
}
"""
BARRIER = "__global__ void k(float* a) {\n  if (threadIdx.x < 40) __syncthreads();\n  a[threadIdx.x] = 1;\n}"


def test_the_first_kernel_is_slow_and_one_change_mends_it(page):
    answer = run(page)
    assert answer["passed"] and answer["compiler"].startswith("PTX of NVIDIA's compiler"), "it needs no compiler"
    assert [(one["line"], one["wavefronts"], one["ideal"]) for one in answer["lines"]] == [
        (10, 512, 512),
        (13, 16384, 512),
    ]
    assert "16K ×32 13" in page.inner_text(".ace_gutter")
    assert page.inner_text("tr.worst td").strip() == "13" and "float* out" in page.inner_text("#result")
    assert "tile[row][column ^ (row & 31)]" in page.inner_text(".layouts")
    assert page.inner_text("#result .fair").endswith(
        "out is as expected. Line 13 takes 32 times the wavefronts that it needs."
    )
    code = page.locator(".layouts code").first.bounding_box()
    assert code["x"] + code["width"] <= 1280, "what helps stands in sight"
    write(page, text_of(page).replace("[TILE];", "[TILE + 1];"))
    assert page.evaluate("document.querySelector('.ace_gutter').offsetWidth") < 60, "the margin is narrow again"
    assert (
        page.evaluate("getComputedStyle(document.getElementById('result'), '::before').content")
        == '"Of the run before:"'
    )
    answer = run(page)
    assert answer["passed"] and all(one["wavefronts"] == one["ideal"] for one in answer["lines"])
    assert "16,896 → 1,024 wavefronts" in page.inner_text("#result") and page.inner_text("#result .good")
    assert "nothing to gain from another layout" in page.inner_text("#result")


def test_what_was_written_is_kept_and_the_original_asks_first(page, address):
    mended = text_of(page)
    argument(page, 0, "f32:128x128:arange")
    anew(page, address)
    assert text_of(page) == mended and launch_of(page)[1]["const float* in"] == "f32:128x128:arange"
    page.click("#reset")
    page.click("#no")
    assert text_of(page) == mended
    page.click("#reset")
    page.click("#yes")
    assert "[TILE];" in text_of(page) and launch_of(page)[1]["const float* in"] == "f32:128x128:random"
    page.evaluate("ace.edit('editor').undo()")
    assert text_of(page) == mended, "undo brings it back"
    page.click("#reset")
    page.click("#yes")
    anew(page, address)
    assert "[TILE];" in text_of(page)


def test_a_pasted_kernel_is_found_with_its_parameters_and_runs(page, address):
    choose(page, "own/yours")
    paste(page, SOFTMAX, "softmax")
    fields, words = launch_of(page)
    assert fields == ["softmax", "4", "32", ""]
    assert words == {"const float* x": "f32:?:random", "float* y": "f32:?", "int cols": "128"}
    assert page.is_visible("#guessed")
    page.fill("#block", "32")
    assert page.is_hidden("#guessed")
    for number, word in enumerate(("f32:4x100:random", "f32:4x100", "100")):
        argument(page, number, word)
    page.fill("#more", "--print 1[0,0:2]")
    answer = run(page)
    assert answer["passed"] and answer["arrays"][1][2] == "changed 400 of 400"
    values = np.exp(np.random.default_rng(0).standard_normal(100))
    first, second = re.findall(r"0\.\d+", answer["printed"][0])
    assert np.allclose([float(first), float(second)], (values / values.sum())[:2], rtol=1e-4)
    assert "row 3" in page.inner_text("#result > pre")
    assert launch_of(page)[1]["int cols"] == "100"
    paste(page, ADD, "add")
    assert launch_of(page)[1]["const float* b"] == "f32:?:random"
    answer = run(page)
    assert answer["passed"] and [one["line"] for one in answer["lines"]] == [3]
    anew(page, address + "#kernel=own/yours")
    assert text_of(page) == ADD and launch_of(page)[0] == ["add", "4", "256", ""]


def test_back_leads_to_the_kernel_before(page, address):
    anew(page, address + "#kernel=t4/03_swizzled")
    choose(page, "simt/01_naive")
    page.go_back()
    page.wait_for_function("document.getElementById('kernel').value === 't4/03_swizzled'")
    assert "03_swizzled.cu" in text_of(page)


def test_a_second_tab_overwrites_nothing_unasked(page, address):
    anew(page, address + "#kernel=own/yours")
    mine = text_of(page)
    other = page.context.new_page()
    other.goto(address + "#kernel=own/yours")
    other.wait_for_selector("#run:not([disabled])")
    write(other, "// another\n" + mine)
    page.bring_to_front()
    page.click("#no")
    assert text_of(page) == mine
    other.bring_to_front()
    other.click("#yes")
    assert text_of(other) == mine
    other.close()


def test_a_long_text_hangs_nothing(page):
    choose(page, "own/yours")
    long = ADD.replace("int main() {", "int main() {\n" + "  cudaMemcpy(d, h, 4000, cudaMemcpyHostToDevice);\n" * 4500)
    paste(page, long, "add")
    assert len(long) > 200_000 and page.evaluate("(async () => await new Promise(requestAnimationFrame))()") > 0
    assert run(page)["passed"]
    write(page, ADD)


def test_a_template_is_launched_with_the_arguments_that_the_text_gives_it(page):
    source = """template <typename T, int N> __global__ void scale(T* x) { x[threadIdx.x] *= N; }
template __global__ void scale<float, 3>(float*);
"""
    choose(page, "own/yours")
    paste(page, source, "scale<float, 3>")
    page.fill("#grid", "1")
    page.fill("#more", "--print 0[0:2]")
    argument(page, 0, "f32:256:ones")
    answer = run(page)
    assert answer["passed"] and answer["printed"] == ["0[0:2] = [3., 3.]"]


@pytest.mark.parametrize(
    "source, block, line, said",
    [
        (ADD.replace("if (i < n) ", ""), 512, 3, "past the end of"),
        (PARTIAL.replace("unsigned* out", "float* out"), 32, 7, "without lanes 9-31 of its warp"),
        (ADD.replace("if (i < n)", "while (i >= 0)"), 256, 3, "it spins at line 3"),
        (BARRIER, 64, 2, "do not come to this barrier"),
        ("__global__ void k(float* a) {\n  atomicAdd(a + 100000, 1.f);\n}", 32, 2, "past the end of"),
    ],
    ids=["bounds", "partial warp", "endless", "barrier", "atomic"],
)
def test_a_fault_is_said_at_its_line_and_the_page_works_on(page, source, block, line, said):
    write(page, "")
    paste(page, source, "add" if "void add" in source else "k")
    for number in range(page.locator("#arguments input").count()):
        argument(page, number, "1000" if number == 3 else "f32:1024")
    page.fill("#block", str(block))
    page.fill("#more", "--max-seconds 6")  # in a page, of the clock
    answer = run(page)
    assert not answer["passed"] and [(note["line"], said in note["text"]) for note in answer["notes"]][0] == (
        line,
        True,
    )
    told = page.inner_text("#result")
    assert not [word for word in ("cell:", "kernel.cu:", "cuda_builtins", "_Z", "PTX line") if word in told]
    page.click(f"#result [data-line='{line}'] >> nth=0")
    assert page.evaluate("ace.edit('editor').getCursorPosition().row") == line - 1
    paste(page, ADD, "add")
    page.fill("#more", "")
    assert run(page)["passed"]


def test_a_launch_that_cannot_be_is_a_sentence(page):
    argument(page, 0, "f31:10")
    answer = run(page)
    assert answer["notes"][0]["text"].startswith("“f31:10” is not an argument")
    argument(page, 0, "f32:1024")
    page.fill("#more", "--save x.npy")
    assert "--save is an option of the command line" in run(page)["notes"][0]["text"]
    page.fill("#more", "")


def test_keys_run_the_kernel_and_leave_the_editor(page):
    page.evaluate("ace.edit('editor').focus()")
    page.evaluate("window.lastAnswer = null")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("window.lastAnswer")
    before = text_of(page)
    assert page.evaluate("document.activeElement.closest('#editor') !== null")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#editor') === null") and text_of(page) == before
    page.evaluate("ace.edit('editor').focus()")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#editor') !== null") and text_of(page) != before
    write(page, before)


def test_a_rung_runs_as_it_is(page):
    choose(page, "t4/03_swizzled")
    assert page.evaluate("document.querySelector('option:checked').parentNode.label").startswith("06a")
    answer = run(page)
    assert answer["passed"] and not answer["notes"] and "2,816 wavefronts" in answer["summary"]
    assert "The result is right." in page.inner_text("#result") and not page.said


def test_without_the_xor_the_margin_shows_the_conflicts(page):
    original = text_of(page)
    write(page, original.replace("(chunk ^ row % 8)", "chunk"))
    answer = run(page)
    assert answer["passed"] and "17,152 wavefronts" in answer["summary"] and "costs most" in answer["advice"][0]
    worst = max(answer["lines"], key=lambda line: line["wavefronts"] - line["ideal"])
    assert worst["text"].startswith("ldmatrix") and worst["wavefronts"] == 8 * worst["ideal"]
    assert "smem_a[i ^ ((i >> 3) & 7)]" in page.inner_text(".layouts >> nth=0")
    page.wait_for_function("document.querySelector('.ace_gutter').innerText.includes('×8')")
    choose(page, "t4/02_vectorized_copy")
    choose(page, "t4/03_swizzled")
    assert text_of(page) != original, "each kernel keeps its own edit"
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


def test_a_kernel_pasted_over_a_rung_is_offered_as_ones_own(page):
    original = text_of(page)
    write(page, ADD)
    page.click("#yes")
    page.click("#yes")  # in place of the one that is there
    page.wait_for_function("document.getElementById('name').value === 'add'")
    assert run(page)["passed"]
    choose(page, "t4/03_swizzled")
    assert text_of(page) == original


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


def test_another_text_for_a_rung(page):
    choose(page, "simt/01_naive")
    original = text_of(page)
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
    write(page, original)


def test_an_exercise_is_checked_as_in_the_notebook(page):
    choose(page, "exercise/06_swizzle")
    assert "ldmatrix meets no bank conflict" in page.inner_text("#task")
    assert "not yet" in run(page)["verdict"]
    write(page, text_of(page).replace("+ chunk;", "+ (chunk ^ row % 8);"))
    answer = run(page)
    assert answer["passed"] and "solved" in answer["verdict"]


def test_text_and_launch_travel_in_the_address(page, address):
    choose(page, "own/yours")
    argument(page, 3, "77")
    page.fill("#grid", "2")
    sent, launch = text_of(page), launch_of(page)
    page.click("#share")
    page.wait_for_function("location.hash.startsWith('#text=')")
    there = page.url
    argument(page, 3, "78")
    assert page.evaluate("location.hash") == "#kernel=own/yours", "an address with another text is none"
    anew(page, there)
    assert text_of(page) == sent and launch_of(page) == launch
    page.click("#yes")
    assert list(launch_of(page)[1].values())[3] == "78", "what was written here is not lost"
    page.evaluate("localStorage.clear()")
    anew(page, there)
    assert launch_of(page) == launch and page.is_hidden("#ask")


@pytest.mark.parametrize("hash", ["#text=abc", "#text=%%", "#kernel=t4/99"])
def test_a_damaged_address_gives_a_sentence(page, address, hash):
    anew(page, address + hash)
    assert "the first" in page.inner_text("#state") and "transpose" in text_of(page)


def test_nothing_was_asked_of_another_machine(page, address):
    own = address.rsplit("/", 1)[0]
    assert page.asked and all(url.startswith((own, "data:", "blob:", "about:")) for url in page.asked)
    assert page.said == []


@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_a_phone_and_a_desk(page, address, width):
    page.set_viewport_size({"width": width, "height": 900})
    anew(page, address)
    run(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 1280:
        columns = "(({ $size, characterWidth }) => $size.scrollerWidth / characterWidth)(ace.edit('editor').renderer)"
        page.wait_for_function(f"{columns} >= 100")  # with the costs in the margin
        assert page.evaluate("document.querySelector('#source').clientWidth / innerWidth") >= 0.6
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        assert run(page)["lines"]
        header = page.locator(".costs th", has_text="least possible").first.bounding_box()
        assert header["x"] + header["width"] <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_has_no_severe_violation_of_the_rules_of_accessible_pages(page, address, axe, width, scheme):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    anew(page, address)
    run(page)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert violations(page, axe) == []


def test_inside_another_page_it_is_short(page, address):
    page.set_viewport_size({"width": 736, "height": 704})
    anew(page, f"{address}?embed")
    assert page.is_hidden("header") and page.is_hidden("#launch") and page.is_visible("#editor")
    page.click("#share")
    page.wait_for_function("location.hash.startsWith('#text=')")
    run(page)
    assert page.evaluate("document.querySelector('#editor').getBoundingClientRect().top") >= 0, "it stays in sight"
