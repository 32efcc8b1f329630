"""The C++ types of a kernel's parameters, which PTX does not have: from the mangled name of its entry, and its source.

A mangled name lists the types as the compiler sees them (Itanium C++ ABI, 5.1), so it knows what a typedef or a
template parameter stands for. The name of an `extern "C"` kernel lists none; then the source is read. A type that
neither of them tells is "".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from gpu_simulator.ptx.demangle import source_name

_BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "f": "float", "d": "double", "w": "wchar_t", "n": "__int128", "o": "unsigned __int128",
    "e": "long double", "z": "...",
}  # fmt: skip
_ALIASES = {
    "unsigned": "unsigned int", "uint": "unsigned int", "uint32_t": "unsigned int", "int32_t": "int",
    "long int": "long", "int64_t": "long", "uint64_t": "unsigned long", "size_t": "unsigned long",
    "unsigned long int": "unsigned long", "long long int": "long long", "unsigned long long int": "unsigned long long",
    "short int": "short", "int16_t": "short", "ushort": "unsigned short", "uint16_t": "unsigned short",
    "unsigned short int": "unsigned short", "int8_t": "signed char", "uint8_t": "unsigned char",
    "uchar": "unsigned char", "half": "__half", "half2": "__half2", "nv_bfloat16": "__nv_bfloat16",
    "nv_bfloat162": "__nv_bfloat162",
}  # fmt: skip
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.S)
_QUALIFIER = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|__grid_constant__|struct)\b")
_DECLARED = re.compile(
    r"(?P<type>[\w:]+(?:\s+[\w:]+)*?)\s*(?P<star>[*&]*)\s*(?P<name>[A-Za-z_]\w*)?\s*(?P<open>\[.*)?$"
)


class Parameter(NamedTuple):
    """type: such as "float*" or "int", without qualifiers; "" where it is not known.   name: in the source, or ""."""

    type: str
    name: str


def parameters(entry: str, source: str = "") -> list[Parameter]:
    """The parameters of the kernel that PTX calls `entry`, in order, as far as its name and its source tell them."""
    told = _of_the_name(entry)
    written = _of_the_source(source_name(entry).rpartition("::")[2], source)
    if told and written and len(told) != len(written):  # not the declaration of this kernel
        written = []
    pairs = zip_longest(told, written, fillvalue=None)
    return [Parameter(one or (other.type if other else ""), other.name if other else "") for one, other in pairs]


# ---- From the source ----


def _of_the_source(name: str, source: str) -> list[Parameter]:
    """The parameters of the declarations of the kernel `name`; [] where they are not alike, or none is found."""
    code = NO_CODE.sub(" ", source)
    found = []
    for start in re.finditer(rf"__global__\b[^;{{}}]*?\b{re.escape(name)}\s*\(", code):
        found.append([declared(text) for text in _between_commas(code, start.end())])
    alike = found and all([one.type for one in other] == [one.type for one in found[0]] for other in found)
    return found[-1] if alike else []


def _between_commas(code: str, begin: int) -> list[str]:
    """What stands between the commas up to the closing parenthesis."""
    depth, parts = 0, [""]
    for sign in code[begin:]:
        if sign == ")" and depth == 0:
            break
        depth += (sign in "(<[{") - (sign in ")>]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts if parts != [""] and parts != ["void"] else []


def declared(text: str) -> Parameter:
    """The type and the name in a declaration of one parameter, or of one member of a struct."""
    found = _DECLARED.fullmatch(" ".join(_QUALIFIER.sub(" ", text.partition("=")[0]).split()))
    if not found:
        return Parameter("", "")
    kind, name, star = found["type"].removeprefix("std::"), found["name"] or "", found["star"]
    if not star and not found["open"] and f"{kind} {name}" in {*_ALIASES, *_BUILTIN.values()}:  # no name: unsigned int
        kind, name = f"{kind} {name}", ""
    return Parameter(_ALIASES.get(kind, kind) + (star or "*" * bool(found["open"])), name)


# ---- From the mangled name ----


def _of_the_name(symbol: str) -> list[str]:
    reader = _Mangled(symbol)
    try:
        return reader.parameters() if symbol.startswith("_Z") else []
    except (_Unread, IndexError, ValueError):  # a rare form; the types that were read are right
        return []


class _Unread(Exception):
    """A form of the ABI that this reader leaves out."""


class _Mangled:
    """Reads a mangled name from its beginning. `seen` has the parts to which a later S_, S0_, … refers."""

    def __init__(self, text: str):
        self.text, self.at = text, 2
        self.seen: list[str] = []
        self.arguments: Sequence[str] = ()  # of the kernel's template

    def parameters(self) -> list[str]:
        template = self._function()
        if template:
            self._type()  # what it returns
        found = []
        while self.at < len(self.text) and self.text[self.at] not in ".$":
            found.append(self._type())
        return [] if found == ["void"] else found

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self, sign: str) -> bool:
        here = self.text.startswith(sign, self.at)
        self.at += len(sign) * here
        return here

    def _function(self) -> bool:
        """Read the kernel's own name; returns whether it is that of a template's instance."""
        if not self._take("N"):
            name = self._name()
            if self._peek() == "I":
                self.seen.append(name)
                self.arguments = self._template_arguments()
                return True
            return False
        path, template = "", False
        while not self._take("E"):
            template = self._peek() == "I"
            if template:
                self.arguments = self._template_arguments()
            else:
                path = f"{path}::{self._name()}" if path else self._name()
            if self._peek() != "E":
                self.seen.append(path)
        return template

    def _name(self) -> str:
        self._take("L")
        length = re.compile(r"\d+").match(self.text, self.at)
        if not length:
            raise _Unread
        begin = length.end()
        self.at = begin + int(length[0])
        return self.text[begin : self.at]

    def _template_arguments(self) -> list[str]:
        found = []
        self._take("I")
        while not self._take("E"):
            if self._take("L"):
                self._type()
                self.at = self.text.index("E", self.at) + 1
                found.append("")
            else:
                found.append(self._type())
        return found

    def _number(self) -> int:
        """0 for _, 1 for 0_, 2 for 1_, …, in base 36."""
        digits = self.text[self.at : self.text.index("_", self.at)]
        self.at += len(digits) + 1
        return int(digits, 36) + 1 if digits else 0

    def _type(self) -> str:
        sign = self._peek()
        if sign in ("K", "V", "r"):
            while self._peek() in ("K", "V", "r"):
                self.at += 1
            return self._kept(self._type())
        if self._take("P"):
            return self._kept(self._type() + "*")
        if self._take("R") or self._take("O"):
            return self._kept(self._type() + "&")
        if sign in _BUILTIN:
            self.at += 1
            return _BUILTIN[sign]
        if sign.isdigit():
            return self._specialised(self._kept(self._name()))
        if self._take("T"):
            place = self._number()
            return self._kept(self.arguments[place])
        if self._take("St"):
            return self._specialised(self._kept(self._name()))
        if self._take("S"):
            return self._specialised(self.seen[self._number()])
        if self._take("N"):
            return self._nested()
        raise _Unread

    def _nested(self) -> str:
        path = ""
        while not self._take("E"):
            if self._peek() == "I":
                path = f"{path}<{', '.join(self._template_arguments())}>"
            elif self._take("St"):
                path = "std"
                continue
            elif self._take("S"):
                path = self.seen[self._number()]
                continue
            else:
                path = f"{path}::{self._name()}" if path else self._name()
            self.seen.append(path)
        return path.removeprefix("std::")

    def _specialised(self, name: str) -> str:
        return self._kept(f"{name}<{', '.join(self._template_arguments())}>") if self._peek() == "I" else name

    def _kept(self, kind: str) -> str:
        self.seen.append(kind)
        return kind
