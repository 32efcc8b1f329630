"""Reads a .cu or .ptx file, compiles it, and finds the entry of one kernel in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gpu_simulator import compiler
from gpu_simulator.compiler import clang, nvrtc, nvrtc_library
from gpu_simulator.compiler.device_code import LEFT_OUT, DeviceCode, device_code
from gpu_simulator.compiler.diagnostics import naming_host_code
from gpu_simulator.errors import ConfigError
from gpu_simulator.ptx.demangle import source_name

COMPILERS = nvrtc.COMPILERS
MOST_CHARACTERS = 8_000_000
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")


class KernelFile(NamedTuple):
    """program: for `launch`.   entry: its name in the PTX.   text: of the file.   file: as lines name it.

    parameters: as the source declares them, such as ("const float* a", "int n"); () for PTX.
    """

    program: Any
    entry: str
    text: str
    file: str
    parameters: tuple[str, ...] = ()


def kernel_file(
    path: Path,
    entry: str | None = None,
    arch: str = "sm_80",
    include: Sequence[Path] = (),
    defines: Mapping[str, str] | None = None,
    cache: Path | None = None,
    text: str | None = None,
    std: str | None = None,
    using: str | None = None,
) -> KernelFile:
    """Read a .ptx file, or a .cu file and compile its device code for `arch`.

    entry: the name of a kernel in the source, for a template with its arguments (`reduce<int, 256>`), or its name in
    the PTX; None: the only kernel.   include: folders with headers, besides the file's own.   defines: macros.
    cache: folder for compiled kernels, or None.   text: what the file holds, if it is not to be read.
    std: the C++ standard, such as "c++20"; by default the one that the file needs.   using: "nvrtc" or "clang"; by
    default NVRTC where it is installed.
    Raises `ConfigError` for a file that cannot be read and for a name that fits no kernel or several, `CompileError`.
    """
    text = _read(path) if text is None else text
    if path.suffix == ".ptx":
        return KernelFile(text, _entry(_ENTRY.findall(text), entry, path.name), text, path.name)
    if nvrtc.chosen(using) == "nvrtc" and (using or nvrtc.stored is None):
        nvrtc_library.version()  # says what to install where there is no compiler
    macros = defines or {}
    used = " ".join([entry or "", source_name(entry or ""), *macros.values()])
    has = partial(_compiler_has, using)
    code = device_code(path, text, include, has, used)
    entry = _with_defaults(code, entry)
    _check_templates(code, entry, path.name)
    instances = [entry] if entry and "<" in entry else []
    options = {"arch": arch, "name": path.stem, "cache": cache, "instances": instances, "std": std, "using": using}
    try:
        compiled = _compiled(code, macros, **options)
    except compiler.CompileError as error:
        if entry is None or not (code.left_out or LEFT_OUT in str(error)):
            raise
        # Perhaps another kernel of the file needs what was left out.
        compiled = _compiled(device_code(path, text, include, has, used, alone=True), macros, **options)
    instance = re.search(rf"^// {re.escape(entry)} is (\S+)$", compiled.ptx, re.M) if instances and entry else None
    symbol = instance[1] if instance else _entry(_ENTRY.findall(compiled.ptx), entry, path.name, code.left_out)
    parameters = code.parameters.get(source_name(symbol).rpartition("::")[2], ())
    return KernelFile(compiled, symbol, text, f"{path.stem}.cu", tuple(parameters))


def _compiled(code: DeviceCode, macros: Mapping[str, str], **options: Any) -> Any:
    source = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    source = f'#line 1 "defines.h"\n{source}{code.text}'
    try:
        return compiler.compile(source, entry=None, include=code.folders, **options)
    except compiler.CompileError as error:
        told = naming_host_code(error.diagnostics, code.host)
        raise compiler.CompileError(error.name, told, code.left_out) from None


def signatures(path: Path, include: Sequence[Path] = ()) -> list[str]:
    """The kernels of a .cu file as it declares them, `scale<typename T>(T* x, int n)`; those of a .ptx file by name."""
    text = _read(path)
    if path.suffix == ".ptx":
        return [source_name(symbol) for symbol in _ENTRY.findall(text)]
    code = device_code(path, text, include, lambda _: False)
    return [code.signature(name) for name in code.kernels]


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(f"{path} has more than {MOST_CHARACTERS:,} characters; a kernel has fewer.")
    return text


def _compiler_has(using: str | None, header: str) -> bool:
    if nvrtc.chosen(using) == "clang":
        return clang.has_header(header)
    folders = nvrtc_library.toolkit_includes()
    return header == "config.cuh" or any((Path(folder) / header).is_file() for folder in folders)


def _with_defaults(code: DeviceCode, entry: str | None) -> str | None:
    """The entry, with "<>" if it is a template all of whose parameters have a default, as k<<<…>>> launches it."""
    name = entry or (code.kernels[0] if len(code.kernels) == 1 else None)
    parameters = code.templates.get(name or "", "")
    while parameters != (parameters := re.sub(r"<[^<>]*>|\([^()]*\)", "", parameters)):
        pass
    return f"{name}<>" if parameters and all("=" in one for one in parameters.split(",")) else entry


def _check_templates(code: DeviceCode, entry: str | None, file: str) -> None:
    """Raise `ConfigError` for a template without arguments, for which there is no PTX, and for a choice of kernels."""
    name = entry or (code.kernels[0] if len(code.kernels) == 1 else None)
    if name in code.templates and "<" not in name:
        parameters = code.templates[name]
        raise ConfigError(f"{name} in {file} is a template <{parameters}>; name its arguments, as in '{name}<…>'.")
    if entry is None and len(code.kernels) > 1:
        shown = "".join(f"\n  {code.signature(name)}" for name in code.kernels)
        raise ConfigError(f"Say which kernel of {file} to run:{shown}")


def _entry(found: list[str], entry: str | None, file: str, left_out: Sequence[str] = ()) -> str:
    """The entry with a name. Raises `ConfigError` if there is none, or several."""
    if not found:
        hint = f" Left out: {', '.join(left_out)}; if it is in one of them, name its folder as an include folder."
        raise ConfigError(f"{file} has no kernel: a function that is declared __global__ void.{hint * bool(left_out)}")
    names = {symbol: source_name(symbol) for symbol in found}
    if entry is None:
        if len(found) == 1:
            return found[0]
        raise ConfigError(f"Say which kernel of {file} to run: {', '.join(names.values())}.")
    if entry in names:
        return entry
    plain = re.sub(r"\s*<.*", "", entry, flags=re.S)
    meant = [symbol for symbol, name in names.items() if plain in (name, name.rpartition("::")[2])]
    if len(meant) > 1:
        raise ConfigError(f"{file} has several kernels called {plain}; name one as the PTX does: {', '.join(meant)}.")
    if not meant:
        close = get_close_matches(plain, names.values(), 1)
        hint = f"Did you mean {close[0]}?" if close else f"It has {', '.join(names.values())}."
        raise ConfigError(f"{file} has no kernel called {entry}. {hint}")
    return meant[0]
