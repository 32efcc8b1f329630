"""Recovers the source names of variables from the compiler's names in PTX: `_ZZ4gemmE6smem_b` is smem_b in gemm."""

from __future__ import annotations

import re

_LENGTH = re.compile(r"\d{1,4}")
_LAST = re.compile(r"E(\d{1,4})([A-Za-z_][\w$]*)$")
_COPY = re.compile(r"(?:_\d|__\d+_|_\$_\d+)?$")  # a number, where several variables of a function have one name
_OURS = re.compile(r"_INTERNAL_|_GLOBAL__N_")  # namespaces that the compiler adds: for a file, for an anonymous one


def source_name(symbol: str) -> str:
    """The C++ name of a variable of a function, a namespace or a template; any other symbol unchanged."""
    if symbol.startswith("_ZZ"):
        for end in range(3, len(symbol)):  # the first E after which a single name fills the rest
            found = _LAST.match(symbol, end)
            if found and _COPY.fullmatch(found[2][int(found[1]) :]) and len(found[2]) >= int(found[1]) > 0:
                return found[2][: int(found[1])]
        return symbol
    if symbol.startswith("_ZN"):
        parts, at = [], 3
        while name := _counted(symbol, at + (symbol[at : at + 1] == "L")):
            parts.append(name)
            at = symbol.index(name, at) + len(name)
        return "::".join(part for part in parts if not _OURS.match(part)) or symbol
    if symbol.startswith("_Z"):
        return _counted(symbol, 2 + (symbol[2:3] == "L")) or symbol
    return symbol


def _counted(symbol: str, at: int) -> str:
    """The name whose length is written at position `at`; "" if there is none."""
    length = _LENGTH.match(symbol, at)
    name = symbol[length.end() : length.end() + int(length[0])] if length else ""
    return name if length and len(name) == int(length[0]) else ""
