"""cuBLAS as a baseline and as the reference of large checks: `cublasGemmEx` through ctypes.

cuBLAS sees column-major matrices, so the row-major D = A·B is asked for as Dᵀ = Bᵀ·Aᵀ. Constants are those of
`cublas_api.h` and `library_types.h`.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gemm_lab.device.driver import Buffer
from gemm_lab.errors import LabError, MissingDependency

REAL = {"f32": 0, "f16": 2, "bf16": 14}  # cudaDataType_t
COMPUTE_16F, COMPUTE_32F, COMPUTE_32F_PEDANTIC = 64, 68, 69
DEFAULT_ALGORITHM = -1
STATUS = {
    1: "not initialised",
    3: "out of memory",
    7: "invalid value",
    8: "not on this architecture",
    13: "execution failed",
    14: "internal error",
    15: "not supported",
}


@lru_cache(maxsize=1)
def library() -> Any:
    """libcublas, found beside the other CUDA packages or on the loader's path."""
    with contextlib.suppress(Exception):  # pathfinder has an error class per way of searching
        from cuda.pathfinder import load_nvidia_dynamic_lib

        found = ctypes.CDLL(load_nvidia_dynamic_lib("cublas").abs_path)
        if hasattr(found, "cublasGemmEx"):
            return found
    for version in (13, 12):
        with contextlib.suppress(OSError):
            return ctypes.CDLL(f"libcublas.so.{version}")
    raise MissingDependency("cuBLAS is not installed; install it with `pip install 'cuda-toolkit[cublas]'`.")


class Blas:
    """A cuBLAS handle on the current context."""

    def __init__(self) -> None:
        self.lib, self.handle = library(), ctypes.c_void_p()
        self._check(self.lib.cublasCreate_v2(ctypes.byref(self.handle)), "cublasCreate")

    def _check(self, status: int, call: str) -> None:
        if status:
            raise LabError(f"cuBLAS failed in {call}: {STATUS.get(status, f'status {status}')}.")

    def gemm(
        self,
        m: int,
        n: int,
        k: int,
        a: Buffer,
        b: Buffer,
        d: Buffer,
        *,
        dtype_in: str,
        dtype_out: str,
        dtype_acc: str,
        layout_a: str = "row",
        layout_b: str = "row",
        alpha: float = 1.0,
        beta: float = 0.0,
        rows: tuple[int, int] | None = None,
        pedantic: bool = False,
    ) -> Callable[[], None]:
        """A callable that computes D = alpha·A·B + beta·D, with D row-major (M, N).

        f16 accumulation is COMPUTE_16F, f32 is COMPUTE_32F, which uses no TF32 in the default math mode; `pedantic`
        asks for COMPUTE_32F_PEDANTIC, which a reference wants. `rows` computes only these rows of A, into the
        first rows of `d`.
        """
        first, last = rows or (0, m)
        size = {"f16": 2, "bf16": 2, "f32": 4}[dtype_in]
        offset = first * (k if layout_a == "row" else 1) * size
        half = dtype_acc == "f16"
        compute = COMPUTE_16F if half else COMPUTE_32F_PEDANTIC if pedantic else COMPUTE_32F
        scales = [_half(alpha), _half(beta)] if half else [ctypes.c_float(alpha), ctypes.c_float(beta)]
        none, transposed = ctypes.c_int(0), ctypes.c_int(1)
        arguments = (
            self.handle,
            none if layout_b == "row" else transposed,
            none if layout_a == "row" else transposed,
            ctypes.c_int(n),
            ctypes.c_int(last - first),
            ctypes.c_int(k),
            ctypes.byref(scales[0]),
            ctypes.c_uint64(b.address),
            ctypes.c_int(REAL[dtype_in]),
            ctypes.c_int(n if layout_b == "row" else k),
            ctypes.c_uint64(a.address + offset),
            ctypes.c_int(REAL[dtype_in]),
            ctypes.c_int(k if layout_a == "row" else m),
            ctypes.byref(scales[1]),
            ctypes.c_uint64(d.address),
            ctypes.c_int(REAL[dtype_out]),
            ctypes.c_int(n),
            ctypes.c_int(compute),
            ctypes.c_int(DEFAULT_ALGORITHM),
        )
        call, check = self.lib.cublasGemmEx, self._check

        def start() -> None:
            check(call(*arguments), "cublasGemmEx")

        start.keep = scales
        return start


def _half(value: float) -> ctypes.c_uint16:
    import numpy as np

    return ctypes.c_uint16(int(np.float16(value).view(np.uint16)))
