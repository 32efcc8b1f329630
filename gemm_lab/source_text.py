"""The text of a kernel file: its marked regions, a learner's text in their place, the settings that it states."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gpu_simulator.errors import ConfigError


@dataclass(frozen=True)
class Region:
    """A marked part of a kernel file; `first_line` is the 1-based line of its first text line."""

    name: str
    first_line: int
    text: str

    @property
    def last_line(self) -> int:
        return self.first_line + self.text.count("\n")


_REGION = re.compile(r"^[ \t]*// region: (?P<name>\w+)[^\n]*\n(?P<text>.*?)\n[ \t]*// end region", re.M | re.S)


def find_regions(source: str) -> dict[str, Region]:
    """The `// region: name` … `// end region` parts of a source, in order."""
    regions: dict[str, Region] = {}
    for match in _REGION.finditer(source):
        name, text = match["name"], match["text"]
        if name in regions or "// region:" in text:
            raise ConfigError(f"Region “{name}” appears twice or is not closed with “// end region”.")
        regions[name] = Region(name, source.count("\n", 0, match.start("text")) + 1, text)
    return regions


@dataclass(frozen=True)
class Edit:
    """The learner's text for one region, and where in their file or cell it starts."""

    text: str
    file: str = "cell"
    first_line: int = 1


def splice(source: str, file: str, edits: Mapping[str, Edit]) -> str:
    """`source` with the regions in `edits` replaced.

    `#line` directives keep every diagnostic and every line table at the learner's own line of
    `edit.file` inside the region and at the original line of `file` outside it.
    """
    regions = find_regions(source)
    for name in edits:
        if name not in regions:
            raise ConfigError(f"{file} has no region “{name}”; it has {listed(regions)}.")
    parts, position = [f'#line 1 "{file}"\n'], 0
    for name, region in regions.items():
        if name not in edits:
            continue
        start = source.index(region.text, offset_of_line(source, region.first_line))
        edit = edits[name]
        text = edit.text.rstrip("\n")
        text += "\n" * text.endswith("\\")  # a backslash at the end joins an empty line, and not the directive
        parts += [source[position:start], f'#line {edit.first_line} "{edit.file}"\n', text]
        parts += [f'\n#line {region.last_line + 1} "{file}"\n']
        position = start + len(region.text) + 1
    return "".join([*parts, source[position:]])


def offset_of_line(text: str, line: int) -> int:
    """Character offset at which 1-based `line` begins."""
    offset = 0
    for _ in range(line - 1):
        offset = text.index("\n", offset) + 1
    return offset


def listed(names) -> str:
    """Names as they are read in a sentence."""
    names = [f"“{name}”" for name in names]
    return ", ".join(names) if names else "none"


_STATED = re.compile(r'(?P<before>#include "config\.cuh"\s*// )(?P<settings>.*(?:\n {20,}// .*)*)')


def state(source: str, config: Mapping[str, int]) -> str:
    """`source` with the settings beside its `#include "config.cuh"` as `config` has them, on as many lines."""
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
