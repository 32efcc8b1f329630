"""Compiles CUDA source to PTX and CUBIN with NVRTC, and caches the result on disk.

`#include "config.cuh"` reads a header that is generated from the configuration. So a kernel needs no templates over
tile sizes, and the learner's error messages name every constant.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from gpu_simulator.compiler import clang, compiled_cache, compiler_process
from gpu_simulator.compiler.diagnostics import (
    CompileError,
    Diagnostic,
    parse_nvrtc,
    parse_ptxas,
    ptxas_warnings,
    short_name,
    unreadable,
)
from gpu_simulator.compiler.nvrtc_library import config_header, file_name, is_installed, version
from gpu_simulator.compiler.standards import standard_for
from gpu_simulator.errors import ConfigError

_EXPORTED = ("SMEM_BYTES",)
_FORMAT = 4
COMPILERS = ("nvrtc", "clang")
stored: Path | None = None  # see `use_stored`


@dataclass(frozen=True)
class Compiled:
    """A kernel compiled for one architecture.

    Sizes are in bytes, `registers` are those of a thread, `threads` is the block size of `__launch_bounds__`. `files`
    has the source texts by the names that diagnostics use. Without machine code, `cubin` is empty, and `registers` is 0
    if they, and with them spills and stack, are unknown.
    """

    name: str
    arch: str
    entry: str
    ptx: str
    cubin: bytes = field(repr=False)
    registers: int
    static_smem: int
    dynamic_smem: int
    spill_stores: int
    spill_loads: int
    stack: int
    threads: int
    source: str = field(repr=False)
    files: Mapping[str, str] = field(repr=False)
    config: Mapping[str, int]
    warnings: tuple[Diagnostic, ...]
    key: str

    @property
    def smem(self) -> int:
        """Shared memory of a block in bytes, static plus dynamic."""
        return self.static_smem + self.dynamic_smem

    def __repr__(self) -> str:
        return (
            f"Compiled({self.name} for {self.arch}: {self.registers or 'unknown'} registers, {self.smem:,} bytes "
            f"shared, {self.spill_stores if self.registers else 'unknown'} bytes spilled, {self.threads} threads)"
        )


def compile(
    source: str,
    *,
    config: Mapping[str, int] | None = None,
    arch: str,
    name: str = "kernel",
    entry: str | None = "gemm",
    cell: tuple[str, int] | None = None,
    include: Sequence[Path] = (),
    cache: Path | None = None,
    instances: Sequence[str] = (),
    std: str | None = None,
    using: str | None = None,
) -> Compiled:
    """Compile CUDA source for one architecture.

    source: text of a .cu file; `#line` directives in it are respected.
    config: constants for config.cuh.   arch: exact, such as "sm_75" or "sm_90a".
    cell: the learner's text and the line of the cell at which it starts, for error messages.
    include: folders with headers, in addition to those of the CUDA toolkit.
    cache: folder for compiled kernels, or None.
    entry: the kernel's name in the PTX; None: the only one there is, and `Compiled.entry` is "" if there are several.
    instances: kernels that are templates, with their arguments, such as "reduce<int, 256>".
    std: the C++ standard, such as "c++20"; by default what `standard_for` chooses.
    using: "nvrtc" or "clang", whose result has no machine code; by default NVRTC, or clang where there is no NVRTC.
    Raises `CompileError` with a diagnostic for each message, `SimulatorError` for an unknown architecture or standard.
    """
    config = dict(config or {})
    _require_text(source, name, cell)
    standard = standard_for(source, std)
    files = _own_files(name, source, config, cell, include)
    asked = (source, config, arch, name, entry, files)
    if stored is not None and using is None:
        key = _cache_key(*asked, [standard, *instances])
        if (found := compiled_cache.read(stored, key, Compiled)) is not None:
            return replace(found, files=files)
    compiler = chosen(using)
    release = clang.version() if compiler == "clang" else str(version())
    key = _cache_key(*asked, [compiler, release, standard, *instances])
    cached = compiled_cache.read(cache, key, Compiled) if cache is not None else None
    if cached is not None:
        return cached
    front_end = _with_clang if compiler == "clang" else _with_nvrtc
    folders = [str(folder) for folder in include]
    request = Request(source, config, arch, name, files, folders, list(instances), standard)
    ptx, cubin, warnings, log = front_end(request)
    entry = _entry(ptx, entry, name)
    resources = _resources(log, entry)
    if not cubin:
        resources["static_smem"] = clang.static_shared_bytes(ptx)
    compiled = Compiled(
        name=name,
        arch=arch,
        entry=entry,
        ptx=_relative_files(ptx),
        cubin=cubin,
        source=source,
        files=files,
        config=config,
        key=key,
        warnings=tuple(warnings),
        dynamic_smem=_exported(ptx, "SMEM_BYTES"),
        threads=_threads(ptx, entry),
        **resources,
    )
    if cache is not None:
        compiled_cache.write(cache, key, compiled)
    return compiled


def use_stored(folder: Path | None) -> None:
    """Look for compiled kernels in this folder first, as a web page does, which has no compiler of NVIDIA."""
    global stored
    stored = folder


def store(compiled: Compiled, folder: Path, named: bool = True) -> None:
    """Write a compiled kernel into a folder for `use_stored`, without its machine code and the texts of its headers.

    named: whether `compile` was told the name of the kernel, or found the only one.
    """
    entry = compiled.entry if named else None
    asked = (compiled.source, compiled.config, compiled.arch, compiled.name, entry, compiled.files)
    key = _cache_key(*asked, [standard_for(compiled.source, None)])
    compiled_cache.write(folder, key, replace(compiled, cubin=b"", key=key, files={}))


def chosen(using: str | None) -> str:
    """The compiler to use: the one that is wished for, else NVRTC, else clang where that alone is installed.

    Raises `ConfigError` for a name that is none of `COMPILERS`.
    """
    if using not in (None, *COMPILERS):
        raise ConfigError(f"There is no compiler {using!r}; choose {' or '.join(COMPILERS)}.")
    return using or ("clang" if clang.installed() and not is_installed() else "nvrtc")


def _require_text(source: str, name: str, cell: tuple[str, int] | None) -> None:
    """Raise `CompileError` for text that compilers do not read to its end: with a NUL, or half a surrogate pair."""
    for text, first_line, file in ((*cell, "cell") if cell else ("", 1, ""), (source, 1, file_name(name))):
        if stray := re.search("[\\0\ud800-\udfff]", text):
            line = first_line + text.count("\n", 0, stray.start())
            said = f"the character {ord(stray[0]):#x} stands in this line, which no compiler reads; type the line anew"
            raise CompileError(name, [Diagnostic(file, line, "error", said)])


class Request(NamedTuple):
    """What a compiler is asked for; see `compile`. files: texts that messages may quote.   include: folders."""

    source: str
    config: Mapping[str, int]
    arch: str
    name: str
    files: Mapping[str, str]
    include: list[str]
    instances: Sequence[str]
    standard: str


Made = tuple[str, bytes, list[Diagnostic], str]  # PTX, CUBIN, warnings, and the log that names the resources


def _with_nvrtc(asked: Request) -> Made:
    source, config, arch, name, files, include, instances, standard = asked
    own = ("cell", file_name(name))
    text, option = _with_exports(source), f"-std={standard}"
    log, ptx, cubin = _nvrtc(text, config, arch, name, include, [option, "-Xptxas=-v"], instances)
    if cubin is None and "ptxas" in log:
        _, ptx, _ = _nvrtc(text, config, arch.replace("sm_", "compute_"), name, include, [option], instances)
        told = parse_ptxas(log, ptx or "", files, arch)
        raise CompileError(name, told or [Diagnostic("ptxas", 0, "error", log.strip())])
    diagnostics = parse_nvrtc(log, files, own)
    if ptx is None or cubin is None:
        if not diagnostics:
            diagnostics = [Diagnostic(own[1], 0, "error", unreadable(log))]
        raise CompileError(name, [d for d in diagnostics if d.severity == "error"] or diagnostics)
    return ptx, cubin, [*(d for d in diagnostics if d.severity == "warning"), *ptxas_warnings(log)], log


def _with_clang(asked: Request) -> Made:
    source, config, arch, name, files, include, instances, standard = asked
    file = file_name(name)
    own = ("cell", file)
    diagnostics, ptx = clang.to_ptx(
        _with_exports(source), config_header(config), arch, file, files, include, standard, own, instances
    )
    if ptx is None:
        raise CompileError(name, diagnostics)
    return ptx, b"", [d for d in diagnostics if d.severity == "warning"], ""


def _with_exports(source: str) -> str:
    """The source with a variable for each constant that the host has to know, so that its value stands in the PTX."""
    exports = [n for n in _EXPORTED if re.search(rf"^\s*constexpr\s+int\s+{n}\s*=", source, re.M)]
    return source + "".join(f'\nextern "C" __constant__ int exported_{n} = {n};' for n in exports) + "\n"


def _entry(ptx: str, entry: str | None, name: str) -> str:
    """The name of the kernel in the PTX; raises `CompileError` if it has none of the name `entry`."""
    found = re.findall(r"\.entry\s+([\w$]+)", ptx)
    if entry is None:
        entry = found[0] if len(found) == 1 else ""
    elif entry not in found:
        said = f'there is no kernel called {entry}; write `extern "C" __global__ void {entry}(…)`'
        said += f" (found {', '.join(found)})" if found else ""
        raise CompileError(name, [Diagnostic(file_name(name), 0, "error", said)])
    return entry


def _nvrtc(
    text: str,
    config: Mapping[str, int],
    arch: str,
    name: str,
    include: list[str],
    extra: list[str],
    instances: Sequence[str],
) -> tuple[str, str | None, bytes | None]:
    """The result of `run_nvrtc`, from a process of its own, because the compiler crashes on some sources.

    Raises `CompileError` if it does.
    """
    try:
        return compiler_process.COMPILER.ask(text, dict(config), arch, name, include, extra, instances)
    except compiler_process.Lost as lost:
        said = (
            f"NVRTC {'.'.join(map(str, version()))} crashed while compiling this source: {lost}. "
            "Your session is unharmed. Undo the last change or write it differently."
        )
        raise CompileError(name, [Diagnostic(file_name(name), 0, "error", said)]) from None


# ---- Reading what came out --------------------------------------------------


def _resources(log: str, entry: str) -> dict[str, int]:
    """Registers, static shared memory, stack and spills (bytes), from ptxas's report on `entry`."""
    block = re.search(rf"entry function '{re.escape(entry)}' for(.*?)(?=Compiling entry|\Z)", log, re.S)
    text = block[1] if block else log

    def number(pattern: str) -> int:
        match = re.search(pattern, text)
        return int(match[1]) if match else 0

    return {
        "registers": number(r"Used (\d+) registers"),
        "static_smem": number(r"(\d+) bytes smem"),
        "stack": number(r"(\d+) bytes stack frame"),
        "spill_stores": number(r"(\d+) bytes spill stores"),
        "spill_loads": number(r"(\d+) bytes spill loads"),
    }


def _exported(ptx: str, name: str) -> int:
    match = re.search(rf"exported_{name}\s*=\s*(\d+)", ptx)
    return int(match[1]) if match else 0


def _threads(ptx: str, entry: str) -> int:
    match = re.search(rf"\.entry\s+{re.escape(entry)}\b.*?\)\s*(.*?)\{{", ptx, re.S)
    bounds = re.search(r"\.(?:maxntid|reqntid)\s+(\d+)", match[1]) if match else None
    return int(bounds[1]) if bounds else 0


def _relative_files(ptx: str) -> str:
    """The PTX without the folders of this machine, so that it is the same on every machine."""
    return re.sub(r'(\.file\s+\d+\s+")([^"]*)"', lambda m: f'{m[1]}{short_name(m[2])}"', ptx)


# ---- Cache ------------------------------------------------------------------


def _own_files(
    name: str, source: str, config: Mapping[str, int], cell: tuple[str, int] | None, include: Sequence[Path]
) -> dict[str, str]:
    """The texts by the names that diagnostics use: the kernel's file, our headers, config.cuh, the cell."""
    files = {file_name(name): _unspliced(source, file_name(name)), "config.cuh": config_header(config)}
    for folder in include:
        for header in sorted(folder.rglob("*.cuh")):
            files[header.relative_to(folder).as_posix()] = header.read_text(encoding="utf-8")
    if cell is not None:
        text, first_line = cell
        files["cell"] = "\n" * (first_line - 1) + text
    return files


def _unspliced(source: str, file: str) -> str:
    """The lines of `file` in a source that was assembled with `#line` directives, at their original line numbers."""
    if not source.startswith("#line"):
        return source
    lines: list[str] = []
    current, number = "", 0
    for line in source.split("\n"):
        match = re.match(r'#line (\d+) "([^"]+)"', line)
        if match:
            number, current = int(match[1]), match[2]
            continue
        if current == file:
            lines += [""] * (number - len(lines))
            lines[number - 1] = line
        number += 1
    return "\n".join(lines)


def _cache_key(
    source: str,
    config: Mapping[str, int],
    arch: str,
    name: str,
    entry: str | None,
    files: Mapping[str, str],
    instances: Sequence[str],
) -> str:
    digest = hashlib.sha256()
    parts = (_FORMAT, arch, name, entry, source, sorted(config.items()), sorted(files.items()), *instances)
    for part in parts:
        digest.update(repr(part).encode())
    return digest.hexdigest()[:32]
