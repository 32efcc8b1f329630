"""Reads the `__shared__` declarations of a CUDA source: type and extents of each array, where the text says them."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass

# Bytes of the types that kernels declare shared arrays of.
TYPE_BYTES = {
    **dict.fromkeys(("char", "signed char", "unsigned char", "bool", "int8_t", "uint8_t", "uchar", "std::byte"), 1),
    **dict.fromkeys(("__nv_fp8_e4m3", "__nv_fp8_e5m2", "__nv_fp8_storage_t"), 1),
    **dict.fromkeys(("short", "unsigned short", "int16_t", "uint16_t", "ushort", "half", "__half"), 2),
    **dict.fromkeys(("__nv_bfloat16", "nv_bfloat16", "bf16", "uchar2", "char2"), 2),
    **dict.fromkeys(("int", "unsigned", "unsigned int", "int32_t", "uint32_t", "uint", "float", "half2"), 4),
    **dict.fromkeys(("__half2", "__nv_bfloat162", "nv_bfloat162", "uchar4", "char4", "short2", "ushort2"), 4),
    **dict.fromkeys(("double", "long long", "unsigned long long", "int64_t", "uint64_t", "size_t", "float2"), 8),
    **dict.fromkeys(("int2", "uint2", "short4", "ushort4"), 8),
    **dict.fromkeys(("float4", "int4", "uint4", "double2", "longlong2", "ulonglong2"), 16),
}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_SHARED = re.compile(r"\b__shared__\b([^;{}]*);")
_QUALIFIER = re.compile(
    r"\b(?:__align__|alignas)\s*\((?:[^()]|\([^()]*\))*\)|\b(?:volatile|const|static|extern|__restrict__)\b"
)
_ARRAY = re.compile(r"(?P<type>.*?)(?<!\w)(?P<name>\w+)\s*(?P<extents>(?:\[[^\]]*\]\s*)*)$", re.S)
_NAMED = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n\\]+)$"
    r"|\b(?:constexpr|const)\s+(?:static\s+)?(?:unsigned\s+)?(?:int|long|size_t|unsigned|auto|u?int\d+_t)\s+(\w+)\s*=\s*([^;,]+)",
    re.M,
)
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
MOST_DEPTH = 12  # of names that stand for names
MOST_NUMBER = 1 << 40


@dataclass(frozen=True)
class Declaration:
    """A shared array as its source declares it.

    type: such as "float"; element_bytes: its size, None for a type that is not known here.
    extents: the text in each pair of brackets, "" for an open one; values: their numbers, None where not known.
    """

    name: str
    type: str
    element_bytes: int | None
    extents: tuple[str, ...]
    values: tuple[int | None, ...]


def declarations(source: str, defines: Mapping[str, object] | None = None) -> list[Declaration]:
    """The shared arrays that a source declares, in its order. defines: macros that are given besides those in it."""
    text = _COMMENT.sub(" ", source)
    names = {found[1] or found[3]: (found[2] or found[4]).strip() for found in _NAMED.finditer(text)}
    names |= {name: str(value) for name, value in (defines or {}).items()}
    made = []
    for found in _SHARED.finditer(text):
        kind = ""
        for number, piece in enumerate(re.split(r",(?![^\[]*\])(?![^<]*>)", _QUALIFIER.sub(" ", found[1]))):
            array = _ARRAY.match(piece.strip())
            if not array:
                continue
            kind = " ".join(array["type"].split()) if number == 0 else kind
            extents = tuple(part.strip() for part in re.findall(r"\[([^\]]*)\]", array["extents"]))
            values = tuple(number_of(part, names) for part in extents)
            made.append(Declaration(array["name"], kind, TYPE_BYTES.get(kind), extents, values))
    return made


def number_of(text: str, names: Mapping[str, str], depth: int = 0) -> int | None:
    """The value of a C++ constant of whole numbers and named constants; None if it is anything else."""
    try:
        return _value(ast.parse(re.sub(r"(?<=\d)[uUlL]+\b", "", text.strip()), mode="eval").body, names, depth)
    except (SyntaxError, ValueError, ZeroDivisionError, KeyError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, names: Mapping[str, str], depth: int) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        found: int | None = node.value
    elif isinstance(node, ast.Name) and depth < MOST_DEPTH:
        found = number_of(names[node.id], names, depth + 1)
    elif isinstance(node, ast.BinOp):
        left, right = _value(node.left, names, depth), _value(node.right, names, depth)
        if isinstance(node.op, ast.LShift) and right > 40:
            raise ValueError("too large")
        found = _OPERATIONS[type(node.op)](left, right)
    else:
        raise ValueError("not a constant")
    if found is None or not -MOST_NUMBER < found < MOST_NUMBER:
        raise ValueError("not a constant")
    return found
