"""The operands of an instruction: registers, immediates, vectors, addresses."""

from __future__ import annotations

import re

from gemm_lab.emulator.ir import (
    Group,
    Immediate,
    Memory,
    Negated,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)

_NUMBER = re.compile(
    r"-?(?:0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?"
    r"|\d+\.\d*(?:[eE][+-]?\d+)?)$"
)
_NAME = re.compile(r"[%A-Za-z_$][\w$.%]*$")
_OFFSET = re.compile(r"(.+?)\s*([+-])\s*(-?\s*\w+)$")


def split(text: str) -> list[str]:
    """Cut at the commas that stand outside brackets and braces."""
    if "," not in text:
        return [text.strip()] if text.strip() else []
    if not any(c in text for c in "{[("):
        return [part.strip() for part in text.split(",")]
    parts, depth, begin = [], 0, 0
    for position, char in enumerate(text):
        if char in "{[(":
            depth += 1
        elif char in "}])":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[begin:position].strip())
            begin = position + 1
    parts.append(text[begin:].strip())
    return parts


def integer(text: str) -> int:
    """A PTX integer literal."""
    text = text.replace(" ", "").rstrip("U")
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    if text[:2] in ("0x", "0X", "0b", "0B"):
        return sign * int(text, 0)
    return sign * (int(text, 8) if len(text) > 1 and text[0] == "0" else int(text))


class OperandReader:
    """Reads operands; `lookup` finds a register or variable by its name."""

    def __init__(self, lookup):
        self.lookup = lookup

    def read_all(self, text: str) -> tuple:
        return tuple([self.read(part) for part in split(text)])

    def read(self, text: str):
        found = self.lookup(text)
        if type(found) is Register:
            return found
        first = text[:1]
        if first == "{":
            return Vector(tuple([self.read(part) for part in split(text[1 : text.rindex("}")])]))
        if first == "[":
            return self.address(text[1 : text.rindex("]")])
        if first == "(":
            return Group(self.read_all(text[1 : text.rindex(")")]))
        if first == "!":
            return Negated(self.read(text[1:].strip()))
        if _NUMBER.match(text):
            return Immediate(text)
        if "|" in text:
            first, second = text.split("|")
            return Pair(self.read(first.strip()), self.read(second.strip()))
        if type(found) is tuple:  # a register of .v2 or .v4
            return Vector(found)
        if found is not None:
            return Symbol(text, 0, found)
        if text == "_":
            return None
        if first == "-" and _NAME.match(text[1:]):
            raise ValueError(f"{text} is not an operand")
        m = _OFFSET.match(text)
        if m and _NAME.match(m[1]):
            base = self.read(m[1])
            if isinstance(base, Symbol):
                return Symbol(base.name, base.offset + int(m[2] + "1") * integer(m[3]), base.variable)
        if not _NAME.match(text):
            raise ValueError(f"{text!r} is not an operand")
        stem, _, item = text.rpartition(".")
        vector = self.lookup(stem) if item in ("x", "y", "z", "w") else None
        if type(vector) is tuple and "xyzw".index(item) < len(vector):
            return vector["xyzw".index(item)]
        if first == "%" or text == "WARP_SZ":
            return Special(text)
        return Symbol(text, 0, None)

    def address(self, text: str) -> Memory:
        parts = split(text)
        if len(parts) > 1:
            inner = self.address(parts[0])
            return Memory(inner.base, inner.offset, tuple([self.read(part) for part in parts[1:]]))
        text = text.strip()
        found = self.lookup(text)
        if type(found) is Register:
            return Memory(found, 0)
        m = _OFFSET.match(text)
        if m and not _NUMBER.match(text):
            base = self.read(m[1].strip())
            value = integer(m[3])
            return Memory(base, -value if m[2] == "-" else value)
        return Memory(self.read(text), 0)
