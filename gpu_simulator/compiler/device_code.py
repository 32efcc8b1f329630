"""The device code of a .cu file that also has host code, as text that NVRTC compiles.

NVRTC compiles device code only: no `main`, no launches with <<<…>>>, no headers of the host. nvcc lets a kernel use
nothing of the host but types and constants, so functions without `__device__` or `__global__`, and variables of the
host, can be left out. Each is replaced by empty lines, so that every line keeps its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

# Headers of the C and C++ library whose types and constants a kernel may use, and where libcu++ has them.
_LIBRARY = {
    **dict.fromkeys(("stdint.h", "cstdint", "inttypes.h", "cinttypes"), "cuda/std/cstdint"),
    **dict.fromkeys(("float.h", "cfloat"), "cuda/std/cfloat"),
    **dict.fromkeys(("limits.h", "climits"), "cuda/std/climits"),
}
# Types that the headers of Linux declare beside their own, and the null pointer.
PRELUDE = "typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;\n#define NULL 0\n"

_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<end>[^()\\\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*\#(?:\\\r?\n|/\*.*?\*/|[^\n])*",
    re.S | re.M,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")[^\n]*$', re.M)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)\n]*\))?[^\n]*\b__(?:global|device|constant)__", re.M)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.M)
_DEVICE = {"__global__", "__device__", "__constant__", "__managed__", "__shared__"}
_KIND = re.compile(r"^(?:template\s*<[^{;]*>\s*)?(?:typedef\s+|static\s+|const\s+)*(?:struct|class|union|enum)\b")
_LAYER = re.compile(r"^(?:inline\s+)?(?:namespace\b[\w:\s]*|extern)$")
_HOST = re.compile(r"(?<!cuda::)\bstd\b|\b(?:cuda(?:Stream|Event|Graph)\w*|FILE)\b")
_ATTRIBUTE = re.compile(
    r"\b__(?:launch_bounds|cluster_dims|maxnreg|block_size|attribute)__\s*\((?:[^()]|\([^()]*\))*\)"
)
_NAME = re.compile(r"(\w+)\s*\(")


class DeviceCode(NamedTuple):
    """text: for `compile`.   left_out: headers of the host.   kernels: names of the __global__ functions, in order;
    templates: of those that are templates, the parameters, such as "class T, int size", by name.
    """

    text: str
    left_out: tuple[str, ...]
    kernels: tuple[str, ...]
    templates: dict[str, str]


def device_code(
    path: Path, text: str, folders: Sequence[Path] = (), has: Callable[[str], bool] = lambda _: False
) -> DeviceCode:
    """The `DeviceCode` of a file. Headers that lie beside it or in `folders` are put in place of their #include.

    has: whether the CUDA toolkit has a header of this name.
    """
    reader = _Reader(folders, has)
    body = reader.read(path, text)
    return DeviceCode(
        f'#line 1 "types.h"\n{PRELUDE}#line 1 "{path.name}"\n{body}',
        tuple(dict.fromkeys(reader.left_out)),
        tuple(dict.fromkeys(reader.kernels)),
        reader.templates,
    )


class _Reader:
    def __init__(self, folders: Sequence[Path], has: Callable[[str], bool]):
        self.folders, self.has = folders, has
        self.left_out: list[str] = []
        self.kernels: list[str] = []
        self.templates: dict[str, str] = {}
        self._marks = set(_DEVICE)
        self._seen: set[Path] = set()  # headers that are read once, or being read

    def read(self, path: Path, text: str) -> str:
        """Its device code, with the headers in it."""
        self._marks.update(found[1] for found in _MACRO.finditer(text))
        masked = _NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        included = {}  # by position, so that the names of what a header declares are known first
        for found in _INCLUDE.finditer(text):
            if not _in_comment(text, found.start()):
                included[found.start()] = (found.end(), self._include(found, path, text.count("\n", 0, found.start())))
        pieces = list(included.items())
        for begin, end, keep in self._items(masked):
            if not keep:
                pieces.append((begin, (end, "\n" * text.count("\n", begin, end))))
        parts, at = [], 0
        for begin, (end, other) in sorted(pieces):
            if begin >= at:  # an #include in a function that is left out goes with it
                parts += [text[at:begin], other]
                at = end
        return "".join([*parts, text[at:]])

    def _include(self, found: re.Match, path: Path, lines: int) -> str:
        name = found[1] or found[2]
        own = [folder / name for folder in (path.parent, *self.folders) if (folder / name).is_file()]
        if own:
            real = own[0].resolve()
            if real in self._seen:
                return ""
            text = own[0].read_text(encoding="utf-8", errors="replace")
            self._seen.add(real)
            inside = self.read(own[0], text)
            if not _ONCE.search(text):  # its own guard, or its purpose, decides how often it is read
                self._seen.discard(real)
            return f'#line 1 "{name}"\n{inside}\n#line {lines + 1} "{path.name}"\n'
        if name in _LIBRARY:
            return f"#include <{_LIBRARY[name]}>"
        if self.has(name):
            return found[0]
        self.left_out.append(name)
        return ""

    # ---- What a file declares ----

    def _items(self, code: str) -> Iterator[tuple[int, int, bool]]:
        """(begin, end, keep) of each declaration outside functions and classes. None where the braces do not match."""
        items, at = [], 0
        while (begin := _next(code, at)) < len(code):
            if code[begin] == "}":  # of a namespace
                at = begin + 1
                continue
            stop = re.compile(r"[{;]").search(code, begin)
            if stop is None:
                break
            head = code[begin : stop.start()].strip()
            if stop[0] == "{" and _LAYER.match(head):
                at = stop.end()
                continue
            body = stop[0] == "{"
            kind = bool(_KIND.match(head)) and not head.endswith(")")
            function = body and not kind and "(" in head and "=" not in _outside_brackets(head)
            if body:
                closing = _closing(code, stop.start())
                if closing is None:
                    return iter(())
                at = closing
                if not function:
                    semicolon = code.find(";", at)
                    at = len(code) if semicolon < 0 else semicolon + 1
            else:
                at = stop.end()
            items.append((begin, at, self._keep(head, code[begin:at], function, kind)))
        return iter(items)

    def _keep(self, head: str, item: str, function: bool, kind: bool) -> bool:
        words = set(re.findall(r"\w+", item if kind else head))
        if words & self._marks:
            if "__global__" in words and not kind and (name := _NAME.search(_ATTRIBUTE.sub("", _plain(head)))):
                self.kernels.append(name[1])
                if parameters := _parameters(head):
                    self.templates.setdefault(name[1], parameters)
            return True
        if "constexpr" in words:
            return not _HOST.search(head)
        if kind or re.match(r"(?:typedef|using|static_assert|namespace|asm|template\s*<[^;]*>\s*using)\b", head):
            return not _HOST.search(item)
        if function:
            return False
        if "=" not in _outside_brackets(head) and "(" in head:  # a prototype, or a macro that may declare anything
            return bool(re.match(r"\w+\s*\(", head))
        return "const" in words and "*" not in head and "dim3" not in words and not _HOST.search(head)


def _next(code: str, at: int) -> int:
    """Where the next declaration begins."""
    found = re.compile(r"[^\s;]").search(code, at)
    return found.start() if found else len(code)


def _closing(code: str, brace: int) -> int | None:
    """The place behind the } that belongs to the { at `brace`."""
    depth = 0
    for found in re.compile(r"[{}]").finditer(code, brace):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.end()
    return None


def _parameters(head: str) -> str:
    """The parameters of a template; "" of a specialisation, an instance, and of what is no template."""
    return " ".join(head[: len(head) - len(_plain(head))].partition("<")[2][:-1].split())


def _plain(head: str) -> str:
    """The head without its template's parameters, in which parentheses may stand."""
    if not re.match(r"template\s*<", head):
        return head
    depth = 0
    for place, sign in enumerate(head):
        depth += (sign == "<") - (sign == ">")
        if sign == ">" and depth == 0:
            return head[place + 1 :]
    return head


def _outside_brackets(head: str) -> str:
    """The head without what stands in brackets: the = in it is of an initialiser, not of a default argument."""
    text, before = re.sub(r"operator\s*[^\w\s(]+", "", _plain(head)), None
    while text != before:
        before, text = text, re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text)
    return text


def _in_comment(text: str, place: int) -> bool:
    """Whether a comment over several lines is open there."""
    return text.rfind("/*", 0, place) > text.rfind("*/", 0, place)
