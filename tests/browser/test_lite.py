"""The whole lab in JupyterLite, in Chromium: notebook 04 from top to bottom, and nothing is asked of another machine.

It needs npm, the extra `site`, and a folder with NumPy and ml_dtypes for Pyodide, named in GEMM_LAB_WASM_WHEELS.
GEMM_LAB_LITE can name a folder that has `lite` and `live` already, such as build/site; then nothing is built.
"""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")
from tools.lite import running  # noqa: E402

WHEELS, BUILT = os.environ.get("GEMM_LAB_WASM_WHEELS"), os.environ.get("GEMM_LAB_LITE")
ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not running.widget_page.CHROMIUM, reason="there is no chromium here; on Debian: apt install chromium"
    ),
    pytest.mark.skipif(
        not (WHEELS or BUILT),
        reason="GEMM_LAB_WASM_WHEELS names no folder with NumPy for Pyodide, GEMM_LAB_LITE no site",
    ),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if BUILT:
        return Path(BUILT)
    if not shutil.which("npm") or not find_spec("jupyterlite_core"):
        pytest.skip("there is no npm here, or the extra `site` is not installed")
    from tools.lite import build
    from tools.live import build as live

    folder, cache = tmp_path_factory.mktemp("web"), ROOT / "build" / "npm"
    live.build(folder / "live", Path(WHEELS), cache)
    sizes = build.build(folder / "lite", folder / "live", Path(WHEELS), cache)
    assert sizes["pages"] < 30e6 and sizes["packages"] < 35e6
    return folder


@pytest.fixture(scope="module")
def ran(site):
    """(the cells of notebook 04 after they ran, the addresses that the page asked for, the site's address)."""
    with running.served(site) as address, running.chromium() as page:
        return list(running.cells_of(page, address, "04_banks_and_wavefronts")), page.asked, address


def test_only_unfilled_exercises_fail(ran):
    cells, _, _ = ran
    assert len(cells) == 42 and [cell.source for cell in cells if cell.failed] == []
    assert "The lab is ready." in cells[0].text and cells[1].text.startswith("Solved so far: ")


def test_an_edited_kernel_is_compiled_in_the_page_and_counted(ran):
    cells, _, _ = ran
    (compiled,) = [cell for cell in cells if cell.source.startswith("%%kernel")]
    assert compiled.text.startswith("PASS") and "clang's PTX" in compiled.text and "wavefronts" in compiled.text


def test_nothing_was_asked_of_another_machine(ran):
    _, asked, address = ran
    assert len(asked) > 50 and {url for url in asked if not url.startswith((address, "data:", "blob:"))} == set()
    assert any(url.endswith("live/clang/bundle.js") for url in asked), "the compiler is the one of the live page"


def test_a_cell_that_fails_is_seen(site):
    with running.served(site) as address, running.chromium() as page:
        page.goto(f"{address}/lite/lab/index.html?path=notebooks/02a_tiling_in_python.ipynb")
        page.wait_for_function(running.SHOWN)
        page.evaluate("jupyterapp.shell.currentWidget.content.widgets[2].model.sharedModel.setSource('1 / 0')")
        first = page.evaluate(running.CELLS)[0]
        (cell,) = [running.run_cell(page, one) for one in [first]]
    assert cell.failed and "ZeroDivisionError" in cell.error
