"""Joins the widgets' JavaScript files, which are standard ES modules, into the one module that a front end loads.

A front end gets a widget's module as text, so it cannot resolve an import of a neighbouring file. `esm` therefore puts
the files that a module imports in front of it, each in its own function. It supports `import { a, b } from "FILE"`,
`export function` and `export const`, and nothing else. FILE is "./near.js", "../room/other.js", or "gemm_lab/theme.js"
for a file beside this module. No two files that are joined have the same name.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from gemm_lab.notebook.widgets.asleep import HIDE

FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[./\w]*/|gemm_lab/)(\w+)\.js";\n', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", re.M)


@cache
def esm(module: str) -> str:
    """The JavaScript file beside a Python `module`, given as its `__file__`, preceded by all files that it imports."""
    path, parts = Path(module).with_suffix(".js"), {}
    _collect(path, parts)
    return "\n".join([*(text for name, text in parts.items() if name != path.stem), _with_imports(path)])


def css() -> str:
    """The style sheet that all widgets share, and the rule with which they hide the words of `asleep`."""
    return f"{(FOLDER / 'look.css').read_text(encoding='utf-8')}\n{HIDE}\n"


def _with_imports(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {found[3]}_module;\n", text)


def _collect(path: Path, parts: dict[str, str]) -> None:
    for found in _IMPORT.finditer(path.read_text(encoding="utf-8")):
        folder = FOLDER if found[2] == "gemm_lab/" else path.parent / found[2]
        if found[3] not in parts:
            _collect(folder / f"{found[3]}.js", parts)
    text = _with_imports(path)
    exported, body = ", ".join(_EXPORT.findall(text)), _EXPORT.sub("", text)
    parts[path.stem] = f"const {path.stem}_module = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"
