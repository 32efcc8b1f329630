"""The extents that __cluster_dims__ gives a kernel, which clang does not pass on to the PTX."""

from __future__ import annotations

import re

from gpu_simulator.compiler.declarations import masked

_ASKED = re.compile(r"\b__cluster_dims__\s*\(([^()]*)\)([^;{]*)")
_ATTRIBUTE = re.compile(r"\b__\w+__\s*\([^()]*\)")
_ENTRY = re.compile(r"(^\.visible \.entry ([\w$]+)\((?:[^()]|\(\d+\))*\)[^{;]*)(?=\{)", re.M)


def with_clusters(ptx: str, source: str) -> str:
    """The PTX in which each kernel has the extents that the source names as numbers, or by constants and macros."""
    if "__cluster_dims__" not in source:
        return ptx
    known: dict[str, str] = {}
    for listed, behind in _ASKED.findall(masked(source)):
        name = re.search(r"(\w+)\s*\(", _ATTRIBUTE.sub("", behind))
        extents = [_number(word.strip(), source) for word in listed.split(",")]
        if name and all(extents):
            known[name[1]] = ", ".join([*map(str, extents), "1", "1"][:3])

    def with_extents(found: re.Match[str]) -> str:
        symbol = found[2]  # a name of C++ stands in it behind its length
        names = (name for name in known if symbol == name or re.search(rf"\D{len(name)}{name}", symbol))
        extents = known.get(next(names, ""))
        return f"{found[1]}.explicitcluster\n.reqnctapercluster {extents}\n" if extents else found[0]

    return _ENTRY.sub(with_extents, ptx)


def _number(word: str, source: str) -> int:
    """The value of a word; 0 if it is neither a number nor a constant that is one."""
    if word.isdigit():
        return int(word)
    word = re.escape(word)
    found = re.search(rf"#\s*define\s+{word}\s+\(?(\d+)|\bconst(?:expr)?\b[\w\s]*\b{word}\s*[={{]\s*(\d+)", source)
    return int(found[1] or found[2]) if found else 0
