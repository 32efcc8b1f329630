"""The members of the structs that a source declares, and their sizes, of which PTX has only the bytes.

Read are plain structs: numbers, vectors, pointers, arrays of a written length, and such structs again. Of any other
there is nothing to say, so what is asked of it is None or 0.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gpu_simulator.ptx.parameter_types import NO_CODE, declared

# Bytes of a type of C++.
SIZES = {
    "bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "__half": 2,
    "__nv_bfloat16": 2, "int": 4, "unsigned int": 4, "float": 4, "long": 8, "unsigned long": 8, "long long": 8,
    "unsigned long long": 8, "double": 8,
}  # fmt: skip
_VECTOR = re.compile(r"(u?)(char|short|int|longlong|float|double)([1-4])")
_ARRAY = re.compile(r"(.*?)((?:\[\s*\d+\s*\])*)$", re.S)
_NOT_PLAIN = re.compile(r"[(:#]|\b(?:virtual|static|union|template|using|class|struct|enum)\b")


class Member(NamedTuple):
    """type: such as "float" or "int*".   count: of an array; 0 for a single one.   const: it was declared so."""

    type: str
    name: str
    count: int
    const: bool


def members(name: str, source: str) -> list[Member] | None:
    """The members of the struct `name`, in order; None where it is not declared, or is no plain struct."""
    code, word = NO_CODE.sub(" ", source), re.escape(name)
    found = re.search(rf"\bstruct\s+{word}\s*\{{([^{{}}]*)\}}", code)
    found = found or re.search(rf"\btypedef\s+struct\b\s*\w*\s*\{{([^{{}}]*)\}}\s*{word}\s*;", code)
    if not found or _NOT_PLAIN.search(found[1]):
        return None
    listed = []
    for statement in found[1].split(";"):
        first, *others = statement.split(",")
        head = re.match(r"\s*(?:[\w:]+\s+)*?[\w:]+(?=[\s*]+\w+\s*(?:\[|$|=))", _ARRAY.fullmatch(first)[1])
        for number, text in enumerate((first, *others)):
            if not text.strip():
                continue
            plain, extents = _ARRAY.fullmatch(text.partition("=")[0].strip()).groups()
            one = declared(plain if number == 0 else f"{head[0] if head else ''} {plain}")
            if not one.name or "[" in plain:
                return None
            count = 1
            for extent in re.findall(r"\d+", extents):
                count *= int(extent)
            listed.append(Member(one.type, one.name, count if extents else 0, bool(re.search(r"\bconst\b", first))))
    return listed


def size_of(kind: str, source: str) -> int:
    """The bytes of a type that is a number, a vector, a pointer or a plain struct; 0 for another."""
    return _layout(kind, source, ())[0]


def _layout(kind: str, source: str, within: tuple[str, ...]) -> tuple[int, int]:
    """(bytes, alignment) of a type; (0, 1) if they are not known. within: the structs that hold it."""
    if kind.endswith("*"):
        return 8, 8
    if kind in SIZES:
        return SIZES[kind], SIZES[kind]
    if found := _VECTOR.fullmatch(kind):
        part = SIZES["long long" if found[2] == "longlong" else found[2]]
        count = int(found[3])
        return part * count, part if count == 3 else min(16, part * count)
    offset, widest = 0, 1
    parts = None if kind in within else members(kind, source)
    for part in parts or ():
        size, align = _layout(part.type, source, (*within, kind))
        if not size:
            return 0, 1
        offset, widest = -(-offset // align) * align + size * max(1, part.count), max(widest, align)
    return -(-offset // widest) * widest, widest
