"""Finds the text of a source line, counting lines as the compiler does, with `#line` directives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

_DIRECTIVE = re.compile(r'^\s*#\s*(?:line\s+)?(\d+)(?:\s+"([^"]*)")?\s*$')


def numbered(source: str, file: str) -> Iterator[tuple[str, int, str]]:
    """(file, line, text) for every line of `source`; its file is `file` until a `#line` names another."""
    line = 1
    for text in source.splitlines():
        match = _DIRECTIVE.match(text)
        if match:
            line, file = int(match[1]), match[2] or file
            continue
        yield file, line, text
        line += 1


def text_of(file: str, line: int, source: str, files: Mapping[str, str]) -> str | None:
    """The text of `file`:`line`, searched in the kernel's source and then in its headers; None if it is not found."""
    base = PurePath(file).name
    for name, text in ((None, source), *files.items()):
        for where, number, content in numbered(text, name if name is not None else base):
            if number == line and PurePath(where).name == base:
                return content
    return None
