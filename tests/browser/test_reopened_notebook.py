"""A notebook that is opened the next day, without its kernel: what was a live view is an error, the words are there.

Screenshots lie in the test's folder.
"""

import nbformat
import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from playwright.sync_api import expect  # noqa: E402

from tests.browser.test_widgets_in_jupyterlab import TOKEN, WAIT_MS, run  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.long]

CELLS = [
    """import gemm_lab as lab\nlab.swizzle(rows=4, row_bytes=16, element="f32", banks=4, access="column load")""",
    "p = lab.guess('How many wavefronts does it take?', hint='Count.')\np",
    "from gemm_lab.notebook import widgets\nwidgets.block_order(2048, 4096, 1024, (256, 128), 't4', 'grouped', 4)",
]
SEEN = ["wavefronts", "How many wavefronts", "grouped by 4 rows"]
SHUT_DOWN = "() => window.jupyterapp.serviceManager.sessions.shutdownAll()"
HOW = "Run All Above Selected Cell"


def opened(page, server):
    page.goto(f"{server}lab/tree/asleep.ipynb?token={TOKEN}&reset", timeout=120_000)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.first.wait_for(timeout=120_000)
    return cells


def test_the_question_stays_when_the_kernel_is_gone(page, server, tmp_path):
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(text) for text in CELLS],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(book, tmp_path / "lab" / "asleep.ipynb")
    page.set_default_timeout(WAIT_MS)
    page.set_viewport_size({"width": 1280, "height": 1700})
    cells = opened(page, server)
    for number, seen in enumerate(SEEN):
        run(page, cells.nth(number), seen)
    expect(cells.nth(1).get_by_placeholder("your answer")).to_be_visible()
    for number in range(3):
        expect(cells.nth(number).get_by_text(HOW)).to_be_hidden()
    expect(cells.nth(1).get_by_text("How many wavefronts")).to_have_count(1 + 1)  # in the cell's source, and once below
    page.screenshot(path=tmp_path / "live.png", full_page=True)

    page.evaluate('() => window.jupyterapp.commands.execute("docmanager:save")')
    page.evaluate(SHUT_DOWN)
    stored = nbformat.read(tmp_path / "lab" / "asleep.ipynb", as_version=4)
    assert all(len(cell.outputs) == 2 for cell in stored.cells)
    cells = opened(page, server)
    expect(cells.nth(0)).to_contain_text("The swizzle explorer")
    expect(cells.nth(1)).to_contain_text("Predict. How many wavefronts does it take?")
    for number in range(3):
        expect(cells.nth(number).get_by_text(HOW)).to_be_visible()
    expect(cells.nth(0).locator("img[alt^='Swizzle explorer: 4 rows']")).to_be_visible()
    expect(cells.nth(0)).not_to_contain_text("Error displaying widget")
    page.screenshot(path=tmp_path / "asleep.png", full_page=True)
    page.evaluate(SHUT_DOWN)  # the kernel that JupyterLab has started for the page: the server would wait for it


def test_a_notebook_that_is_looked_at_is_not_unsaved_and_one_that_is_changed_is(page, server, tmp_path):
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("1 + 1")],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}},
    )
    nbformat.write(book, tmp_path / "lab" / "asleep.ipynb")
    page.set_default_timeout(WAIT_MS)
    cells = opened(page, server)
    panel = "window.jupyterapp.shell.currentWidget"
    page.wait_for_function(f"{panel}.context.sessionContext.session?.kernel?.status === 'idle'")
    page.wait_for_function(f"{panel}.context.model.getMetadata('language_info')?.version")
    page.wait_for_timeout(500)
    assert not page.evaluate(f"{panel}.context.model.dirty") and page.locator(".jp-mod-dirty").count() == 0
    expect(page.locator(".jp-Notification, .Toastify__toast")).to_have_count(0)
    cells.first.locator(".cm-content").click()
    page.keyboard.type("2")
    page.wait_for_function(f"{panel}.context.model.dirty")
    page.evaluate('() => window.jupyterapp.commands.execute("docmanager:save")')
    page.wait_for_function(f"!{panel}.context.model.dirty")
    page.keyboard.press("Backspace")
    page.wait_for_function(f"{panel}.context.model.dirty")
    page.evaluate(SHUT_DOWN)
