"""The fragment map in Chromium: the JavaScript mirror over every element, and what a click does."""

import json

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

from gemm_lab_lessons.ch03.fragment_map import TRAITS, fragments  # noqa: E402
from gpu_simulator.errors import SimulatorError  # noqa: E402
from gpu_simulator.hardware.mma_layouts import ACCUMULATORS, SHAPES, Mma, fragment_load  # noqa: E402

pytestmark = pytest.mark.browser

COORDINATES = """async (forms) => {
  const { makeMma, fragmentLoad } = await import("./mma.js");
  return JSON.stringify(forms.map(([shape, dtype, accumulator]) => {
    const mma = makeMma(shape, dtype, accumulator), out = {};
    for (const operand of ["A", "B", "C"])
      out[operand] = Array.from({ length: 32 }, (_, lane) => Array.from({ length: mma.registers[operand] }, (_, register) =>
        Array.from({ length: mma.per[operand] }, (_, element) => mma.at(operand, lane, register, element))));
    out.loads = [["A", "row-major"], ["B", "column-major"], ["B", "row-major"]].map(([operand, stored]) => {
      const load = fragmentLoad(mma, operand, stored);
      return load && [load.count, load.transposed, load.lanes.map((l) => l.row), load.lanes.map((l) => l.chunk)];
    });
    return out;
  }));
}"""


@pytest.mark.long
def test_the_mirror_holds_every_element_where_python_does(widget_page):
    forms = [[shape, dtype, acc] for dtype, shapes in SHAPES.items() for shape in shapes for acc in ACCUMULATORS[dtype]]
    for form, answer in zip(forms, json.loads(widget_page().evaluate(COORDINATES, forms)), strict=True):
        mma = Mma(*form)
        for operand in "ABC":
            assert answer[operand] == mma.coordinates(operand).tolist(), form
        for (operand, stored), load in zip(
            (("A", "row-major"), ("B", "column-major"), ("B", "row-major")), answer["loads"], strict=True
        ):
            try:
                expected = fragment_load(mma, operand, stored)
                assert load == [expected.count, expected.transposed, list(expected.rows), list(expected.chunks)]
            except SimulatorError:
                assert load is None, form


def test_choosing_pointing_and_clicking(widget_page):
    page = widget_page()
    page.mount("fragment_map", {name: getattr(fragments(), name) for name in TRAITS})
    facts = page.locator(".gl-facts")
    expect(facts).to_contain_text("a1 A[9, 2–3]")
    expect(facts).to_contain_text("T5 names row 5, bytes 0–15")
    cell = page.locator(".gl-hit", has_text="T22").first
    cell.hover()
    expect(facts).to_contain_text("a0 A[5, 4–5]")
    cell.click()
    assert page.evaluate("window.widget.saved.at(-1).lane") == 22
    page.get_by_label("dtype").select_option("s8")
    page.get_by_label("shape").select_option("m16n8k32")
    expect(page.locator(".gl-opcode")).to_have_text("mma.sync.m16n8k32.s32.s8")
    page.get_by_label("lane").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.widget.saved.at(-1).lane") == 23


def test_without_ldmatrix_nothing_says_who_names_a_row(widget_page):
    page = widget_page()
    page.mount("fragment_map", {name: getattr(fragments(ldmatrix=False), name) for name in TRAITS})
    expect(page.locator(".gl-facts")).to_contain_text("a1 A[9, 2–3]")
    words = page.locator(".gemm-lab").inner_text() + " ".join(page.locator("svg text").all_text_contents())
    assert "@" not in words and "ldmatrix" not in words and "names" not in words
    assert page.locator(".gl-named, .gl-tag").count() == 0
    expect(page.get_by_label("stored")).to_be_hidden()


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("theme", "width"), [("light", 824), ("dark", 600)])
def test_nothing_overflows(widget_page, theme, width):
    for shape, dtype in (("m16n8k16", "bf16"), ("m16n8k16", "f64"), ("m8n8k4", "f16"), ("m16n8k256", "b1")):
        page = widget_page(theme, width)
        page.mount("fragment_map", {name: getattr(fragments(shape, dtype), name) for name in TRAITS})
        assert page.locator(".gl-hit").count() >= 32 * 3
        assert page.locator(".gemm-lab").evaluate("e => e.scrollWidth <= e.clientWidth + 1")


# Words of the facts that end beyond the room that they have, or lie over the matrix A.
CUT = """() => {
  const facts = document.querySelector(".gl-facts"), { right, bottom } = facts.getBoundingClientRect();
  const above = !facts.classList.contains("gl-below"), words = document.createRange(), cut = [];
  const name = [...document.querySelectorAll(".gl-name")].find((one) => one.textContent.startsWith("A"));
  for (const node of facts.querySelectorAll("*")) {
    words.selectNodeContents(node);
    if (words.getBoundingClientRect().right > right + 1) cut.push(node.textContent);
  }
  if (above && bottom > name.getBoundingClientRect().top) cut.push("over A");
  return cut;
}"""


@pytest.mark.parametrize("width", [824, pytest.param(700, marks=pytest.mark.long)])
def test_the_facts_of_a_lane_are_never_cut(widget_page, width):
    page = widget_page("light", width)
    for dtype, shapes in SHAPES.items():
        for shape in shapes:
            for accumulator in ACCUMULATORS[dtype]:
                form = fragments(shape, dtype, 9, accumulator=accumulator)
                page.mount("fragment_map", {name: getattr(form, name) for name in TRAITS})
                for lane in (9, 31):
                    page.evaluate("lane => window.widget.model.set('lane', lane)", lane)
                    assert page.evaluate(CUT) == [], (shape, dtype, accumulator, lane)
    page.mount("fragment_map", {name: getattr(fragments("m16n8k8", "f16"), name) for name in TRAITS})
    expect(page.get_by_text("c0 C[1, 2]")).to_be_visible()
    page.mount("fragment_map", {name: getattr(fragments(), name) for name in TRAITS})
    assert page.locator(".gl-facts.gl-below").count() == (width < 760)
