"""The text of a source line as the compiler counts lines, `#line` directives included."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

_DIRECTIVE = re.compile(r'^\s*#\s*(?:line\s+)?(\d+)(?:\s+"([^"]*)")?\s*$')


def numbered(source: str, file: str) -> Iterator[tuple[str, int, str]]:
    """(file, line, text) of every line of `source`, which is called `file` until a `#line` says otherwise."""
    line = 1
    for text in source.splitlines():
        match = _DIRECTIVE.match(text)
        if match:
            line, file = int(match[1]), match[2] or file
            continue
        yield file, line, text
        line += 1


def text_of(file: str, line: int, source: str, files: Mapping[str, str]) -> str | None:
    """The text of `file`:`line`, looked for in the kernel's source, then in its headers; None if not found."""
    base = PurePath(file).name
    for name, text in ((None, source), *files.items()):
        for where, number, content in numbered(text, name if name is not None else base):
            if number == line and PurePath(where).name == base:
                return content
    return None
