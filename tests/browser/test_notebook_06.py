"""Notebook 06 in JupyterLab, as a learner meets it: a planted error, the fixed cell, and variables that survive.

Needs Debian's chromium (or GEMM_LAB_CHROMIUM) and pytest-playwright. Screenshots lie in the test's folder.
"""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("GEMM_LAB_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
TOKEN = "browser-test"
WAIT_MS = 60_000  # the outer limit of every wait in the page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="there is no chromium here; on Debian: apt install chromium"),
    pytest.mark.skipif(
        not (ROOT / "notebooks" / "06a_t4_feeding_tensor_cores.ipynb").is_file(), reason="there is no checkout here"
    ),
]


def run_until(page, cell, seen: str, tries: int = 24) -> None:
    """Run the selected cell until its output shows; a run right after loading can be dropped."""
    for _ in range(tries):
        page.keyboard.press("Control+Enter")
        try:
            expect(cell.locator(".jp-OutputArea-output").last).to_contain_text(seen, timeout=5_000)
            return
        except AssertionError:
            continue
    raise AssertionError(f"The kernel never answered “{seen}” in {tries} tries.")


def write(page, cell, text: str) -> None:
    """Replace the text of a cell."""
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def picture(page, output, folder: Path, name: str) -> None:
    """Screenshots at 1280 and at 800 pixels; the block must not be wider than the notebook."""
    page.keyboard.press("Escape")
    for width in (1280, 800):
        page.set_viewport_size({"width": width, "height": 900})
        output.scroll_into_view_if_needed()
        page.screenshot(path=folder / f"{name}_{width}.png")
        assert output.evaluate("area => area.scrollWidth <= area.clientWidth + 1"), f"it overflows at {width} pixels"


@pytest.mark.long
def test_an_error_and_its_repair(page, server, tmp_path):
    page.set_default_timeout(WAIT_MS)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{server}lab/tree/notebooks/06a_t4_feeding_tensor_cores.ipynb?token={TOKEN}&reset", timeout=120_000)
    title = page.locator(".jp-MarkdownCell", has_text="feeding the tensor cores").first
    title.wait_for(timeout=120_000)
    page.screenshot(path=tmp_path / "opened.png")

    # ---- A trivial cell first, above the title ----
    title.click()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    first = page.locator(".jp-Notebook .jp-CodeCell").first
    write(page, first, "import gemm_lab as lab\n%load_ext gemm_lab\nmarker = 40 + 2\nprint('ready', marker)")
    run_until(page, first, "ready 42")

    # ---- The notebook's own cell, with an error planted in its third line ----
    cell = page.locator(".jp-CodeCell", has_text="%%kernel t4/03_swizzled --region layout --as swizzled")
    cell.scroll_into_view_if_needed()
    book = json.loads((ROOT / "notebooks" / "06a_t4_feeding_tensor_cores.ipynb").read_text())
    good = next(
        "".join(c["source"])
        for c in book["cells"]
        if "".join(c["source"]).startswith("%%kernel t4/03_swizzled --region layout")
    )
    bad = good.replace("(chunk ^ row % 8)", "(chunk ^ rwo % 8)", 1)
    assert bad.split("\n")[2] != good.split("\n")[2], "the error is planted in line 3"
    write(page, cell, bad)
    page.keyboard.press("Control+Enter")
    output = cell.locator(".jp-OutputArea")
    expect(output).to_contain_text("cell, line 3", timeout=WAIT_MS)
    expect(output).to_contain_text(bad.split("\n")[2])
    shown = output.inner_text()
    assert "rwo" in shown and "undefined" in shown and "Traceback" not in shown
    assert shown.count("cell, line 3") == 1 and cell.locator(".jp-OutputArea-child").count() == 1, "one block says it"
    picture(page, output, tmp_path, "error")

    # ---- The fixed cell ----
    write(page, cell, good)
    page.keyboard.press("Control+Enter")
    expect(output).to_contain_text("PASS", timeout=WAIT_MS)
    expect(output).to_contain_text(re.compile(r"registers\s*\d+"))
    assert "cell, line 3" not in output.inner_text()
    picture(page, output, tmp_path, "fixed")

    # ---- What was defined before is still there ----
    first.scroll_into_view_if_needed()
    write(page, first, "print('still', marker, swizzled.name)")
    page.keyboard.press("Control+Enter")
    expect(first.locator(".jp-OutputArea")).to_contain_text("still 42 t4/03_swizzled")
