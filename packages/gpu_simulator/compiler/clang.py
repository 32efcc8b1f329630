"""Compiles CUDA source to PTX with clang, where NVIDIA's compiler is not installed: on a Mac, or by wish.

The package ziglang, the extra `clang`, contains a clang with LLVM's back end for NVIDIA GPUs. Our own headers in
`clang_headers` take the place of NVIDIA's, and `libcudacxx` holds the part of NVIDIA's C++ library that kernels use.
There is no machine code, so registers and spills are unknown, and counts may differ from those of NVRTC's PTX: another
compiler orders, merges and hoists other instructions.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from gpu_simulator.compiler import host_headers, libcudacxx, missing_names
from gpu_simulator.compiler.cluster_extents import with_clusters
from gpu_simulator.compiler.diagnostics import Diagnostic, cropped, short_name, source_line
from gpu_simulator.compiler.refused_forms import about_cuda_form
from gpu_simulator.errors import MissingDependency, SimulatorError, install_command

HEADERS = Path(__file__).parent / "clang_headers"
CPU_S = 60  # the limit of time for one source
PTX_VERSION = "+ptx88"  # the newest version of PTX that this clang writes
# Headers that a kernel may name and does not need here.
_STAND_INS = (
    *("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "cuda_device_runtime_api.h", "device_launch_parameters.h"),
    *("device_functions.h", "device_atomic_functions.h", "sm_20_intrinsics.h", "sm_30_intrinsics.h"),
    *("sm_32_intrinsics.h", "sm_35_intrinsics.h", "sm_60_atomic_functions.h", "sm_61_intrinsics.h"),
    *("vector_types.h", "vector_functions.h", "builtin_types.h", "driver_types.h", "math_functions.h", "new"),
)
# Functions that libcu++ calls as builtins of the compiler, for which LLVM would call a library that no GPU has.
_OF_THE_LIBRARY = tuple(
    f"{name}{suffix}"
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "exp2", "expm1"),
        *("frexp", "hypot", "ilogb", "ldexp", "lgamma", "llrint", "llround", "log", "log10", "log1p", "log2", "logb"),
        *("lrint", "lround", "nextafter", "pow", "scalbln", "scalbn", "sin", "sinh", "tan", "tanh", "tgamma"),
    )
    for suffix in ("", "f")
)
_NAMES = "the kernel's name"  # the file in which the instances of templates stand
_MESSAGE = re.compile(
    r"^(?P<file>[^\n:]*):(?P<line>\d+):(?P<column>\d+): (?:fatal )?(?P<severity>error|warning): (?P<message>.*)$"
)
_LOCATION = re.compile(r"^(\t\.loc\t\d+ \d+ \d+) *// (.*)$", re.M)
_FRAME = re.compile(r"@\[ (.*?):(\d+):(\d+)")
_FILE = re.compile(r'^\t\.file\t(\d+) "([^"]*)"(?: "([^"]*)")?.*$', re.M)
# NVRTC is told to take a function without a qualifier as a device function. clang takes it as one of the host, unless a
# pragma makes all functions those of both sides, which a kernel that is declared twice or specialised cannot be.
_OF_THE_HOST, _OF_BOTH_SIDES = "__host__ function", "#pragma clang force_cuda_host_device begin\n"
_CLASH = "attributes are not compatible"
_NAMED = re.compile(r"^[^\n]*[ @]lab_instance_(\d+) = [^\n]*?@?([\w$.]+)(?:, align \d+|;)$", re.M)
_OF_NAMES = re.compile(r"^[^\n]*lab_instance_\d+[^\n]*\n", re.M)
_SHARED = re.compile(
    r"^\s*(?:\.visible )?\.shared \.align (\d+) \.b8 [\w$]+\[(\d+)\]|^\s*\.shared \.align \d+ \.[busf](\d+) [\w$]+;",
    re.M,
)


class Clang(Protocol):
    """A clang. Called with its arguments and {path: text} of the files, it returns (exit status, output, messages)."""

    writes_ir: bool  # its back end has no NVPTX, so it is asked for LLVM's IR, which `llvm_ir_to_ptx` turns into PTX

    def __call__(self, arguments: Sequence[str], files: Mapping[str, str]) -> tuple[int, str, str]: ...

    def version(self) -> str:
        """What clang says of itself, such as "clang version 21.1.0"."""


class Installed:
    """The clang of the package ziglang, in a process of its own."""

    writes_ir = False

    def __call__(self, arguments: Sequence[str], files: Mapping[str, str]) -> tuple[int, str, str]:
        if not installed():
            raise MissingDependency(
                "There is no clang here: the package ziglang, which contains it, is not installed. "
                f"Install it with: {install_command('clang', 'ziglang')}"
            )
        with tempfile.TemporaryDirectory(prefix="clang_") as made:
            for name, text in files.items():
                path = Path(made, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            try:
                done = subprocess.run(
                    [sys.executable, "-m", "ziglang", "clang", *arguments],
                    cwd=made,
                    capture_output=True,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    timeout=CPU_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise SimulatorError(
                    f"clang had not ended after {CPU_S} seconds and was stopped; make the source smaller."
                ) from None
        return done.returncode, done.stdout, done.stderr

    def version(self) -> str:
        """What clang says of itself, such as "clang version 21.1.0"."""
        return self(["--version"], {})[1].split("\n")[0].split(" (")[0].strip()


_in_use: Clang = Installed()


def use(clang: Clang) -> None:
    """Compile with this clang from now on, as a web page does, which has one of its own."""
    global _in_use
    _in_use = clang
    version.cache_clear()


def installed() -> bool:
    """True if there is a clang: one that `use` named, or that of the package ziglang."""
    try:
        return not isinstance(_in_use, Installed) or importlib.util.find_spec("ziglang") is not None
    except ModuleNotFoundError:
        return False


def has_header(name: str) -> bool:
    """True if a kernel can include this header: it is ours, it is generated, or it is empty here."""
    known = name in ("config.cuh", *_STAND_INS, *host_headers.HEADERS) or name in libcudacxx.headers()
    return known or (HEADERS / name).is_file()


@lru_cache(maxsize=1)
def version() -> str:
    """The version of the clang in use. Raises `MissingDependency` without one."""
    return _in_use.version()


def to_ptx(
    text: str,
    config_header: str,
    arch: str,
    name: str,
    files: Mapping[str, str],
    include: Sequence[str],
    standard: str,
    own: tuple[str, ...],
    instances: Sequence[str] = (),
) -> tuple[list[Diagnostic], str | None]:
    """(diagnostics, PTX); the PTX is None if the source does not compile.

    text: the source of the file `name`.   config_header: text of config.cuh.   files: the texts by the names that
    diagnostics use.   include: folders with headers.   standard: such as "c++17".   own: the learner's files, whose
    messages come first.   instances: kernels that are templates, with their arguments, such as "reduce<int, 256>"; the
    end of the PTX says which symbol each is. Raises `MissingDependency` without clang, `SimulatorError` if it does not
    end.
    """
    given = {name: text + _named(instances), "config.cuh": config_header, **host_headers.HEADERS}
    given |= dict.fromkeys(_STAND_INS, "#pragma once\n")
    for number, folder in enumerate((HEADERS, *map(Path, include))):
        for header in sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cuh", ".hpp", ".inl")):
            given[f"include{number}/{header.relative_to(folder).as_posix()}"] = header.read_text(encoding="utf-8")
    named = [text, *(value for path, value in given.items() if path.startswith("include") and path[7] != "0")]
    library = libcudacxx.needed(named, host_headers.HEADERS)
    given |= {f"{libcudacxx.FOLDER}/{header}": found for header, found in library.items()}
    folders = [".", *(f"include{number}" for number in range(1, len(include) + 1))]
    options = _options(arch, standard, folders, ("include0", libcudacxx.FOLDER), _in_use.writes_ir)
    status, output, log = _in_use([*options, name], given)
    if status and _OF_THE_HOST in log:
        given[name] = f'{_OF_BOTH_SIDES}#line 1 "{name}"\n{given[name]}'
        again = _in_use([*options, name], given)
        status, output, log = (status, output, log) if again[0] and _CLASH in again[2] else again
    diagnostics = _diagnostics(log, files, own, instances)
    if status:
        told = [d for d in diagnostics if d.severity == "error"]
        return told or [Diagnostic(name, 0, "error", log.strip() or "clang gave no reason")], None
    output, symbols = _without_names(output)
    ptx = _translated(output, arch) if _in_use.writes_ir else _with_call_sites(output)
    ptx = with_clusters(ptx, f"{config_header}{text}")
    return diagnostics, ptx + "".join(f"// {instances[number]} is {symbol}\n" for number, symbol in symbols)


def _named(instances: Sequence[str]) -> str:
    """Source that makes the compiler write these instances of templates, and name the symbol of each."""
    names = (
        f'extern "C" __attribute__((device, used)) const void* const lab_instance_{number} = (const void*)({instance});'
        for number, instance in enumerate(instances)
    )
    return f'\n#line 1 "{_NAMES}"\n' + "\n".join(names) + "\n" if instances else ""


def _without_names(output: str) -> tuple[str, list[tuple[int, str]]]:
    """PTX or LLVM IR without what `_named` asked for, and (number of the instance, its symbol)."""
    found = [(int(number), symbol) for number, symbol in _NAMED.findall(output)]
    return (_OF_NAMES.sub("", output) if found else output), found


def _translated(ir: str, arch: str) -> str:
    """The PTX of LLVM's IR. Raises `SimulatorError` if there is none, `MissingDependency` without llvm_ir_to_ptx."""
    try:
        from llvm_ir_to_ptx import UnsupportedIR, translate  # few need it
    except ModuleNotFoundError:
        raise MissingDependency(
            "This clang has no back end for NVIDIA GPUs, and the package llvm_ir_to_ptx, which takes its place, is not "
            "installed; it comes with gemm_lab: pip install gemm_lab"
        ) from None
    try:
        return translate(ir, arch=arch)
    except UnsupportedIR as error:
        raise SimulatorError(str(error)) from None


def static_shared_bytes(ptx: str) -> int:
    """Shared memory in bytes that the PTX declares with a size."""
    total = 0
    for align, count, bits in _SHARED.findall(ptx):
        step = int(align or int(bits) // 8)
        total = -(-total // step) * step + (int(count) if count else int(bits) // 8)
    return total


def _options(arch: str, standard: str, include: Sequence[str], ours: Sequence[str], ir: bool) -> list[str]:
    """The options of clang's own front end: device code alone, at full optimisation, with the lines of the source.

    include: folders of the learner.   ours: folders about whose headers clang does not warn.
    """
    return [
        *("-cc1", "-triple", "nvptx64-nvidia-cuda", "-aux-triple", "x86_64-unknown-linux-gnu", "-fcuda-is-device"),
        *("-target-cpu", arch, "-target-feature", PTX_VERSION, "-nostdsysteminc", "-nobuiltininc", "-fdeclspec"),
        *("-O3", f"-std={standard}", "-fgnuc-version=0", "-fno-threadsafe-statics", "-fno-rtti"),
        *("-debug-info-kind=line-directives-only", "-ffp-contract=fast", "-relaxed-aliasing"),
        *("-mllvm", "-inline-threshold=100000"),
        *(f"-D__builtin_{name}(...)=::{name}(__VA_ARGS__)" for name in _OF_THE_LIBRARY),
        *(part for folder in include for part in ("-I", folder)),
        *(part for folder in ours for part in ("-internal-isystem", folder)),
        *("-include", "cuda_builtins.h", "-emit-llvm" if ir else "-S", "-o", "-", "-x", "cuda"),
    ]


def _diagnostics(
    log: str, files: Mapping[str, str], own: tuple[str, ...], instances: Sequence[str]
) -> list[Diagnostic]:
    """The messages of a log with their source lines: errors first, and first those in the files of `own`."""
    found = []
    here = "this compiler" if isinstance(_in_use, Installed) else "the page's compiler"
    for line in log.split("\n"):
        if match := _MESSAGE.match(line):
            file, number = short_name(match["file"]), int(match["line"])
            text = source_line(files, file, number)
            whole = files.get(file, "").split("\n")
            blanks = len(whole[number - 1]) - len(whole[number - 1].lstrip()) if text else 0
            caret = max(0, int(match["column"]) - 1 - blanks) if text else None
            if match["file"] == _NAMES:
                said = f"{instances[number - 1]} names no kernel: {match['message']}"
                found.append(Diagnostic(_NAMES, 0, match["severity"], said))
                continue
            told = about_cuda_form(match["message"])
            missing = missing_names.told(match["message"], here)
            message = f"{match['message']}: {told}" if told else missing or match["message"]
            found.append(Diagnostic(file, number, match["severity"], message, *cropped(text, caret)))
    found.sort(key=lambda d: (d.severity != "error", d.file not in own))
    return found


def _with_call_sites(ptx: str) -> str:
    """The PTX with the call sites of inlined code in its `.loc` directives, where clang has them in a comment.

    Each call site gets a `.loc` of its own before that of the code that was inlined there, as NVRTC writes it.
    """
    numbers = {"/".join(filter(None, (folder, file))): number for number, folder, file in _FILE.findall(ptx)}

    def rewritten(match: re.Match[str]) -> str:
        frames = _FRAME.findall(match[2])  # clang numbers no file of which no line stands for itself
        around = [f"{numbers[file]} {line} {column}" for file, line, column in frames if file in numbers]
        if not around:
            return match[1]
        inner = [match[1].removeprefix("\t.loc\t"), *around[:-1]]
        chain = [
            f"\t.loc\t{at}, function_name $L__info, inlined_at {call}" for at, call in zip(inner, around, strict=True)
        ]
        return "\n".join(reversed(chain))

    located = _LOCATION.sub(rewritten, ptx)
    located = _FILE.sub(lambda m: f'\t.file\t{m[1]} "{"/".join(filter(None, (m[2], m[3])))}"', located)
    return re.sub(r"^\t\.section\t\.debug_macinfo\t\{\t\}\n", "", located, flags=re.M)
