"""Joins the widgets' JavaScript files, which are standard ES modules, into the one module that a front end loads.

A front end gets a widget's module as text, so it cannot resolve an import of a neighbouring file. `esm` therefore puts
the files that a module imports in front of it, each in its own function. It supports only
`import { a, b } from "./file.js"`, `export function` and `export const`, which is all that the widgets use.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from gemm_lab.notebook.widgets.asleep import HIDE

FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", re.M)


@cache
def esm(name: str) -> str:
    """The text of `name`.js, preceded by all files that it imports."""
    parts: dict[str, str] = {}
    _collect(name, parts)
    entry = _with_imports(name)
    return "\n".join([*(text for key, text in parts.items() if key != name), entry])


def css() -> str:
    """The style sheet that all widgets share, and the rule with which they hide the words of `asleep`."""
    return f"{(FOLDER / 'look.css').read_text(encoding='utf-8')}\n{HIDE}\n"


def _with_imports(name: str) -> str:
    text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    return _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {found[2]}_module;\n", text)


def _collect(name: str, parts: dict[str, str]) -> None:
    text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    for found in _IMPORT.finditer(text):
        if found[2] not in parts:
            _collect(found[2], parts)
    exported = ", ".join(_EXPORT.findall(text))
    body = _EXPORT.sub("", _with_imports(name))
    parts[name] = f"const {name}_module = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"
