"""The simulator's compiler with the headers of `kernels/include`. Its results are kept in the user's cache folder.

GEMM_LAB_COMPILER=clang compiles with clang even where NVIDIA's compiler is installed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from gemm_lab.config import cache_dir, data_dir
from gpu_simulator import compiler
from gpu_simulator.compiler import Compiled


def compile(
    source: str,
    *,
    config: Mapping[str, int] | None = None,
    arch: str,
    name: str = "kernel",
    entry: str = "gemm",
    cell: tuple[str, int] | None = None,
) -> Compiled:
    """See `gpu_simulator.compiler.compile` for the arguments, the result and the errors."""
    return compiler.compile(
        source,
        config=config,
        arch=arch,
        name=name,
        entry=entry,
        cell=cell,
        include=[data_dir("kernels") / "include"],
        cache=cache_dir() / "compiled",
        using=os.environ.get("GEMM_LAB_COMPILER") or None,
    )
