"""The lab inside a web page, in the live page and in JupyterLite: stored PTX, and the page's clang."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_simulator.compiler import clang, nvrtc

nvrtc.use_stored(Path(__file__).parent / "stored")


class PageClang:
    """The clang of the page, a function of JavaScript that takes and returns JSON."""

    writes_ir = True

    def __init__(self, function: Any):
        self.function = function

    def __call__(self, arguments: Sequence[str], files: Mapping[str, str]) -> tuple[int, str, str]:
        asked = json.dumps({"arguments": list(arguments), "files": dict(files)})
        status, output, log = json.loads(self.function(asked))
        return status, output, log

    def version(self) -> str:
        return "clang in a page"


def use_clang(function: Any) -> None:
    """Compile texts that are not stored with this function of the page; see clang.js."""
    clang.use(PageClang(function))
