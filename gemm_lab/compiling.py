"""The simulator's compiler with the headers of `kernels/include`. Its results are kept in the user's cache folder.

GEMM_LAB_COMPILER=clang compiles with clang even where NVIDIA's compiler is installed.
"""

from __future__ import annotations

import os
from typing import Any

from gemm_lab.config import cache_dir, data_dir
from gemm_results.errors import LabError
from gpu_simulator import compiler
from gpu_simulator.compiler import Compiled
from gpu_simulator.compiler.compiler_process import CompilerStalled


class NotJudged(LabError):
    """The work stopped because of the machine, not because of the answer: a process was killed, a file not written.

    It is neither a pass nor a fail. Checks let this error propagate, and `gemm_lab_classroom.grading` gives it a
    verdict of its own.
    """


def compile(source: str, *, arch: str, **options: Any) -> Compiled:
    """See `gpu_simulator.compiler.compile` for the options, the result and the errors.

    Raises `NotJudged` where the compiler's process got no processor time, which says nothing about the source.
    """
    include, cache = [data_dir("kernels") / "include"], cache_dir() / "compiled"
    using = os.environ.get("GEMM_LAB_COMPILER") or None
    try:
        return compiler.compile(source, arch=arch, include=include, cache=cache, using=using, **options)
    except CompilerStalled as stalled:
        raise NotJudged(stalled.message) from None
