"""The live page in Chromium: kernels are edited, compiled and run there, and nothing is asked of another machine.

It needs npm and a folder with NumPy and ml_dtypes for Pyodide, whose path is in GEMM_LAB_WASM_WHEELS.
"""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.site.test_accessibility import axe, violations  # noqa: F401
from tests.tools.test_live_page import lab_page  # noqa: F401
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


ADD = """__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() { add<<<4, 256>>>(0, 0, 0, 1000); }
"""
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


FORM = """[document.getElementById("name").value,
  ...Array.from(document.querySelectorAll("#arguments label"), (label) => label.firstChild.textContent.trim())]"""


def own_kernels():
    """(name, launch, source) of each kernel of own_kernels.cu; every array is printed."""
    source = ""
    for part in (ROOT / "tests/browser/own_kernels.cu").read_text().split("//// ")[1:]:
        head, _, text = part.partition("\n")
        words, _, more = head.partition(" | ")
        name, grid, block, *args = words.split()
        source = text or source
        for number, word in enumerate(args):
            if found := re.match(r"\w+:(\d+)", word):
                more += f" --print {number}[0:{min(int(found[1]), 1000 if 'x' not in word else 15)}]"
        yield name, {"grid": grid, "block": block, "args": args, "more": more.strip()}, source


def differences(page, native):
    """What an answer of the page has otherwise than that of the same page with NVIDIA's compiler."""
    keys = ["verdict", "output"]
    lines = [[(one["line"], one["wavefronts"]) for one in answer["lines"]] for answer in (page, native)]
    notes = [[one["line"] for one in answer["notes"]] for answer in (page, native)]
    if native["verdict"] == "It does not compile.":  # two compilers find a mistake at the one or the other line
        notes = [bool(lines) for lines in notes]
    if any("longer than its limit" in one["text"] or "reached its limit" in one["text"] for one in native["notes"]):
        notes = []  # where it is at the end of its seconds
    texts = [[re.split(r"[^-+\w.]+", text) for text in answer.get("printed", [])] for answer in (page, native)]
    found = [key for key in keys if page.get(key) != native.get(key)]
    found += ["lines"] * (lines[0] != lines[1]) + ["notes"] * (notes[:1] != notes[1:])
    return found + ["printed"] * (not alike(*texts))


def alike(printed, others):
    """Whether the words are the same, and numbers, which two compilers may round differently, nearly the same."""
    if [len(words) for words in printed] != [len(words) for words in others]:
        return False
    for word, other in ((a, b) for words in zip(printed, others, strict=True) for a, b in zip(*words, strict=True)):
        if word != other and not np.isclose(float(word or "inf"), float(other or "inf"), rtol=2e-5, atol=1e-6):
            return False
    return True


@pytest.mark.timeout(1800)
def test_kernels_as_people_type_them_are_as_with_nvidias_compiler(page, address, lab_page):  # noqa: F811
    anew(page, address + "#kernel=own/yours")
    page.evaluate("localStorage.clear()")
    found, seconds = {}, []
    for name, launch, source in own_kernels():
        (known,) = json.loads(lab_page.kernels(source))
        launch["kernel"] = known["name"]
        write(page, source)
        page.wait_for_function(
            f"([one]) => {FORM}.join() === one",
            arg=[re.sub(r"\s*__restrict__", "", ",".join([known["name"], *known["parameters"]]))],
        )
        for key in ("grid", "block", "more"):
            page.fill(f"#{key}", launch[key])
        for number, word in enumerate(launch["args"]):
            argument(page, number, word)
        answer = run(page)
        seconds.append((answer["seconds"], name))
        native = json.loads(lab_page.run(json.dumps({"name": "own/yours", "source": source, "launch": launch})))
        if wrong := differences(answer, native):
            found[name] = wrong
        if name == "transpose_padded":
            printed = [text.replace("1", "2", 1) for text in answer["printed"]]
            lines = [{**one, "wavefronts": one["wavefronts"] + 1} for one in answer["lines"]]
            assert differences({**answer, "printed": printed, "lines": lines}, native) == ["lines", "printed"]
    print(len(seconds), "kernels; seconds, sorted:", sorted(seconds))
    assert not found and len(seconds) == 49


def test_a_kernel_pasted_and_run_at_once(page, address):
    anew(page, address + "#kernel=own/yours")
    page.evaluate("localStorage.clear()")
    write(page, ADD.replace("add", "sum"))
    assert run(page)["passed"] and launch_of(page)[0][0] == "sum" and page.is_visible("#guessed")
    write(page, "template <int N> " + ADD.replace("add<<<", "add<8><<<"))
    assert run(page)["passed"] and launch_of(page)[0][0] == "add<8>"
    write(page, ADD)
    assert run(page)["passed"] and launch_of(page)[0][0] == "add", "a template's arguments go with the template"


def test_values_can_be_read_and_compared(page):
    choose(page, "own/yours")
    write(page, ADD)
    page.wait_for_function("document.getElementById('name').value === 'add'")
    page.fill("#expected", "c = a + b + (n == 1000)")
    for number, word in enumerate(("f32:1000:ones", "f32:1000:arange", "f32:1000", "1000")):
        argument(page, number, word)
    answer = run(page)
    assert not answer["passed"] and "but c is not as expected" in page.inner_text("#result .bad")
    page.fill("#expected", "c = a + b")
    assert run(page)["passed"] and "c is as expected" in page.inner_text("#result .good")
    page.click("summary:has-text('All of float* c')")
    assert "[992]  993" in page.inner_text("#result pre >> nth=2")


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
        (ADD.replace("if (i < n) ", ""), 512, 3, "past the end of argument"),
        (PARTIAL, 32, 7, "without lanes 9-31 of its warp"),
        (ADD.replace("if (i < n)", "while (i >= 0)"), 256, 3, "it spins at line 3"),
        (BARRIER, 64, 2, "do not come to this barrier"),
        ("__global__ void k(float* a) {\n  atomicAdd(a + 100000, 1.f);\n}", 32, 2, "past the end of argument 0"),
    ],
    ids=["bounds", "partial warp", "endless", "barrier", "atomic"],
)
def test_a_fault_is_said_at_its_line_and_the_page_works_on(page, source, block, line, said):
    write(page, "")
    paste(page, source, "add" if "void add" in source else "k")
    page.fill("#block", str(block))
    page.fill("#more", "--max-seconds 3")
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
def test_it_has_no_severe_violation_of_the_rules_of_accessible_pages(page, address, axe, width, scheme):  # noqa: F811
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
