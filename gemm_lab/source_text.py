"""The source of a kernel file: its marked regions, a learner's text in their place, its settings as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gpu_simulator.errors import ConfigError


@dataclass(frozen=True)
class Region:
    """A marked part of a kernel file. start, first_line: where its text begins, as an offset and as a line from 1."""

    name: str
    first_line: int
    text: str
    start: int

    @property
    def last_line(self) -> int:
        return self.first_line + self.text.count("\n")


_REGION = re.compile(r"^[ \t]*// region: (?P<name>\w+)[^\n]*\n(?P<text>.*?)\n[ \t]*// end region", re.M | re.S)


def find_regions(source: str) -> dict[str, Region]:
    """The `// region: name` … `// end region` parts of a source by name, in order.

    Raises `ConfigError` for a region that appears twice or does not end.
    """
    regions: dict[str, Region] = {}
    for match in _REGION.finditer(source):
        name, text = match["name"], match["text"]
        if name in regions or "// region:" in text:
            raise ConfigError(f"Region “{name}” appears twice or is not closed with “// end region”.")
        start = match.start("text")
        regions[name] = Region(name, source.count("\n", 0, start) + 1, text, start)
    return regions


@dataclass(frozen=True)
class Edit:
    """The learner's text for one region, and the line of their file or cell at which it starts."""

    text: str
    file: str = "cell"
    first_line: int = 1


def splice(source: str, file: str, edits: Mapping[str, Edit]) -> str:
    """`source` with the regions in `edits` replaced.

    With `#line` directives, diagnostics and line tables refer to the learner's line of `edit.file` inside a region, and
    to the original line of `file` outside it. Raises `ConfigError` for a region that the source does not have.
    """
    regions = find_regions(source)
    for name in edits:
        if name not in regions:
            raise ConfigError(f"{file} has no region “{name}”; it has {listed(regions)}.")
    parts, position = [f'#line 1 "{file}"\n'], 0
    for name, region in regions.items():
        if name not in edits:
            continue
        edit = edits[name]
        text = edit.text.rstrip("\n")
        text += "\n" * text.endswith("\\")  # so that a backslash at the end joins an empty line, not the directive
        parts += [source[position : region.start], f'#line {edit.first_line} "{edit.file}"\n', text]
        parts += [f'\n#line {region.last_line + 1} "{file}"\n']
        position = region.start + len(region.text) + 1
    return "".join([*parts, source[position:]])


def listed(names) -> str:
    """Names in quotation marks, separated by commas, for a sentence; "none" if there are none."""
    names = [f"“{name}”" for name in names]
    return ", ".join(names) if names else "none"


_STATED = re.compile(r'(?P<before>#include "config\.cuh"\s*// )(?P<settings>.*(?:\n {20,}// .*)*)')


def state(source: str, config: Mapping[str, int]) -> str:
    """`source` with the values of `config` in the comment after `#include "config.cuh"`.

    The comment keeps its number of lines. A source without it is returned unchanged.
    """
    found = _STATED.search(source)
    if not found:
        return source
    lines, rest = [], [f"{name} {value}" for name, value in config.items()]
    for line in found["settings"].split("\n"):
        count = line.count(",") + (not line.rstrip().endswith(","))
        lines.append(", ".join(rest[:count]))
        rest = rest[count:]
    comment = (",\n" + " " * 29 + "// ").join([*lines[:-1], ", ".join(filter(None, [lines[-1], *rest]))])
    return source[: found.start("settings")] + comment + source[found.end("settings") :]


def plural(count: int, word: str) -> str:
    """The count with its word: "1 sector", "16 sectors"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def parse_settings(items: list[str]) -> dict[str, int]:
    """What a user types after `--set`, ["BLOCK_K=32"], as {"BLOCK_K": 32}. Raises `ConfigError` for another form."""
    settings = {}
    for item in items:
        name, _, value = item.partition("=")
        try:
            settings[name.strip()] = int(value)
        except ValueError:
            raise ConfigError(f"“{item}” is not a setting; write for example BLOCK_K=32.") from None
    return settings
