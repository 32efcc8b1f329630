"""Multiplies with cuBLAS, as a baseline and as the reference of large checks: `cublasGemmEx` through CuPy.

cuBLAS expects column-major matrices, so the row-major D = A·B is computed as Dᵀ = Bᵀ·Aᵀ. The constants are those of
`cublas_api.h` and `library_types.h`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_runner.driver import Buffer, Device
from gpu_runner.faults import RunnerError
from gpu_simulator.errors import MissingDependency

REAL = {"f32": 0, "f16": 2, "bf16": 14, "e4m3": 28}  # cudaDataType_t
COMPUTE_16F, COMPUTE_32F, COMPUTE_32F_PEDANTIC = 64, 68, 69
PLAIN, TRANSPOSED = 0, 1
DEFAULT_ALGORITHM = -1


def library(cuda: Any) -> Any:
    """CuPy's cuBLAS module. CuPy 13 finds the library only if it is already loaded, so it is loaded first.

    Raises `MissingDependency`.
    """
    with contextlib.suppress(Exception):  # pathfinder has a different error class for each way of searching
        from cuda.pathfinder import load_nvidia_dynamic_lib

        load_nvidia_dynamic_lib("cublas")
    try:
        return cuda.cublas
    except ImportError:
        raise MissingDependency(
            "cuBLAS is not installed; install it with `pip install 'cuda-toolkit[cublas]'`."
        ) from None


class Blas:
    """A cuBLAS handle on the device's context."""

    def __init__(self, device: Device) -> None:
        self.lib = library(device.cuda)
        self.handle = self.lib.create()

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

        f16 accumulation is COMPUTE_16F, f32 is COMPUTE_32F, which uses no TF32 in the default math mode; with
        `pedantic` it is COMPUTE_32F_PEDANTIC, for a reference. With `rows`, only these rows of A are multiplied, and
        their products are written to the first rows of `d`. Raises `RunnerError` for 8-bit operands, which only
        cuBLASLt multiplies; so does the callable if cuBLAS refuses.
        """
        if dtype_in == "e4m3":
            raise RunnerError("cublasGemmEx multiplies no 8-bit numbers; compare with cublaslt_fp8 instead.")
        first, last = rows or (0, m)
        size = {"f16": 2, "bf16": 2, "f32": 4}[dtype_in]
        offset = first * (k if layout_a == "row" else 1) * size
        half = dtype_acc == "f16"
        scales = np.array([alpha, beta], np.float16 if half else np.float32)
        arguments = (
            self.handle,
            PLAIN if layout_b == "row" else TRANSPOSED,
            PLAIN if layout_a == "row" else TRANSPOSED,
            n,
            last - first,
            k,
            scales[:1].ctypes.data,
            b.address,
            REAL[dtype_in],
            n if layout_b == "row" else k,
            a.address + offset,
            REAL[dtype_in],
            k if layout_a == "row" else m,
            scales[1:].ctypes.data,
            d.address,
            REAL[dtype_out],
            n,
            COMPUTE_16F if half else COMPUTE_32F_PEDANTIC if pedantic else COMPUTE_32F,
            DEFAULT_ALGORITHM,
        )
        gemm_ex, refused = self.lib.gemmEx, self.lib.CUBLASError

        def start() -> None:
            try:
                gemm_ex(*arguments)
            except refused as error:
                raise RunnerError(f"cuBLAS refused a product: {error}.") from None

        start.keep = scales
        return start
