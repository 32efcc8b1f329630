"""The device code of a .cu file that also has host code, as text that NVRTC compiles.

NVRTC compiles device code only: no `main`, no launches with <<<…>>>, no headers of the host. nvcc lets a kernel use
nothing of the host but types and constants, so functions without `__device__` or `__global__`, and variables of the
host, can be left out. Each is replaced by empty lines, so that every line keeps its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gpu_simulator.compiler.host_headers import HEADERS, LIBRARY, VALUES

# Read for cub/cub.cuh, which also has what launches kernels, and that NVRTC does not compile.
_CUB = "".join(
    f"#include <cub/{of}/{of}_{part}.cuh>\n"
    for of, parts in (
        ("block", "load store reduce scan radix_sort merge_sort histogram exchange discontinuity"),
        ("warp", "load store reduce scan merge_sort exchange"),
    )
    for part in parts.split()
)
# Headers of the toolkit that are for host code only.
_HOST_HEADERS = re.compile(r"thrust/|cub/device/|cuda_(?:gl|egl|vdpau|profiler)_?\w*\.h|cuda(?:GL|EGL|VDPAU)\w*\.h")
_WITH_HALF = re.compile(r"(?:torch|ATen|c10)/|cublas|cudnn")  # left out, but they include cuda_fp16.h and cuda_bf16.h

_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<end>[^()\\\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*\#(?:\\\r?\n|/\*.*?\*/|[^\n])*",
    re.S | re.M,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")[^\n]*$', re.M)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?((?:\\\r?\n|[^\n])*)", re.M)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.M)
_DEVICE = {"__global__", "__device__", "__constant__", "__managed__", "__shared__"}
_KIND = re.compile(r"^(?:template\s*<[^{;]*>\s*)?(?:typedef\s+|static\s+|const\s+)*(?:struct|class|union|enum)\b")
_LAYER = re.compile(r"^(?:inline\s+)?(?:namespace\b[\w:\s]*|extern)$")
# What of std:: a kernel can use, because libcu++ has it.
_STD = (
    r"is_\w+|\w+_[tv]|enable_if|conditional|integral_constant|(?:true|false)_type|numeric_limits|remove_\w+|add_\w+|decay"
    r"|make_(?:un)?signed|underlying_type|common_type|\w+_sequence|declval|forward|move|swap|exchange|pair|tuple\w*|array|get"
    r"|make_(?:pair|tuple)|min|max|initializer_list|byte|bool_constant|aligned_storage|alignment_of|(?:con|dis)junction|negation|rank|extent|invoke_result"
)
_HOST = re.compile(
    rf"(?<!cuda::)\bstd\b(?!\s*::\s*(?:{_STD})\b)"
    r"|\b(?:cuda(?:Stream|Event|Graph)\w*|FILE|pthread_\w+|timespec|clock_gettime|itimerval|rusage|getrusage|sem_t)\b"
    r"|\b(?:sigaction|sockaddr\w*|LARGE_INTEGER|QueryPerformance\w+)\b|\b(?:torch|at|c10|thrust)\s*::"
)
# Types of constants that a kernel can use if their value is computed from other constants.
_WHOLE = {"int", "unsigned", "long", "short", "char", "bool", "size_t", "uint"} | {
    f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_USES_STD = re.compile(r"(?<!cuda::)(?<!namespace )\bstd\s*::")
_ALIGNED = re.compile(r"\b(?:__align__|alignas|__attribute__|__declspec)\s*\((?:[^()]|\([^()]*\))*\)")
_ATTRIBUTE = re.compile(
    r"\b__(?:launch_bounds|cluster_dims|maxnreg|block_size|attribute)__\s*\((?:[^()]|\([^()]*\))*\)"
)
_NAME = re.compile(r"(\w+)\s*\(")
_LIKE_A_MACRO = re.compile(r"[A-Z][A-Z0-9_]*\s*\(")


# (T){…} is a GNU form that NVRTC does not have; T{…} is the same. Where it stands, it can be no head of a function.
_COMPOUND_LITERAL = re.compile(
    r"(?:(?<!operator)(?<!operator.)(?<!operator..)[=(,?:+\-*/&|]|\breturn)\s*"
    r"(?P<open>\((?:\s*struct\b)?)\s*[A-Za-z_][\w:]*(?:<[^<>(){};]*>)?\s*(?P<close>\))(?=\s*\{)"
)
# Functions of the runtime library that a kernel can call; nvcc reads this header before every source.
_OF_THE_RUNTIME = re.compile(r"\bcuda(?:GridDependencySynchronize|TriggerProgrammaticLaunchCompletion)\b")
_RUNTIME = "cuda_device_runtime_api.h"


class DeviceCode(NamedTuple):
    """text: for `compile`.   left_out: headers of the host.   kernels: names of the __global__ functions, in order;
    templates: of those that are templates, the parameters, such as "class T, int size", by name.   folders: those from
    which NVRTC includes headers itself.   parameters: of each kernel, as they are written, by its name.
    """

    text: str
    left_out: tuple[str, ...]
    kernels: tuple[str, ...]
    templates: dict[str, str]
    folders: tuple[Path, ...] = ()
    parameters: Mapping[str, tuple[str, ...]] = {}

    def signature(self, name: str) -> str:
        """A kernel as its declaration says: `scale<typename T>(T* x, int n)`."""
        template = f"<{self.templates[name]}>" if name in self.templates else ""
        return f"{name}{template}({', '.join(self.parameters[name])})"


def device_code(
    path: Path, text: str, folders: Sequence[Path] = (), has: Callable[[str], bool] = lambda _: False
) -> DeviceCode:
    """The `DeviceCode` of a file. Headers that lie beside it or in `folders` are put in place of their #include.

    A library in `folders` that is written for NVRTC, such as CUTLASS, is left to NVRTC as it is.
    has: whether the CUDA toolkit has a header of this name.
    """
    reader = _Reader(folders, has)
    body = reader.read(path, text)
    library = f"#include <{LIBRARY}>\n" if _USES_STD.search(body) else ""
    library += f"#include <{_RUNTIME}>\n" if _OF_THE_RUNTIME.search(body) and has(_RUNTIME) else ""
    return DeviceCode(
        f'#line 1 "types.h"\n#include <{VALUES}>\n{library}#line 1 "{path.name}"\n{body}',
        tuple(dict.fromkeys(reader.left_out)),
        tuple(dict.fromkeys(reader.kernels)),
        reader.templates,
        tuple(reader.left_to_nvrtc),
        reader.parameters,
    )


def masked(text: str) -> str:
    """A source with blanks in place of comments, strings and directives; every character keeps its place."""
    return _NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


class _Reader:
    def __init__(self, folders: Sequence[Path], has: Callable[[str], bool]):
        self.folders, self.has = folders, has
        self.left_out: list[str] = []
        self.kernels: list[str] = []
        self.templates: dict[str, str] = {}
        self.parameters: dict[str, tuple[str, ...]] = {}
        self._marks, self._constant = set(_DEVICE), {"constexpr", "consteval", "constinit"}
        self._defined: set[str] = set()  # names of all macros
        self._macros: dict[str, bool] = {}  # those that stand for whole declarations: whether they are kept
        self._host_functions: set[str] = set()
        self.left_to_nvrtc: dict[Path, None] = {}
        self._knows_nvrtc: dict[Path, bool] = {}
        self._seen: set[Path] = set()  # headers that are read once, or being read

    def read(self, path: Path, text: str) -> str:
        """Its device code, with the headers in it."""
        for found in _MACRO.finditer(text):
            self._define(found[1], found[2], found[3])
        code = masked(text)
        included = {}  # by position, so that the names of what a header declares are known first
        for found in _INCLUDE.finditer(text):
            if not _in_comment(text, found.start()):
                included[found.start()] = (found.end(), self._include(found, path, text.count("\n", 0, found.start())))
        pieces = list(included.items())
        for found in _COMPOUND_LITERAL.finditer(code):
            pieces += [(found.start(name), (found.end(name), " " * len(found[name]))) for name in ("open", "close")]
        for begin, end, keep in self._items(code):
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
        if own and self._is_for_nvrtc(own[0], name):
            return found[0]
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
        if name == "cub/cub.cuh" and self.has(name):
            return _CUB + f'#line {lines + 1} "{path.name}"'
        if name in HEADERS:
            return ""
        if self.has(name) and not _HOST_HEADERS.match(name):
            return found[0]
        self.left_out.append(name)
        return (
            "#include <cuda_fp16.h>\n#include <cuda_bf16.h>" + f'\n#line {lines + 1} "{path.name}"'
            if (_WITH_HALF.match(name) and self.has("cuda_bf16.h"))
            else ""
        )

    def _is_for_nvrtc(self, header: Path, name: str) -> bool:
        """Whether a header is part of a library that asks for __CUDACC_RTC__. Its macros are noted then."""
        folder = next((folder for folder in self.folders if folder / name == header), None)
        if folder is None or "/" not in name:
            return False
        library = folder / name.partition("/")[0]
        if library not in self._knows_nvrtc:
            files = sorted(path for path in library.rglob("*.h*") if path.is_file())
            known = sum(b"__CUDACC_RTC__" in path.read_bytes() for path in files)
            self._knows_nvrtc[library] = 20 * known > len(files)  # tools beside a library may include its headers
        if self._knows_nvrtc[library]:
            self.left_to_nvrtc[folder] = None
            self._note_macros(header)
        return self._knows_nvrtc[library]

    def _note_macros(self, header: Path) -> None:
        """Note what the macros of a header stand for, and of those that it includes from `folders`."""
        real = header.resolve()
        if real in self._seen:
            return
        self._seen.add(real)
        text = header.read_text(encoding="utf-8", errors="replace")
        for found in _INCLUDE.finditer(text):
            for folder in (header.parent, *self.folders):
                if (folder / (found[1] or found[2])).is_file():
                    self._note_macros(folder / (found[1] or found[2]))
                    break
        for found in _MACRO.finditer(text):
            self._define(found[1], found[2], found[3])

    def _define(self, name: str, parameters: str | None, body: str) -> None:
        """Note what a macro stands for."""
        self._defined.add(name)
        words = set(re.findall(r"\w+", body))
        if words & self._marks:
            self._marks.add(name)
        elif words & self._constant and "{" not in body:
            self._constant.add(name)
        if parameters and re.search(r"[;}][\s\\]*$", body):
            self._macros[name] = bool(words & self._marks) or not re.search(r"\)[\s\\]*(?:const[\s\\]*)?\{", body)

    # ---- What a file declares ----

    def _items(self, code: str) -> Iterator[tuple[int, int, bool]]:
        """(begin, end, keep) of each declaration outside functions and classes. None where the braces do not match."""
        items: list[tuple[int, int, bool]] = []
        unmarked: list[int] = []
        at = 0
        while (begin := _next(code, at)) < len(code):
            if code[begin] == "}":  # of a namespace
                at = begin + 1
                continue
            if call := self._declaring_call(code, begin):
                items.append((begin, *call))
                at = call[0]
                continue
            stop = _end_of_head(code, begin)
            if stop is None:
                break
            head = code[begin : stop.start()].strip()
            if stop[0] == "{" and _LAYER.match(head):
                at = stop.end()
                continue
            body = stop[0] == "{"
            kind = bool(_KIND.match(head)) and not _ALIGNED.sub("", head).rstrip().endswith(")")
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
            keep = self._keep(head, code[begin:at], function, kind)
            if function and not keep and (name := _NAME.search(_plain(head))):
                self._host_functions.add(name[1])
            items.append((begin, at, keep))
            if kind and keep and not self._marks & set(re.findall(r"\w+", code[begin:at])):
                unmarked.append(len(items) - 1)
        for place in unmarked:
            items[place] = self._unless_of_the_host(code, items, place)
        return iter(items)

    def _declaring_call(self, code: str, begin: int) -> tuple[int, bool] | None:
        """(end, keep) of a call of a macro that stands for whole declarations, so that no semicolon need follow.

        A macro of a header that was left out is unknown, and left out too.
        """
        word = re.compile(r"\w+").match(code, begin)
        unknown = bool(self.left_out and word and _LIKE_A_MACRO.match(code, begin) and word[0] not in self._defined)
        if word is None or not (unknown or word[0] in self._macros):
            return None
        depth = 0
        for found in re.compile(r"[()]").finditer(code, word.end()):
            depth += 1 if found[0] == "(" else -1
            if depth == 0 and not (unknown and re.compile(r"\s*\{").match(code, found.end())):
                return found.end(), not unknown and self._macros[word[0]]
            if depth == 0:
                break
        return None

    def _unless_of_the_host(self, code: str, items: list[tuple[int, int, bool]], place: int) -> tuple[int, int, bool]:
        """A class without a mark. It is left out if it calls functions that are, and nothing that stays uses it."""
        begin, end, keep = items[place]
        calls = self._host_functions & set(re.findall(r"(?<!\.)\b(\w+)\s*\(", code[begin:end]))
        name = re.search(r"\b(?:struct|class|union)\s+(\w+)", _ALIGNED.sub("", code[begin:end]))
        if not calls or name is None:
            return items[place]
        used = re.compile(rf"\b{name[1]}\b")
        others = (code[a:b] for number, (a, b, kept) in enumerate(items) if kept and number != place)
        return begin, end, any(used.search(other) for other in others if not _is_class(other, name[1]))

    def _keep(self, head: str, item: str, function: bool, kind: bool) -> bool:
        words = set(re.findall(r"\w+", item if kind else head))
        if words & self._marks:
            declared = _ATTRIBUTE.sub("", head.rpartition("__global__")[2])
            if "__global__" in words and not kind and (name := _NAME.search(declared)):
                self.kernels.append(name[1])
                self.parameters.setdefault(name[1], _list_of_parameters(declared[name.end() :]))
                if parameters := _parameters(head):
                    self.templates.setdefault(name[1], parameters)
            return True
        if words & self._constant or re.match(r"concept\b", _plain(head).lstrip()):
            return not _HOST.search(head)
        if (using := re.match(r"using\s+[\w:]+::(\w+)$", head)) and using[1] in self._host_functions:
            return False
        if kind or re.match(r"(?:typedef|using|static_assert|namespace|asm|template\s*<[^;]*>\s*using)\b", head):
            return not _HOST.search(item)
        if function:
            return False
        if "=" not in _outside_brackets(head) and "(" in head:  # a prototype, or a macro that may declare anything
            return bool(re.match(r"\w+\s*\(", head))
        declared, _, value = head.partition("=")
        if "const" not in words or "*" in declared or "dim3" in words or _HOST.search(head):
            return False
        return bool(_WHOLE & words) or not (set(re.findall(r"\b[A-Za-z_]\w*", value)) - self._defined)


def _is_class(code: str, name: str) -> bool:
    """Whether a declaration is that of a class, or of a specialisation of a class template."""
    return bool(re.match(rf"(?:template\s*<[^{{;]*>\s*)?(?:struct|class)\s+{name}\b", code))


def _next(code: str, at: int) -> int:
    """Where the next declaration begins."""
    found = re.compile(r"[^\s;]").search(code, at)
    return found.start() if found else len(code)


def _end_of_head(code: str, begin: int) -> re.Match | None:
    """The { of a body, or the semicolon; a { in parentheses is part of an expression such as decltype(T{})."""
    depth, first = 0, None
    for found in re.compile(r"[(){};]").finditer(code, begin):
        if found[0] in "()":
            depth += 1 if found[0] == "(" else -1
        elif found[0] in "{;":
            first = first or found
            if depth == 0:
                return found
            if found[0] == ";":
                break
    return first


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


def _list_of_parameters(text: str) -> tuple[str, ...]:
    """The parameters of a function. text: what follows the parenthesis that opens their list."""
    found, depth = [""], 0
    for sign in text:
        depth += (sign in "(<[{") - (sign in ")>]}")
        if depth < 0:
            break
        if sign == "," and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return tuple(" ".join(part.split()) for part in found if part.strip())


def _plain(head: str) -> str:
    """The head without its template's parameters, in which parentheses may stand."""
    if not re.match(r"template\s*<", head):
        return head
    depth = inside = 0
    for place, sign in enumerate(head):
        inside += (sign == "(") - (sign == ")")
        if not inside:
            depth += (sign == "<") - (sign == ">")
            if sign == ">" and depth == 0:
                return head[place + 1 :]
    return head


def _outside_brackets(head: str) -> str:
    """The head without what stands in brackets: the = in it is of an initialiser, not of a default argument."""
    text, before = re.sub(r"operator\s*[^\w\s(]+|[=!<>]=", "", _plain(head)), None
    while text != before:
        before, text = text, re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text)
    return text


def _in_comment(text: str, place: int) -> bool:
    """Whether a comment over several lines is open there."""
    return text.rfind("/*", 0, place) > text.rfind("*/", 0, place)
