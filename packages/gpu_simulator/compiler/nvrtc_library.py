"""Calls NVRTC in this process: takes source text, returns log, PTX and CUBIN.

`compiler_process` runs it in a process of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from gpu_simulator.compiler.host_headers import HEADERS
from gpu_simulator.errors import NVRTC, MissingDependency, SimulatorError, install_command


def config_header(config: Mapping[str, int]) -> str:
    """The text of config.cuh: fixed-width integer types and one constant for each setting."""
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


def file_name(name: str) -> str:
    """The name that diagnostics use for a kernel's file: "t4/03_swizzled" is 03_swizzled.cu."""
    return name.rsplit("/", 1)[-1].removesuffix(".cu") + ".cu"


def run_nvrtc(
    text: str,
    config: Mapping[str, int],
    arch: str,
    name: str,
    include: Sequence[str],
    extra: Sequence[str],
    instances: Sequence[str] = (),
) -> tuple[str, str | None, bytes | None]:
    """(log, ptx, cubin); ptx and cubin are None if the compilation failed.

    include: folders with headers.   extra: further options.   instances: kernels that are templates, with their
    arguments, such as "reduce<int, 256>"; the end of the PTX says which symbol each is.
    Raises `SimulatorError` for an unknown architecture.
    """
    nvrtc = _library()
    options = [
        f"-arch={arch}",
        *(["--device-int128"] if sys.platform == "linux" else []),  # nvcc has __int128 there without being asked
        "-lineinfo",
        *(f"-I{path}" for path in (*include, *toolkit_includes())),
        "-default-device",
        *extra,
    ]
    headers = {**HEADERS, "config.cuh": config_header(config)}
    texts, names = [value.encode() for value in headers.values()], [key.encode() for key in headers]
    status, program = nvrtc.nvrtcCreateProgram(text.encode(), file_name(name).encode(), len(names), texts, names)
    _require(nvrtc, status)
    try:
        for instance in instances:
            (status,) = nvrtc.nvrtcAddNameExpression(program, instance.encode())
            _require(nvrtc, status)
        encoded = [option.encode() for option in options]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = _fetch(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode(errors="replace")
        log = log.replace("\0", "")  # there is one before the last message of ptxas
        if status == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            raise SimulatorError(
                f"NVRTC {'.'.join(map(str, version()))} cannot compile for {arch}; it knows {', '.join(supported())}."
            )
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return log, None, None
        ptx = _fetch(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program).decode()
        for instance in instances:
            _, symbol = nvrtc.nvrtcGetLoweredName(program, instance.encode())
            ptx += f"// {instance} is {symbol.decode()}\n"
        cubin = b""
        if arch.startswith("sm_"):
            cubin = _fetch(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program, keep_nul=True)
        return log, ptx, cubin
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _fetch(size_of: Callable, read: Callable, program: Any, keep_nul: bool = False) -> bytes:
    _, size = size_of(program)
    buffer = bytes(size)
    read(program, buffer)
    return buffer if keep_nul else buffer.rstrip(b"\0")


def _require(nvrtc: ModuleType, status: Any) -> None:
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise SimulatorError(f"NVRTC failed: {status.name}.")


@lru_cache(maxsize=1)
def _library() -> ModuleType:
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError) as error:
        raise MissingDependency(
            f"The CUDA compiler library NVRTC is not usable here ({error}). PTX text runs without it. "
            f"Install it with: {install_command('compiler', NVRTC)}; "
            f"or a clang with: {install_command('clang', 'ziglang')}"
        ) from None
    return nvrtc


def is_installed() -> bool:
    """True if NVRTC can be loaded here."""
    try:
        _library()
    except MissingDependency:
        return False
    return True


def version() -> tuple[int, int]:
    """NVRTC's version, such as (13, 0). Raises `MissingDependency`."""
    _, major, minor = _library().nvrtcVersion()
    return major, minor


def supported() -> list[str]:
    """The architectures without a suffix for which this NVRTC compiles, such as "sm_90".

    sm_90, sm_100 and sm_120 also exist with an “a”.
    """
    nvrtc = _library()
    status, numbers = nvrtc.nvrtcGetSupportedArchs()
    _require(nvrtc, status)
    return [f"sm_{number}" for number in numbers]


@lru_cache(maxsize=1)
def toolkit_includes() -> tuple[str, ...]:
    """Folders with cuda_fp16.h, with crt/mma.h, which mma.h needs, and with libcu++, which cooperative groups need.

    The pip packages beside NVRTC are searched first, then an installed CUDA toolkit. CUDA 13's packages share one
    folder, with libcu++ in its folder cccl; those of CUDA 12 have a folder each, and crt is part of nvcc's. Raises
    `MissingDependency` if cuda_fp16.h is not found.
    """
    import site

    packages = f"cu{version()[0]}", "cuda_runtime", "cuda_nvcc", "cuda_cccl"
    folders = [
        Path(p) / "nvidia" / name / "include" for p in (*sys.path, *site.getsitepackages()) if p for name in packages
    ]
    folders += [Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"]
    folders = [path for folder in folders for path in (folder, folder / "cccl")]
    needed = "cuda_fp16.h", "crt/mma.h", "cuda/std/type_traits"
    found = [next((folder for folder in folders if (folder / header).is_file()), None) for header in needed]
    if found[0] is None:
        extras = "cudart,crt,cccl" if version() >= (13, 0) else "cudart,nvcc,cccl"
        raise MissingDependency(
            "The CUDA headers (cuda_fp16.h) were not found. Install them with: "
            f"pip install 'cuda-toolkit[{extras}]=={version()[0]}.*'"
        )
    return tuple(dict.fromkeys(str(folder) for folder in found if folder))
