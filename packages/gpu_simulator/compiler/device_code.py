"""The device code of a .cu file that also has host code, as text that NVRTC compiles.

NVRTC compiles device code only: no `main`, no launches with <<<…>>>, no headers of the host. nvcc lets a kernel use
nothing of the host but types and constants, so functions without `__device__` or `__global__`, and variables of the
host, can be left out, and so can what device code does not reach (`reached`). Each is replaced by empty lines, so that
every line keeps its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gpu_simulator.compiler import declarations
from gpu_simulator.compiler.declarations import Conditional, Item, emptied, masked, names_of, outside_brackets, plain
from gpu_simulator.compiler.host_headers import CONSTANTS, HEADERS, LIBRARY, VALUES
from gpu_simulator.compiler.reached import reached
from gpu_simulator.faults import TEXTURES

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
_HOST_HEADERS = re.compile(
    r"thrust/|cub/(?:device/|util_allocator)|cuda_(?:gl|egl|vdpau|profiler)_?\w*\.h|cuda(?:GL|EGL|VDPAU)\w*\.h"
)
_WITH_HALF = re.compile(r"(?:torch|ATen|c10)/|cublas|cudnn")  # left out, but they include cuda_fp16.h and cuda_bf16.h

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")[^\n]*$', re.M)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?((?:\\\r?\n|[^\n])*)", re.M)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.M)
_DEVICE = {"__global__", "__device__", "__constant__", "__managed__", "__shared__"}
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
_VALUES = {*_WHOLE, "enum", "float", "double"}
_REAL = re.compile(r"(?:static\s+|inline\s+)*(?P<const>const)\s+(?:float|double)\s+\w+\s*(?:\[[^\]]*\]\s*)*[=({]")
_USES_STD = re.compile(r"(?<!cuda::)(?<!namespace )\bstd\s*::")
_ATTRIBUTE = re.compile(
    r"\b__(?:launch_bounds|cluster_dims|maxnreg|block_size|attribute)__\s*\((?:[^()]|\([^()]*\))*\)"
)
_NAME = re.compile(r"(\w+)\s*\(")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LIKE_A_MACRO = re.compile(r"[A-Z][A-Z0-9_]*\s*\(")


# (T){…} is a GNU form that NVRTC does not have; T{…} is the same. Where it stands, it can be no head of a function.
_COMPOUND_LITERAL = re.compile(
    r"(?:(?<!operator)(?<!operator.)(?<!operator..)[=(,?:+\-*/&|]|\breturn)\s*"
    r"(?P<open>\((?:\s*struct\b)?)\s*[A-Za-z_][\w:]*(?:<[^<>(){};]*>)?\s*(?P<close>\))(?=\s*\{)"
)
# Functions of the runtime library that a kernel can call; nvcc reads this header before every source.
_OF_THE_RUNTIME = re.compile(r"\bcuda(?:GridDependencySynchronize|TriggerProgrammaticLaunchCompletion)\b")
_RUNTIME = "cuda_device_runtime_api.h"
LEFT_OUT = "left out as host code"
_OF_THE_TOOLKIT = "crt/host_defines.h"  # in the toolkit's own folder, which the compiler reads itself
_TORCH = re.compile(r"\b(?:torch|at|c10)\s*::")
_NUMBER = re.compile(r"(?:\b\d|\.\d)(?:[eEpP][+-]|[\w.'])*")


class DeviceCode(NamedTuple):
    """text: for `compile`.   left_out: headers of the host.   kernels: names of the __global__ functions, in order;
    templates: of those that are templates, the parameters, such as "class T, int size", by name.   folders: those from
    which NVRTC includes headers itself.   parameters: of each kernel, as they are written, by its name.   host: names
    that were left out as host code, each with a sentence that says where, and what to do if a kernel needs it.
    """

    text: str
    left_out: tuple[str, ...]
    kernels: tuple[str, ...]
    templates: dict[str, str]
    folders: tuple[Path, ...] = ()
    parameters: Mapping[str, tuple[str, ...]] = {}
    host: Mapping[str, str] = {}

    def signature(self, name: str) -> str:
        """A kernel as its declaration says: `scale<typename T>(T* x, int n)`."""
        template = f"<{self.templates[name]}>" if name in self.templates else ""
        return f"{name}{template}({', '.join(self.parameters[name])})"


def device_code(
    path: Path,
    text: str,
    folders: Sequence[Path] = (),
    has: Callable[[str], bool] = lambda _: False,
    used: str = "",
    alone: bool = False,
) -> DeviceCode:
    """The `DeviceCode` of a file. Headers that lie beside it or in `folders` are put in place of their #include.

    A library in `folders` that is written for NVRTC, such as CUTLASS, is left to NVRTC as it is.
    has: whether the CUDA toolkit has a header of this name.   used: text outside the file that may name its types.
    alone: only device code that `used` names, or what that needs, is in it.
    """
    reader = _Reader([folder for folder in folders if not (folder / _OF_THE_TOOLKIT).is_file()], has)
    body = reader.read(path, text)
    body = reached(body, *reader.scanned(body), reader.bodies, used, alone)
    library = f"#include <{LIBRARY}>\n" if _USES_STD.search(body) else ""
    library += f"#include <{_RUNTIME}>\n" if _OF_THE_RUNTIME.search(body) and has(_RUNTIME) else ""
    return DeviceCode(
        f'#line 1 "types.h"\n#include <{VALUES}>\n{library}#line 1 "{path.name}"\n{body}',
        tuple(dict.fromkeys(reader.left_out)),
        tuple(dict.fromkeys(reader.kernels)),
        reader.templates,
        tuple(reader.left_to_nvrtc),
        reader.parameters,
        reader.host,
    )


class _Reader:
    def __init__(self, folders: Sequence[Path], has: Callable[[str], bool]):
        self.folders, self.has = folders, has
        self.left_out: list[str] = []
        self.kernels: list[str] = []
        self.templates: dict[str, str] = {}
        self.parameters: dict[str, tuple[str, ...]] = {}
        self.host: dict[str, str] = {}
        self._marks, self._constant = set(_DEVICE), {"constexpr", "consteval", "constinit"}
        self._constants: set[str] = set()  # names of constants that a kernel can use
        self.bodies: dict[str, str] = {}  # what all macros stand for
        self._macros: dict[str, str] = {}  # what those with parameters stand for, if it may be declarations
        self._expanded: set[str] = set()  # macros whose declarations are being looked at
        self.left_to_nvrtc: dict[Path, None] = {}
        self._knows_nvrtc: dict[Path, bool] = {}
        self._seen: set[Path] = set()  # headers that are read once, or being read

    def read(self, path: Path, text: str) -> str:
        """Its device code, with the headers in it."""
        for found in _MACRO.finditer(text):
            self._define(found[1], found[2], found[3])
        included = {}  # by position, so that the names of what a header declares are known first
        for found in _INCLUDE.finditer(text):
            if not _in_comment(text, found.start()):
                included[found.start()] = (found.end(), self._include(found, path, text.count("\n", 0, found.start())))
        pieces = list(included.items())
        items, code, groups = self.scanned(text)
        for found in _COMPOUND_LITERAL.finditer(code):
            pieces += [(found.start(name), (found.end(name), " " * len(found[name]))) for name in ("open", "close")]
        for item in items:
            if not item.keep:
                pieces.append((item.begin, (item.end, emptied(text, item.begin, item.end, groups))))
                self._note_host(item, path.name, text.count("\n", 0, item.begin) + 1)
            elif real := _REAL.match(
                code, item.begin, item.end
            ):  # nvcc computes one from another, as if it were constexpr
                pieces.append((real.start("const"), (real.end("const"), "constexpr")))
            elif item.root and "__global__" in code[item.begin : item.end]:
                self._note_kernel(item.head)
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
        body = re.sub(r"\\\r?\n", " ", body)
        self.bodies[name] = f"{self.bodies.get(name, '')} {body}"
        words = set(re.findall(r"\w+", body))
        if words & self._marks:
            self._marks.add(name)
        elif words & self._constant and "{" not in body:
            self._constant.add(name)
        if parameters:
            self._macros[name] = masked(body)

    def _note_kernel(self, head: str) -> None:
        """Note the name, the parameters and the template of a kernel."""
        declared = _ATTRIBUTE.sub("", head.rpartition("__global__")[2])
        if name := _NAME.search(declared):
            self.kernels.append(name[1])
            self.parameters.setdefault(name[1], declarations.list_of_parameters(declared[name.end() :]))
            if parameters := declarations.template_parameters(head):
                self.templates.setdefault(name[1], parameters)

    def _note_host(self, item: Item, file: str, line: int) -> None:
        """Note what is left out by name, so that an error can say where it stood."""
        if re.search(r"\b(?:texture|surface)\s*<", item.head):
            what = TEXTURES
        elif item.kind:
            what = "it needs a header that was left out"
        elif "(" in item.head.partition("=")[0]:
            what = "write __device__ before the function if a kernel calls it"
        else:
            what = "a kernel sees no variables of the host; pass it as a parameter, or write constexpr or __constant__"
        for name in item.names:
            self.host.setdefault(name, f"{LEFT_OUT}: your line {line} of {file} ({what})")

    # ---- What a file declares ----

    def scanned(self, text: str) -> tuple[list[Item], str, list[Conditional]]:
        """(declarations outside functions and classes, the text without comments and directives, its conditionals)."""
        groups, code = declarations.conditionals(text), masked(text)
        return list(self._items(declarations.one_branch(code, groups), code, groups)), code, groups

    def _items(self, code: str, whole: str, groups: Sequence[Conditional] = ()) -> Iterator[Item]:
        """Each declaration outside functions and classes. None where the braces do not match.

        code: with one branch of a conditional that cuts a declaration in two.   whole: with all of its branches.
        """
        items: list[Item] = []
        at = 0
        while (begin := declarations.next_declaration(code, at)) < len(code):
            if code[begin] == "}":  # of a namespace
                at = begin + 1
                continue
            if call := self._declaring_call(code, begin):
                items.append(Item(begin, *call, True))
                at = call[0]
                continue
            stop = declarations.end_of_head(code, begin)
            if stop is None:
                break
            head = code[begin : stop.start()].strip()
            if stop[0] == "{" and _LAYER.match(head):
                at = stop.end()
                continue
            kind, at = declarations.is_kind(head), stop.end()
            function = stop[0] == "{" and not kind and "(" in head and "=" not in outside_brackets(head)
            if stop[0] == "{":
                end = declarations.closing(code, stop.start())
                if end is None:
                    return iter(())
                semicolon = end if function else code.find(";", end) + 1
                at = max(end, semicolon) if semicolon else len(code)
            for lines, _ in groups:
                if begin <= lines[0][0] < at < lines[-1][1]:
                    at = lines[-1][1]
            said = whole[begin : at if kind else stop.start()]
            marked = not self._marks.isdisjoint(re.findall(r"\w+", said))
            names, special = names_of(head, code[begin:at], kind, function)
            keep = self._keep(head, code[begin:at], function, kind, marked, names)
            if keep and not function and (_VALUES | self._constant) & set(re.findall(r"\w+", head)):
                self._constants |= names
            items.append(Item(begin, at, keep, marked and not kind, head, kind, names, special))
        return iter(items)

    def _declaring_call(self, code: str, begin: int) -> tuple[int, bool] | None:
        """(end, keep) of a call of a macro that stands for whole declarations, so that no semicolon need follow.

        It stays if one of its declarations does. A macro of a header that was left out is unknown, and left out too.
        """
        word = re.compile(r"\w+").match(code, begin)
        unknown = bool(self.left_out and word and _LIKE_A_MACRO.match(code, begin) and word[0] not in self.bodies)
        if word is None or not (unknown or word[0] in self._macros) or word[0] in self._expanded:
            return None
        depth = 0
        for found in re.compile(r"[()]").finditer(code, word.end()):
            depth += 1 if found[0] == "(" else -1
            if depth == 0:
                follows = re.compile(r"\s*([;{]?)").match(code, found.end())[1]  # type: ignore[index]
                if unknown:
                    return None if follows == "{" else (found.end(), False)
                body = self._macros[word[0]]
                if follows != ";" and not re.search(r"[;}]\s*$", body):
                    return None  # it stands for the beginning of a declaration
                self._expanded.add(word[0])
                keep = any(item.keep for item in self._items(f"{body};", f"{body};"))
                self._expanded.discard(word[0])
                return found.end(), keep
        return None

    def _keep(self, head: str, item: str, function: bool, kind: bool, marked: bool, names: frozenset[str]) -> bool:
        words = set(re.findall(r"\w+", head))
        if marked:  # an overload for types of a header that was left out is one that no other code can call
            torch = any(name.startswith(("torch/", "ATen/", "c10/")) for name in self.left_out)
            return kind or "__global__" in words or not (torch and _TORCH.search(head))
        if words & self._constant or re.match(r"concept\b", plain(head).lstrip()):
            return not _HOST.search(head)
        if kind or re.match(r"(?:typedef|using|static_assert|namespace|asm|template\s*<[^;]*>\s*using)\b", head):
            return not _HOST.search(item)
        if function:
            return False
        known = {*names, *self.bodies, *self._constants, *CONSTANTS}
        declared, _, value = head.partition("=")
        if "=" not in outside_brackets(head) and "(" in head:  # a prototype, or a macro that may declare anything
            declared, _, value = head.partition("(")
            computed = re.fullmatch(r"[^,]*\)", value) and set(_WORD.findall(_NUMBER.sub("", value))) <= known
            if "const" not in words or not computed or value.strip() == ")":  # no number in parentheses: float x(1.f)
                return bool(re.match(r"\w+\s*\(", head))
        if "const" not in words or "*" in declared or "dim3" in words or _HOST.search(head):
            return False
        return bool(_WHOLE & words) or set(_WORD.findall(_NUMBER.sub("", value))) <= known


def _in_comment(text: str, place: int) -> bool:
    """Whether a comment over several lines is open there."""
    return text.rfind("/*", 0, place) > text.rfind("*/", 0, place)
