"""A live widget in JupyterLab: a choice in the page changes Python, and Python changes the page; in both themes.

Screenshots lie in the test's folder.
"""

import re

import nbformat
import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

TOKEN = "browser-test"
WAIT_MS = 60_000

pytestmark = pytest.mark.browser

CELLS = [
    "import gemm_lab as lab\nw = lab.swizzle(rows=64, row_bytes=128)\nw",
    "print('python sees', w.scheme, w.wavefronts, w.selected)",
    "w.set(layout='padded', access='column load', element='f32'); print('changed', w.wavefronts)",
    "from gemm_lab.notebook import widgets\n"
    "s = widgets.wavefronts(lab.kernel('t4/03_swizzled').run(n=256, backend='simulator'))\nwidgets.fragments('m16n8k8', 'f16')",
    "s",
    "print('warp', s.warp, s.shown.addresses[0] == s.accesses[0]['addresses'][0])",
    "m = widgets.mbarrier()\nm",
    "print('step', m.step, m.moment.who)",
    "%%kernel simt/01_naive --region place\n  const int row = 0;  // a comment of C++",
    "z = lab.swizzle_puzzle('rows_128')\nz",
    "print('solved', z.solved, z.cpp)",
    "z.change(layout=[list(range(8))] * 8, padding=0); print('again', z.solved, z.layout[7])",
    "k = lab.kernel('ampere/04_swizzled')\nmine = k.edit(load=k.regions['load'], alias='mine')\n"
    "mine.predicted_timeline(n=1024)",
    "t = mine.predicted_timeline(n=1024).view\nt",
    "print('part', t.part)",
]


def run(page, cell, seen, tries=15):
    """Run a cell until its output shows; a run right after loading can be dropped."""
    for _ in range(tries):
        for accept in page.locator("dialog.jp-Dialog .jp-mod-accept").all():  # "Select Kernel", on a slow machine
            accept.click()
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        try:
            expect(cell.locator(".jp-OutputArea")).to_contain_text(seen, timeout=8_000)
            return
        except AssertionError:
            continue
    raise AssertionError(f"The kernel never answered “{seen}”, but: {cell.inner_text()[-300:]}")


def check_colours(page, cells):
    """A %%kernel cell is coloured as C++, every other one as Python, also after an edit."""
    kernel, edited = cells.nth(8).locator(".cm-content"), cells.nth(1).locator(".cm-content")
    kernel.scroll_into_view_if_needed()
    expect(kernel).to_have_attribute("data-language", "cpp")
    expect(edited).to_have_attribute("data-language", "python")
    edited.click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("%%kernel t4/03\n")
    expect(edited).to_have_attribute("data-language", "cpp")
    page.keyboard.press("Control+z")
    expect(edited).to_have_attribute("data-language", "python")
    expect(kernel).to_have_attribute("data-language", "cpp")


DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
FILTER = "e => getComputedStyle(e).filter"


@pytest.mark.parametrize("all_of_them", [False, pytest.param(True, marks=pytest.mark.long)], ids=["one", "all"])
def test_the_widgets_are_live(page, server, tmp_path, all_of_them):
    book = nbformat.v4.new_notebook(
        cells=[*map(nbformat.v4.new_code_cell, CELLS), nbformat.v4.new_markdown_cell(f"{'word ' * 60}\n\n![]({DOT})")],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(book, tmp_path / "lab" / "live.ipynb")
    page.set_default_timeout(WAIT_MS)
    page.set_viewport_size({"width": 1280, "height": 1400})
    page.goto(f"{server}lab/tree/live.ipynb?token={TOKEN}&reset", timeout=120_000)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.first.wait_for(timeout=120_000)

    run(page, cells.nth(0), "32wavefronts")
    widget = cells.nth(0).locator(".gemm-lab")
    expect(cells.nth(0).locator(".jp-OutputArea img")).to_have_count(0)  # the live view, not its picture
    widget.get_by_label("layout").select_option("xor")
    expect(widget.locator(".gl-verdict")).to_contain_text("free of conflicts")
    widget.locator(".gl-view canvas").click(position={"x": 42, "y": 20 + 5 * 14 + 7})
    expect(widget.locator(".gl-bits svg")).to_have_attribute("aria-label", "address 720, bank 20")
    run(page, cells.nth(1), "python sees xor 4 [5, 0]")
    run(page, cells.nth(2), "changed 4")
    expect(widget.locator(".gl-verdict")).to_contain_text("4 × the ideal")
    expect(widget.get_by_label("layout")).to_have_value("padded")

    check_colours(page, cells)
    page.screenshot(path=tmp_path / "colours.png")
    prose, picture = page.locator(".jp-RenderedMarkdown p").first, page.locator(".jp-RenderedMarkdown img")
    assert prose.bounding_box()["width"] < 700 < cells.first.bounding_box()["width"]
    assert picture.evaluate(FILTER) == "none"
    if not all_of_them:
        return

    # ---- The others, and a choice that only Python can answer ----
    run(page, cells.nth(3), "ldmatrix.x2 for A")
    run(page, cells.nth(4), "all executions of this warp: 256 of 256 ideal")
    cells.nth(4).get_by_label("warp").select_option("5")
    run(page, cells.nth(5), "warp 5 True")
    run(page, cells.nth(6), "Nobody waits.")
    cells.nth(6).get_by_label("step on").click()
    run(page, cells.nth(7), "step 1 consumer")

    run(page, cells.nth(9), "Rows of 128 bytes")
    puzzle = cells.nth(9).locator(".gl-puzzle")
    puzzle.get_by_label("more padding").click()
    expect(puzzle.locator(".gl-line")).to_have_text("row * 9 + chunk")
    run(page, cells.nth(10), "solved True row * 9 + chunk")
    run(page, cells.nth(11), "again False [0, 1, 2, 3, 4, 5, 6, 7]")
    expect(puzzle.locator(".gl-line")).to_have_count(0)

    run(page, cells.nth(12), "as mine")
    expect(cells.nth(12).locator(".gemm-lab canvas")).to_have_count(1)
    run(page, cells.nth(13), "not measured")
    cells.nth(13).get_by_label("sub-partition", exact=True).select_option("3")
    run(page, cells.nth(14), "part 3")

    for theme, dark in (("JupyterLab Light", False), ("JupyterLab Dark", True)):
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false" if dark else "true")
        assert ("invert" in picture.evaluate(FILTER)) == dark
        for width in (1280, 800):
            page.set_viewport_size({"width": width, "height": 1400})
            widget.scroll_into_view_if_needed()
            page.wait_for_timeout(300)
            page.screenshot(path=tmp_path / f"{theme.split()[1].lower()}_{width}.png")
            assert widget.evaluate("e => e.classList.contains('gl-dark')") == dark
            for area in (widget, cells.nth(0).locator(".jp-OutputArea")):
                assert area.evaluate("e => e.scrollWidth <= e.clientWidth + 1"), f"it overflows at {width} pixels"


SLIDERS = [
    "import gemm_lab as lab\nfrom gemm_lab.notebook import widgets\nlab.zoom(lab.kernel('simt/01_naive').run(64), level='dram')",
    "def naive(A, B, D):\n    for i in range(D.rows):\n        D[i, 0] = A[i, 0] * B[0, 0]\nwidgets.tile_walk(naive, 4, 1, 1)",
    "widgets.TileExplorer(256, 128, 64, gpu='t4')",
    "lab.swizzle(rows=64, row_bytes=128, access='column load', element='f32')",
]


@pytest.mark.long
def test_the_arrow_keys_move_a_slider_and_not_the_notebook(page, server, tmp_path):
    cells = [nbformat.v4.new_markdown_cell("# A heading"), *map(nbformat.v4.new_code_cell, SLIDERS)]
    cells.append(nbformat.v4.new_markdown_cell("# Another heading"))
    book = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    )
    nbformat.write(book, tmp_path / "lab" / "sliders.ipynb")
    page.set_default_timeout(WAIT_MS)
    page.set_viewport_size({"width": 1280, "height": 1400})
    page.goto(f"{server}lab/tree/sliders.ipynb?token={TOKEN}&reset", timeout=120_000)
    code = page.locator(".jp-Notebook .jp-CodeCell")
    code.first.wait_for(timeout=120_000)
    for number, seen in enumerate(("Step 1 of", "multiply-adds", "BLOCK_M", "wavefronts")):
        run(page, code.nth(number), seen)
        slider = code.nth(number).locator("input[type=range]").first
        slider.scroll_into_view_if_needed()
        slider.click()
        for key in ("ArrowLeft", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
            before = slider.input_value()
            page.keyboard.press(key)
            expect(slider).not_to_have_value(before)
            expect(slider).to_be_focused()
            expect(code.nth(number)).to_have_class(re.compile("jp-mod-active"))
    page.screenshot(path=tmp_path / "sliders.png")
