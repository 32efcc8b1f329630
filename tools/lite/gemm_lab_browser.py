"""The lab in the kernel of JupyterLite: `await ready()` loads the compiler. What the page lacks, it says."""

from __future__ import annotations

import importlib.abc
import json
import sys
from pathlib import Path
from urllib.parse import urljoin

import in_page

from gpu_simulator.errors import NotHere

ABSENT = {
    "matplotlib": "This cell draws a plot, and matplotlib is not part of this page; on your machine it draws.",
    "PIL": "This cell reads a picture, and Pillow is not part of this page; on your machine it works.",
}


class _Absent(NotHere, ImportError):
    """A package that is not in this page. An `ImportError` too, so that code which tries an import goes on."""


class _Finder(importlib.abc.MetaPathFinder):
    """Says in a sentence that a package is not in this page, where Python would say that there is no such module."""

    def find_spec(self, name, path=None, target=None):
        if sentence := ABSENT.get(name.partition(".")[0]):
            raise _Absent(sentence)
        return None


async def ready() -> None:
    """Load the compiler, about 23 MB, which the browser keeps; with it `%%kernel` cells compile in this page."""
    from pyodide.code import run_js
    from pyodide_js import _api
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # the monitor of progress bars is a thread, and a page has none

    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
    where = json.loads((Path(__file__).parent / "where_live.json").read_text())
    address = urljoin(_api.config.indexURL, f"{where}/clang.js")
    module = await run_js(f"import({json.dumps(address)})")
    in_page.use_clang(await module.loadClang())
    print("The lab is ready.")
