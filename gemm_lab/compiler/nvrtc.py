"""CUDA source to PTX and CUBIN with NVRTC, cached on disk.

`#include "config.cuh"` becomes a header generated from the configuration, so a kernel has no
templates over tile sizes and every constant has its name in the learner's error messages.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from gemm_lab.compiler.diagnostics import CompileError, Diagnostic, parse_nvrtc, parse_ptxas, ptxas_warnings, short_name
from gemm_lab.config import cache_dir, data_dir
from gemm_lab.errors import LabError, MissingDependency

_EXPORTED = ("SMEM_BYTES",)
_FORMAT = 2


@dataclass(frozen=True)
class Compiled:
    """A kernel for one architecture. Sizes are bytes; `threads` is the block size of `__launch_bounds__`."""

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
        """Shared memory of a block in bytes, static and dynamic together."""
        return self.static_smem + self.dynamic_smem

    def __repr__(self) -> str:
        return (f"Compiled({self.name} for {self.arch}: {self.registers} registers, {self.smem:,} bytes shared, "
                f"{self.spill_stores} bytes spilled, {self.threads} threads)")


def config_header(config: Mapping[str, int]) -> str:
    """The text of config.cuh: fixed-width integers and one constant per setting."""
    lines = [
        "#pragma once",
        "#ifdef __CUDACC_RTC__",
        "using uint8_t = unsigned char; using uint16_t = unsigned short; using uint32_t = unsigned int;",
        "using int32_t = int; using uint64_t = unsigned long long; using int64_t = long long;",
        "#else",
        "#include <cstdint>",
        "#endif",
        *(f"constexpr int {name} = {value};" for name, value in config.items()),
    ]
    return "\n".join(lines) + "\n"


def compile(source: str, *, config: Mapping[str, int] | None = None, arch: str, name: str = "kernel",
            entry: str = "gemm", cell: tuple[str, int] | None = None) -> Compiled:
    """Compile CUDA source for one architecture.

    source: text of a .cu file; `#line` directives in it are honoured.
    config: constants for config.cuh.   arch: exact, such as "sm_75" or "sm_90a".
    cell: the learner's text and the line of the cell at which it starts, for error messages.
    Raises `CompileError` with one diagnostic per message, `LabError` for an unknown architecture.
    """
    config = dict(config or {})
    _require_text(source, name, cell)
    files = _own_files(name, source, config, cell)
    key = _cache_key(source, config, arch, name, entry, files)
    cached = _read_cache(key)
    if cached is not None:
        return cached
    compiled = _compile(source, config, arch, name, entry, files, key)
    _write_cache(key, compiled)
    return compiled


def _require_text(source: str, name: str, cell: tuple[str, int] | None) -> None:
    """Refuse what the compiler would not read to its end: a NUL, and characters that are none."""
    for text, first_line, file in ((*cell, "cell") if cell else ("", 1, ""), (source, 1, _file_name(name))):
        if stray := re.search("[\\0\ud800-\udfff]", text):
            line = first_line + text.count("\n", 0, stray.start())
            raise CompileError(name, [Diagnostic(file, line, "error", (
                f"the character {ord(stray[0]):#x} stands in this line, which no compiler reads; type the line anew"))])


def _compile(source, config, arch, name, entry, files, key) -> Compiled:
    own = ("cell", _file_name(name))
    exports = [n for n in _EXPORTED if re.search(rf"^\s*constexpr\s+int\s+{n}\s*=", source, re.M)]
    text = source + "".join(f'\nextern "C" __constant__ int exported_{n} = {n};' for n in exports) + "\n"
    log, ptx, cubin = _nvrtc(text, config, arch, name, ["-Xptxas=-v"])
    if cubin is None and "ptxas" in log:
        _, ptx, _ = _nvrtc(text, config, arch.replace("sm_", "compute_"), name, [])
        told = parse_ptxas(log, ptx or "", files, arch)
        raise CompileError(name, told or [Diagnostic("ptxas", 0, "error", log.strip())])
    diagnostics = parse_nvrtc(log, files, own)
    if cubin is None:
        if not diagnostics:
            diagnostics = [Diagnostic(own[1], 0, "error", log.strip() or "NVRTC gave no reason")]
        raise CompileError(name, [d for d in diagnostics if d.severity == "error"] or diagnostics)
    if not re.search(rf"\.entry\s+{re.escape(entry)}\b", ptx):
        found = re.findall(r"\.entry\s+(\w+)", ptx)
        raise CompileError(name, [Diagnostic(own[1], 0, "error", (
            f'there is no kernel called {entry}; write `extern "C" __global__ void {entry}(…)`'
            + (f" (found {', '.join(found)})" if found else "")))])
    return Compiled(
        name=name, arch=arch, entry=entry, ptx=_relative_files(ptx), cubin=cubin, source=source, files=files,
        config=config, key=key,
        warnings=(*(d for d in diagnostics if d.severity == "warning"), *ptxas_warnings(log)),
        dynamic_smem=_exported(ptx, "SMEM_BYTES"), threads=_threads(ptx, entry), **_resources(log, entry))


def _nvrtc(text: str, config: Mapping[str, int], arch: str, name: str, extra: list[str]):
    """What `run_nvrtc` gives, from a process of its own: the compiler crashes on some texts."""
    from gemm_lab.compiler.aside import COMPILER, Lost

    try:
        return COMPILER.ask(text, dict(config), arch, name, extra)
    except Lost as lost:
        raise CompileError(name, [Diagnostic(_file_name(name), 0, "error", (
            f"NVRTC {'.'.join(map(str, version()))}, the compiler itself, was lost on this text: {lost}. Nothing else "
            "is lost. Take the last change back, or say it in another way."))]) from None


def run_nvrtc(text: str, config: Mapping[str, int], arch: str, name: str, extra: list[str]):
    """(log, ptx, cubin); ptx and cubin are None where the compilation failed."""
    nvrtc = _library()
    include = data_dir("kernels") / "include"
    options = [f"-arch={arch}", "-std=c++17", "-lineinfo", f"-I{include}",
               *(f"-I{path}" for path in toolkit_includes()), "-default-device", *extra]
    header = config_header(config).encode()
    status, program = nvrtc.nvrtcCreateProgram(
        text.encode(), _file_name(name).encode(), 1, [header], [b"config.cuh"])
    _require(nvrtc, status)
    try:
        encoded = [option.encode() for option in options]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = _fetch(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode(errors="replace")
        log = log.replace("\0", "")  # one stands before what ptxas says last
        if status == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            raise LabError(f"NVRTC {'.'.join(map(str, version()))} cannot compile for {arch}; it knows "
                           f"{', '.join(supported())}.")
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return log, None, None
        ptx = _fetch(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program).decode()
        cubin = b""
        if arch.startswith("sm_"):
            cubin = _fetch(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program, keep_nul=True)
        return log, ptx, cubin
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _fetch(size_of, read, program, keep_nul: bool = False) -> bytes:
    _, size = size_of(program)
    buffer = bytearray(size) if keep_nul else bytes(size)
    buffer = bytes(buffer)
    read(program, buffer)
    return buffer if keep_nul else buffer.rstrip(b"\0")


def _require(nvrtc, status) -> None:
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise LabError(f"NVRTC failed: {status.name}.")


@lru_cache(maxsize=1)
def _library():
    try:
        from cuda.bindings import nvrtc
        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError) as error:
        raise MissingDependency(
            f"The CUDA compiler library NVRTC is not usable here ({error}). "
            "Install it with: pip install cuda-bindings 'cuda-toolkit[nvrtc,cudart,crt,cccl]'"
        ) from None
    return nvrtc


def version() -> tuple[int, int]:
    """NVRTC's version, such as (13, 0)."""
    _, major, minor = _library().nvrtcVersion()
    return major, minor


def supported() -> list[str]:
    """The plain architectures that this NVRTC compiles for; sm_90, sm_100 and sm_120 also exist with an “a”."""
    nvrtc = _library()
    status, numbers = nvrtc.nvrtcGetSupportedArchs()
    _require(nvrtc, status)
    return [f"sm_{number}" for number in numbers]


@lru_cache(maxsize=1)
def toolkit_includes() -> tuple[str, ...]:
    """Folders with cuda_fp16.h, with crt/mma.h, which mma.h needs, and with libcu++, which cooperative groups need.

    The pip packages beside NVRTC come first, then an installed CUDA toolkit. CUDA 13's packages share one folder, with
    libcu++ in its folder cccl; those of CUDA 12 have a folder each, and crt is part of nvcc's. Raises
    `MissingDependency` where cuda_fp16.h is nowhere.
    """
    import site
    import sys

    packages = f"cu{version()[0]}", "cuda_runtime", "cuda_nvcc", "cuda_cccl"
    folders = [Path(p) / "nvidia" / name / "include" for p in (*sys.path, *site.getsitepackages()) if p
               for name in packages]
    folders += [Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"]
    folders = [path for folder in folders for path in (folder, folder / "cccl")]
    needed = "cuda_fp16.h", "crt/mma.h", "cuda/std/type_traits"
    found = [next((folder for folder in folders if (folder / header).is_file()), None) for header in needed]
    if found[0] is None:
        extras = "cudart,crt,cccl" if version() >= (13, 0) else "cudart,nvcc,cccl"
        raise MissingDependency("The CUDA headers (cuda_fp16.h) were not found. Install them with: "
                                f"pip install 'cuda-toolkit[{extras}]=={version()[0]}.*'")
    return tuple(dict.fromkeys(str(folder) for folder in found if folder))


# ---- Reading what came out --------------------------------------------------


def _resources(log: str, entry: str) -> dict[str, int]:
    """Registers, static shared memory, stack and spills from ptxas's report on `entry`."""
    block = re.search(rf"entry function '{re.escape(entry)}' for(.*?)(?=Compiling entry|\Z)", log, re.S)
    text = block[1] if block else log

    def number(pattern: str) -> int:
        match = re.search(pattern, text)
        return int(match[1]) if match else 0

    return {"registers": number(r"Used (\d+) registers"), "static_smem": number(r"(\d+) bytes smem"),
            "stack": number(r"(\d+) bytes stack frame"), "spill_stores": number(r"(\d+) bytes spill stores"),
            "spill_loads": number(r"(\d+) bytes spill loads")}


def _exported(ptx: str, name: str) -> int:
    match = re.search(rf"exported_{name}\s*=\s*(\d+)", ptx)
    return int(match[1]) if match else 0


def _threads(ptx: str, entry: str) -> int:
    match = re.search(rf"\.entry\s+{re.escape(entry)}\b.*?\)\s*(.*?)\{{", ptx, re.S)
    bounds = re.search(r"\.(?:maxntid|reqntid)\s+(\d+)", match[1]) if match else None
    return int(bounds[1]) if bounds else 0


def _relative_files(ptx: str) -> str:
    """The PTX without the folders of this machine, so that it is the same wherever it is made."""
    return re.sub(r'(\.file\s+\d+\s+")([^"]*)"', lambda m: f'{m[1]}{short_name(m[2])}"', ptx)


# ---- Cache ------------------------------------------------------------------


def _file_name(name: str) -> str:
    return name.rsplit("/", 1)[-1].removesuffix(".cu") + ".cu"


def _own_files(name: str, source: str, config: Mapping[str, int], cell) -> dict[str, str]:
    """Texts by the names that diagnostics use: the kernel's file, our headers, config.cuh, the cell."""
    files = {_file_name(name): _unspliced(source, _file_name(name)), "config.cuh": config_header(config)}
    include = data_dir("kernels") / "include"
    for header in sorted(include.rglob("*.cuh")):
        files[header.relative_to(include).as_posix()] = header.read_text(encoding="utf-8")
    if cell is not None:
        text, first_line = cell
        files["cell"] = "\n" * (first_line - 1) + text
    return files


def _unspliced(source: str, file: str) -> str:
    """The original lines of `file` in a spliced source, at their original line numbers."""
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


def _cache_key(source, config, arch, name, entry, files) -> str:
    digest = hashlib.sha256()
    for part in (_FORMAT, version(), arch, name, entry, source, sorted(config.items()), sorted(files.items())):
        digest.update(repr(part).encode())
    return digest.hexdigest()[:32]


def _read_cache(key: str) -> Compiled | None:
    path = cache_dir() / "compiled" / f"{key}.pickle"
    try:
        compiled = pickle.loads(path.read_bytes())
    except Exception:  # a missing, truncated or outdated file only costs a compilation
        return None
    return compiled if isinstance(compiled, Compiled) else None


def _write_cache(key: str, compiled: Compiled) -> None:
    path = cache_dir() / "compiled" / f"{key}.pickle"
    partial = path.with_suffix(f".{os.getpid()}_{id(compiled):x}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(pickle.dumps(compiled))
        partial.replace(path)
    except OSError:  # a read-only or full disk: compile again next time
        with contextlib.suppress(OSError):
            partial.unlink()
