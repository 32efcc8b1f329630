"""The fastest that cuBLAS can do, as a baseline: all algorithms that cuBLASLt's heuristic offers, and the best is kept.

`cublas` is what `cublasGemmEx` chooses by itself. cuBLASLt lists its candidates (`cublasLtMatmulAlgoGetHeuristic`), and
the first is not always the fastest. All are screened, and the fastest few take part in the timing
(`timing.rounds.alternatives`). Structures, constants and functions are those of `cublasLt.h`.

8-bit products have three kinds of sums: with fast accumulation (`cublaslt_fp8_fast`), where they stay in the tensor
cores; without (`cublaslt_fp8`), where they are promoted to f32 on the way; and with f32 scales (`cublaslt_fp8_blocks`)
of 1 × 128 values of A and 128 × 128 of B. Those of A lie with M contiguous, those of B with K contiguous and their
rows padded to four factors (cuBLAS, "Scaling Factors Layouts").

cuBLASLt expects column-major matrices, so the row-major D = A·B is computed as Dᵀ = Bᵀ·Aᵀ.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable, Sequence
from ctypes import byref, c_float, c_int, c_int8, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any

import numpy as np

from gpu_runner.baselines.cublas import COMPUTE_16F, COMPUTE_32F, PLAIN, REAL, TRANSPOSED
from gpu_runner.driver import Buffer, Device
from gpu_runner.faults import RunnerError
from gpu_simulator.errors import MissingDependency

ASKED = 64  # candidates
WORKSPACE_BYTES = 64 << 20
# cublasLtMatmulDescAttributes_t
TRANSPOSE_A, TRANSPOSE_B, SCALE_A, SCALE_B, FAST_ACCUMULATION, SCALE_MODE_A, SCALE_MODE_B = 3, 4, 17, 18, 25, 31, 32
VECTORS_OF_128, BLOCKS_OF_128 = 4, 5  # cublasLtMatmulMatrixScale_t
KINDS = ("cublaslt_best", "cublaslt_fp8_fast", "cublaslt_fp8", "cublaslt_fp8_blocks")
MAX_WORKSPACE = 1  # cublasLtMatmulPreferenceAttributes_t
# cublasLtMatmulAlgoConfigAttributes_t: what names a candidate on a card.
NAMED = {"algorithm": 0, "tile": 1, "split_k": 2, "swizzle": 4, "custom": 5, "stages": 6, "cluster": 8}


class _Algorithm(ctypes.Structure):
    _fields_ = [("data", c_uint64 * 8)]


class _Heuristic(ctypes.Structure):
    _fields_ = [
        ("algorithm", _Algorithm),
        ("workspace", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    ]


def library() -> Any:
    """cuBLASLt through ctypes. Raises `MissingDependency`."""
    name = "cublasLt64_13.dll" if sys.platform == "win32" else "libcublasLt.so.13"
    with contextlib.suppress(Exception):  # pathfinder has a different error class for each way of searching
        from cuda.pathfinder import load_nvidia_dynamic_lib

        name = load_nvidia_dynamic_lib("cublasLt").abs_path or name
    try:
        return ctypes.CDLL(name)
    except OSError:
        raise MissingDependency(
            "cuBLASLt is not installed; install it with `pip install 'cuda-toolkit[cublas]'`."
        ) from None


def _require(status: int, what: str) -> None:
    if status:
        raise RunnerError(f"cuBLASLt refused {what} (status {status}).")


def _made(function: Any, *arguments: Any) -> c_void_p:
    """The handle that a function of cuBLASLt creates."""
    handle = c_void_p()
    _require(function(byref(handle), *arguments), function.__name__)
    return handle


def candidates(
    device: Device, problem: dict[str, Any], operands: Sequence[tuple[Buffer, Buffer, Buffer]], m: int, n: int, k: int,
    alpha: float, beta: float, dtype_in: str, scratch: list[Buffer], *,
    kind: str = "cublaslt_best", scales: Sequence[tuple[Buffer, Buffer]] = (), stream: int = 0,
) -> dict[str, list[Callable[[], None]]]:  # fmt: skip
    """{name of an algorithm: one callable for each (A, B, D) of `operands`}, in the order of the heuristic.

    A callable computes D = alpha·A·B + beta·D in `stream`, 0 for the default one. dtype_in: the type of A and B in
    memory.   kind: one of `KINDS`.   scales: (scale_a, scale_b) for each of `operands`, for cublaslt_fp8_blocks.
    `scratch` gets the workspace. Raises `RunnerError` if cuBLASLt has no algorithm for the problem.
    """
    if kind == "cublaslt_fp8_blocks" and k % 512:
        raise RunnerError(f"cuBLASLt pads the scales of B to 512 of K, and K is {k}; use a multiple of 512.")
    if (dtype_in == "e4m3") != (kind != "cublaslt_best"):
        raise RunnerError(f"{kind} is no baseline for operands in {dtype_in}.")
    lt, half = library(), problem["dtype_acc"] == "f16"
    handle = _made(lt.cublasLtCreate)

    def description(factors: tuple[Buffer, Buffer] | None) -> c_void_p:
        what = _made(lt.cublasLtMatmulDescCreate, COMPUTE_16F if half else COMPUTE_32F, REAL["f16" if half else "f32"])
        # The first operand of the column-major product is our B.
        attributes: dict[int, Any] = {
            TRANSPOSE_A: c_int(PLAIN if problem["layout_b"] == "row" else TRANSPOSED),
            TRANSPOSE_B: c_int(PLAIN if problem["layout_a"] == "row" else TRANSPOSED),
        }
        if kind == "cublaslt_fp8_fast":
            attributes[FAST_ACCUMULATION] = c_int8(1)
        if factors is not None:
            attributes |= {SCALE_MODE_A: c_int(BLOCKS_OF_128), SCALE_A: c_void_p(factors[1].address)}
            attributes |= {SCALE_MODE_B: c_int(VECTORS_OF_128), SCALE_B: c_void_p(factors[0].address)}
        for attribute, value in attributes.items():
            size = c_size_t(ctypes.sizeof(value))
            _require(lt.cublasLtMatmulDescSetAttribute(what, attribute, byref(value), size), f"attribute {attribute}")
        return what

    described = [description(factors) for factors in scales] or [description(None)] * len(operands)

    def layout(dtype: str, rows: int, columns: int) -> c_void_p:
        shape = c_uint64(rows), c_uint64(columns), c_int64(rows)
        return _made(lt.cublasLtMatrixLayoutCreate, REAL[dtype], *shape)

    b = layout(dtype_in, *((n, k) if problem["layout_b"] == "row" else (k, n)))
    a = layout(dtype_in, *((k, m) if problem["layout_a"] == "row" else (m, k)))
    d = layout(problem["dtype_out"], n, m)
    preference, room = _made(lt.cublasLtMatmulPreferenceCreate), c_uint64(WORKSPACE_BYTES)
    _require(
        lt.cublasLtMatmulPreferenceSetAttribute(preference, MAX_WORKSPACE, byref(room), c_size_t(8)), "a workspace"
    )
    found, count = (_Heuristic * ASKED)(), c_int()
    _require(
        lt.cublasLtMatmulAlgoGetHeuristic(handle, described[0], b, a, d, d, preference, ASKED, found, byref(count)),
        "to choose an algorithm",
    )
    usable = [each for each in found[: count.value] if each.state == 0]
    if not usable:
        raise RunnerError("cuBLASLt has no algorithm for this problem.")
    scratch.append(Buffer(device, WORKSPACE_BYTES))
    workspace = scratch[-1].address
    scales = np.array([alpha, beta], np.float16 if half else np.float32)

    def call(each: _Heuristic, what: c_void_p, first: Buffer, second: Buffer, result: Buffer) -> Callable[[], None]:
        arguments = (
            handle, what,
            c_void_p(scales[:1].ctypes.data), c_void_p(second.address), b, c_void_p(first.address), a,
            c_void_p(scales[1:].ctypes.data), c_void_p(result.address), d, c_void_p(result.address), d,
            byref(each.algorithm), c_void_p(workspace), c_size_t(WORKSPACE_BYTES), c_void_p(stream),
        )  # fmt: skip
        multiply = lt.cublasLtMatmul

        def start() -> None:
            _require(multiply(*arguments), "a product")

        start.keep = scales, each
        return start

    return {
        f"{number}: {_name(lt, each)}": [
            call(each, *made) for made in zip(described, *zip(*operands, strict=True), strict=True)
        ]
        for number, each in enumerate(usable)
    }


def _name(lt: Any, each: _Heuristic) -> str:
    """What the algorithm sets, as cuBLASLt numbers it, such as "algorithm=66 tile=20 stages=36"."""
    words = []
    for word, attribute in NAMED.items():
        value, written = c_int(), c_size_t()
        status = lt.cublasLtMatmulAlgoConfigGetAttribute(
            byref(each.algorithm), attribute, byref(value), c_size_t(4), byref(written)
        )
        if not status and (value.value or word in ("algorithm", "tile")):
            words.append(f"{word}={value.value}")
    return " ".join(words)
