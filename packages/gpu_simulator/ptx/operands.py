"""Parses the operands of an instruction: registers, immediates, vectors, addresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gpu_simulator.ptx.ir import Group, Immediate, Memory, Negated, Pair, Part, Register, Special, Symbol, Vector

NUMBER = re.compile(
    r"-?(?:0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]{1,16}U?|0[bB][01]{1,64}U?|\d{1,20}U?"
    r"|\d{1,40}\.\d{0,40}(?:[eE][+-]?\d{1,4})?)\Z",
    re.ASCII,
)
_NAME = re.compile(r"[%A-Za-z_$][\w$.%]*\Z", re.ASCII)
_OFFSET = re.compile(r"(.+?) ?([+-]) ?(- ?\w+|\w+)\Z", re.ASCII)
_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|0[0-7]{0,22}|[1-9]\d{0,19})U?\Z", re.ASCII)
LONGEST = 20_000  # characters of one name or number, far above what a compiler writes


def shortened(text: str, most: int = 40) -> str:
    """A piece of PTX in quotes, cut to `most` characters, for a message."""
    return repr(text if len(text) <= most else text[:most] + "…")


def split(text: str) -> list[str]:
    """Split at the commas that are outside of brackets and braces."""
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
    """The value of a PTX integer literal. Raises `ValueError`."""
    text = text.replace(" ", "")
    if not _INTEGER.match(text):
        raise ValueError(f"{shortened(text)} is not a whole number of 64 bits")
    text = text.rstrip("U")
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    if text[:2] in ("0x", "0X", "0b", "0B"):
        return sign * int(text, 0)
    return sign * (int(text, 8) if len(text) > 1 and text[0] == "0" else int(text))


class OperandReader:
    """Reads operands. `lookup` finds a register or variable by its name. Every method raises `ValueError`."""

    def __init__(self, lookup: Callable[[str], Any]) -> None:
        self.lookup = lookup

    def read_all(self, text: str) -> tuple:
        return tuple([self.read(part) for part in split(text)])

    def read(self, text: str) -> Any:
        found = self.lookup(text)
        if type(found) is Register:
            return found
        first = text[:1]
        if first == "{":
            return Vector(tuple([self.simple(part, "a vector") for part in split(inside(text, "}"))]))
        if first == "[":
            return self.address(inside(text, "]"))
        if first == "(":
            return Group(tuple([self.simple(part, "a list of arguments") for part in split(inside(text, ")"))]))
        if first == "!":
            register = self.simple(text[1:].strip(), "a negation")
            if type(register) is not Register:
                raise ValueError(f"{shortened(text)} negates what is no register")
            return Negated(register)
        if "|" in text:
            parts = [self.simple(part.strip(), "a pair") for part in text.split("|", 2)]
            if len(parts) != 2:
                raise ValueError(f"{shortened(text)} is not a pair of destinations")
            return Pair(*parts)
        return self.scalar(text, found)

    def simple(self, text: str, what: str) -> Any:
        """Read an item of a vector, list, pair, negation or address; such an item cannot be one of these itself."""
        if text[:1] in ("{", "[", "(", "!") or "|" in text:
            raise ValueError(f"{shortened(text)} cannot stand in {what}")
        return self.scalar(text, self.lookup(text))

    def scalar(self, text: str, found: Any) -> Any:
        if type(found) is Register:
            return found
        if NUMBER.match(text):
            return Immediate(text)
        if type(found) is tuple:  # a register of .v2 or .v4
            return Vector(found)
        if found is not None:
            return Symbol(text, 0, found)
        if text == "_":
            return None
        if len(text) > LONGEST:
            raise ValueError(f"{shortened(text)} is not an operand")
        text = " ".join(text.split())
        m = _OFFSET.match(text)
        if m and _NAME.match(m[1]):
            base = self.scalar(m[1], self.lookup(m[1]))
            if isinstance(base, Symbol):
                return Symbol(base.name, base.offset + int(m[2] + "1") * integer(m[3]), base.variable)
        if not _NAME.match(text):
            raise ValueError(f"{shortened(text)} is not an operand")
        stem, _, item = text.rpartition(".")
        if item in ("b0", "b1", "b2", "b3", "h0", "h1") and type(self.lookup(stem)) is Register:
            return Part(self.lookup(stem), item)
        vector = self.lookup(stem) if item in ("x", "y", "z", "w") else None
        if type(vector) is tuple and "xyzw".index(item) < len(vector):
            return vector["xyzw".index(item)]
        if text[0] == "%" or text == "WARP_SZ":
            return Special(text)
        return Symbol(text, 0, None)

    def address(self, text: str) -> Memory:
        parts = split(text)
        if len(parts) > 1:
            place = self.address(parts[0])
            coordinates = [self.coordinate(part) for part in parts[1:]]
            return Memory(place.base, place.offset, tuple(coordinates))
        text = " ".join(text.split())
        if len(text) > LONGEST:
            raise ValueError(f"{shortened(text)} is not an address")
        found, value = self.lookup(text), 0
        m = None if type(found) is Register or NUMBER.match(text) else _OFFSET.match(text)
        if m:
            text, value = m[1].strip(), integer(m[3])
            value = -value if m[2] == "-" else value
        base = found if type(found) is Register else self.simple(text, "an address")
        if type(base) not in (Register, Symbol, Immediate):
            raise ValueError(f"{shortened(text)} is not an address")
        return Memory(base, value)

    def coordinate(self, text: str) -> Any:
        """Read an operand after the first in a tensor address: a vector, a register or a number."""
        if text[:1] == "{":
            return Vector(tuple([self.simple(part, "a vector") for part in split(inside(text, "}"))]))
        return self.simple(text, "an address")


def inside(text: str, close: str) -> str:
    """The text between the first character and the closing bracket, which must be the last one. Raises `ValueError`."""
    if text[-1:] != close:
        raise ValueError(f"{shortened(text)} does not end with {close!r}")
    return text[1:-1]
