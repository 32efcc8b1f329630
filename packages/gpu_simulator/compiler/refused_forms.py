"""Forms that NVRTC refuses, told by a message of the compiler and by where it points, and what to write instead.

Some are of GNU C, which nvcc takes with the host compiler gcc. Others are of CUDA: functions without _sync, which GPUs
from Volta on do not have, references to textures, and launches from kernels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpu_simulator.faults import TEXTURES

_LITERAL = re.compile(r"\(([^()]*)\)\s*$")
_STATEMENTS = (
    "a statement expression, ({ … }), is a GNU extension that NVRTC does not have; write an inline function, or a "
    "lambda that is called at once: [&] { …; return value; }()"
)
_LAUNCHES = (
    "kernels that launch kernels (dynamic parallelism) are not simulated: let the host launch the second kernel after "
    "the first, or call its work as a __device__ function"
)
_OF_WARPS = re.compile(r"__(?:shfl(?:_up|_down|_xor)?|any|all|ballot)")
_OF_TEXTURES = re.compile(r"[\"'](?:texture|surface)[\"']|\b(?:texture|surface) is not a template")
_OF_THE_HOST = re.compile(r"cuda(?:Device|Stream|Event|Mem|Malloc|Free|Get|Set|Launch|Peek|Occupancy)\w*(?<!_t)")
_VOTE = re.compile(r"“vote\.(any|all|ballot)\.(?!sync)")


def about_cuda_form(message: str) -> str:
    """A sentence about a form of CUDA that is not there, and what to write; "" if the message is about none."""
    vote, named = _VOTE.search(message), re.search(r"['\"](\w+)['\"]", message)
    name = f"__{vote[1]}" if vote else named[1] if named else ""
    if _OF_WARPS.fullmatch(name):
        return (
            f"{name} is not there on GPUs from Volta on; write {name}_sync(0xffffffff, …), whose mask names the lanes "
            "that take part"
        )
    if _OF_TEXTURES.search(message):
        return TEXTURES
    if "device-side kernel launch" in message or "__cudaCDP" in message:
        return _LAUNCHES
    if _OF_THE_HOST.fullmatch(name) and "unde" in message:
        if name.startswith(("cudaMalloc", "cudaFree", "cudaMem")):
            return f"{name} is a function for the host; in a kernel write malloc, free or memcpy, or pass it the array"
        return f"{name} is a function for the host, and {_LAUNCHES}"
    return ""


def about_instance(message: str, text: str) -> str:
    """A message about the name of an instance of a template, which says what the name lacks where it can be told.

    text: of the file with the kernels.
    """
    found = re.search(r'which instance of (overloaded function|function template) "([^"]+)"', message)
    if found is None:
        return message
    name = found[2].rpartition("::")[2]
    if found[1] == "function template":
        return f"it does not give each parameter of the template {name} an argument that fits"
    heads = re.finditer(rf"\b__global__\b[^;{{]*?\b{name}\s*\(", text)
    lines = dict.fromkeys(str(text.count("\n", 0, head.end()) + 1) for head in heads)
    return (
        f"several kernels called {name} (lines {', '.join(lines)}) differ in their parameters, which a name does not "
        "tell; rename all but one"
    )


def about_gnu_form(message: str, text: str, caret: int | None, files: Mapping[str, str]) -> str:
    """A sentence that names the GNU form which a message of the compiler is about, and what to write; "" if none.

    text: the source line.   caret: the column in it to which the message points.   files: texts, to look up macros.
    """
    if "register" in message and "storage class" in message:
        return "register is a GNU extension since C++17, and has no effect; leave the word out"
    if caret is None:
        return ""
    before, here = text[:caret], text[caret:]
    if re.match(r"(?:__)?typeof(?:__)?\b", here):
        return "typeof is a GNU extension that NVRTC does not have; write decltype(…)"
    if not message.startswith("expected"):
        return ""
    if here.startswith("{") and (found := _LITERAL.search(before)):
        kind = found[1].removeprefix("struct ").strip()
        return (
            f"a compound literal, ({found[1]}){{…}}, is a GNU extension that NVRTC does not have; write {kind}{{…}}, "
            "without the parentheses"
        )
    if (here.startswith("{") and before.rstrip().endswith("(")) or _stands_for_statements(here, files):
        return _STATEMENTS
    if re.match(r"\.\s*\w+\s*=", here):
        return (
            "a designated initialiser, .name = value, is a GNU extension before C++20; choose c++20 as the standard, "
            "or write the values in order, without names"
        )
    if here.startswith(":") and before.rstrip().endswith("?"):
        return "a ?: b is a GNU extension that NVRTC does not have; write a ? a : b"
    if here.startswith("...") and re.search(r"\bcase\b", before):
        return (
            "a range of cases, case a ... b, is a GNU extension that NVRTC does not have; write one case for each value"
        )
    return ""


def _stands_for_statements(here: str, files: Mapping[str, str]) -> bool:
    """Whether a text begins with a macro that is defined as a statement expression."""
    word = re.match(r"[A-Za-z_]\w*", here)
    if word is None:
        return False
    defined = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+{word[0]}\b((?:\\\r?\n|[^\n])*)", re.M)
    return any("({" in re.sub(r"\s", "", body) for text in files.values() for body in defined.findall(text))
