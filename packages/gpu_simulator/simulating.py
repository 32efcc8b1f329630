"""`simulate`: compile CUDA source and launch one of its kernels, in one call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_simulator.argument_checks import shown
from gpu_simulator.errors import ConfigError
from gpu_simulator.kernel_file import KernelFile, kernel_file
from gpu_simulator.launch_checks import check_dtypes
from gpu_simulator.launching import Extent, launch
from gpu_simulator.report import Report

FILES = (".cu", ".cuh", ".ptx")
_PTX = re.compile(r"^\s*\.version\s+\d", re.M)


def simulate(
    source: str | Path,
    kernel: str | None = None,
    grid: Extent = (1, 1, 1),
    block: Extent = (1, 1, 1),
    args: Sequence[Any] = (),
    *,
    arch: str = "sm_80",
    include: Sequence[str | Path] = (),
    defines: Mapping[str, Any] | None = None,
    std: str | None = None,
    using: str | None = None,
    **options: Any,
) -> Report:
    """Compile CUDA source and run one kernel of it without a GPU; arrays in `args` are changed in place.

    source: the text, or the path of a .cu or .ptx file. It may have host code, whose functions are left out.
    kernel: its name, of a template with arguments (`"scale<float, 4>"`); needed if there are several.
    grid, block, args: as for `launch`.   arch: what is compiled for, such as "sm_90a".
    include: folders with headers.   defines: macros.   std: the C++ standard, such as "c++20"; by default C++17, or
    C++20 for a source that needs it.   using: the compiler, "nvrtc" or "clang"; by default NVRTC where it is installed.
    options: further keyword arguments of `launch`, such as `observers=["hazards"]` or `symbols={"filter": array}`.

    Raises `ConfigError` for a name that fits no kernel or no file, `compiler.CompileError`, `LaunchError` for an array
    of another type than the kernel's parameter points to (`launch_checks.check_dtypes`), and what `launch` raises.
    """
    found = compiled_kernel(source, kernel, arch, include, defines, std, using)
    check_dtypes(found.entry, found.text, args)
    return launch(found.program, found.entry, grid, block, args, **options)


def compiled_kernel(
    source: str | Path,
    kernel: str | None = None,
    arch: str = "sm_80",
    include: Sequence[str | Path] = (),
    defines: Mapping[str, Any] | None = None,
    std: str | None = None,
    using: str | None = None,
) -> KernelFile:
    """The kernel that `simulate` launches, with the text it is from. Parameters and errors are those of `simulate`."""
    macros = {name: str(value) for name, value in (defines or {}).items()}
    folders = [Path(folder) for folder in include]
    if not isinstance(source, (str, Path)):
        raise ConfigError(f"The source is the text of a kernel or the path of its file, not {shown(source)}.")
    if isinstance(source, Path) or ("\n" not in source and source.strip().endswith(FILES)):
        path, text = Path(source.strip() if isinstance(source, str) else source), None
    else:
        path, text = Path("source.ptx" if _PTX.search(source) else "source.cu"), source
    return kernel_file(path, kernel, arch, folders, macros, text=text, std=std, using=using)
