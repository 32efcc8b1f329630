"""The operations that students may request from a worker of each backend, with their fields and types.

A request is checked against them before any of its data reaches the simulator or the GPU process.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import numpy as np

from gemm_results.errors import LabError
from gpu_runner.baselines import cublaslt
from gpu_runner.transport import codec
from gpu_runner.transport.field_types import fitted
from gpu_simulator.errors import LaunchError
from gpu_simulator.hardware.tensor_map import TensorMap

MOST_SECONDS = 120.0  # the limit for a simulated launch
MOST_SILENCE_S, MOST_PATIENCE_S, MOST_ROUNDS = 120.0, 180.0, 1000
# Seconds after which a worker that has not answered is replaced. Operations have lower limits of their own.
LONGEST_S = {"simulate": MOST_SECONDS + 30.0, "benchmark": 900.0}
LONGEST_OTHER_S = 300.0

ARGUMENT = np.ndarray | TensorMap | np.generic | bool | int | float | bytes
GRID = tuple[int, int, int]
DTYPE = Literal[(*sorted(codec.DTYPES - {"bool"}), "tf32")]
LAYOUT = Literal["row", "col"]
TOKEN = str | int | float | np.generic | tuple[str, int] | tuple[str, str, tuple[int, int], int]
KERNEL = {"key": str, "name": str, "arch": str, "entry": str, "cubin": bytes, "threads": int, "dynamic_smem": int,
          "?parameters": tuple[int, ...] | None}  # fmt: skip
PROBLEM = {"dtype_in": DTYPE, "dtype_acc": DTYPE, "dtype_out": DTYPE, "layout_a": LAYOUT, "layout_b": LAYOUT,
           "uses_c": bool, "multiplied": DTYPE, "?scaled": bool}  # fmt: skip
KIND = Literal[(*cublaslt.KINDS, "kernel", "ceiling", "cublas", "inductor", "cutlass_sm75", "cutlass_sm80")]
ENTRY = {"label": str, "kind": KIND,
         "flops": float, "?block": tuple[int, ...] | None, "?multiplied": DTYPE | None, "?compiled": dict,
         "?grid": GRID, "?cluster": GRID, "?arguments": list[TOKEN], "?scaled": bool,
         "?limits": tuple[float, float]}  # fmt: skip
SIZE = {"m": int, "n": int, "k": int}
OPERATIONS: dict[str, dict[str, dict[str, Any]]] = {
    "simulator": {
        "simulate": {
            "compiled": {"name": str, "ptx": str, "entry": str, "threads": int, "dynamic_smem": int,
                         "files": dict[str, str]},
            "grid": tuple[int, ...], "args": list[ARGUMENT], "?cluster": tuple[int, ...],
            "?observers": tuple[Literal["hazards"], ...], "?timing": Literal["early", "late", "staggered"],
            "?placement": {"?crossing": int | None, "?tensor_memory_base": int, "?shared_memory_base": int,
                           "?reversed_arrays": bool},
            "?max_instructions": int | None, "?max_steps": int | None,
            "?max_seconds": float | None, "?exact": bool | None,
        },
    },
    "gpu": {
        "hello": {},
        "launch": {"compiled": KERNEL, "grid": GRID, "args": list[ARGUMENT], "?cluster": GRID,
                   "?outputs": list[int] | None},
        "verify": {"compiled": KERNEL, "grid": GRID, "cluster": GRID, "arguments": list[TOKEN], "problem": PROBLEM,
                   **SIZE, "kind": Literal["integers", "normal"], "limit": int, "alpha": float, "beta": float,
                   "limits": tuple[float, float], "block": tuple[int, int], "seed": int},
        "benchmark": {"problem": PROBLEM, **SIZE, "entries": list[dict], "regime": Literal["burst", "sustained"],
                      "rounds": int, "limits": tuple[float, float], "error_bounds": dict[str, float],
                      "alpha": float, "beta": float, "seed": int},
    },
}  # fmt: skip
EVERY_OPERATION = {name for operations in OPERATIONS.values() for name in operations}
REQUEST = {"op": str, "payload": dict, "timeout_s": float | None, "patience_s": float, "fresh": bool}


def checked(request: Any, backend: str) -> dict[str, Any]:
    """The arguments for a backend's method `answer`, from a decoded request. Raises `LabError` if it is not allowed."""
    try:
        return _checked(request, backend)
    except ValueError as error:
        raise LaunchError(f"The server does not accept this request: {error}") from None


def _checked(request: Any, backend: str) -> dict[str, Any]:
    job = fitted(request, REQUEST, "the request")
    op = job["op"]
    if op not in OPERATIONS[backend]:
        if backend == "simulator" and op in EVERY_OPERATION:
            raise LabError(
                f"This server has no GPU: its workers simulate, and cannot do “{op}”. Check and count here; "
                "to time kernels, use a server with a GPU."
            )
        raise LabError(f"This server cannot do “{op:.40}”; it can do {', '.join(OPERATIONS[backend])}.")
    payload = job["payload"] = fitted(job["payload"], OPERATIONS[backend][op], op)
    if job["timeout_s"] is not None:
        job["timeout_s"] = _within(job["timeout_s"], MOST_SILENCE_S)
    job["patience_s"] = _within(job["patience_s"], MOST_PATIENCE_S)
    if op == "simulate":
        payload["max_seconds"] = _within(payload.get("max_seconds") or MOST_SECONDS, MOST_SECONDS)
    elif op == "benchmark":
        payload["rounds"] = max(1, min(payload["rounds"], MOST_ROUNDS))
        payload["entries"] = [_entry(entry) for entry in payload["entries"]]
    elif "compiled" in payload:
        payload["compiled"] = _keyed(payload["compiled"])
    return job


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    entry = fitted(entry, ENTRY, "an entry")
    if "compiled" in entry:
        entry["compiled"] = _keyed(fitted(entry["compiled"], KERNEL, "an entry's kernel"))
    return entry


def _keyed(kernel: dict[str, Any]) -> dict[str, Any]:
    """The kernel with a key computed by the server.

    Workers cache kernels by key, so a key chosen by a client could replace somebody else's kernel.
    """
    facts = [kernel["cubin"], *(str(kernel.get(name)).encode() for name in
                                ("arch", "entry", "threads", "dynamic_smem", "parameters", "name"))]  # fmt: skip
    digest = hashlib.sha256()
    for fact in facts:
        digest.update(len(fact).to_bytes(8, "little") + fact)
    return {**kernel, "key": digest.hexdigest()}


def _within(seconds: float, most: float) -> float:
    return min(seconds, most) if seconds > 0 else most
