"""Converts arrays of NumPy, CuPy and torch to NumPy arrays, and checks their types and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gemm_lab.problem import SCALES, Problem
from gpu_simulator.errors import ConfigError, SizeError
from gpu_simulator.hardware.number_types import dtype_of

# torch's types that NumPy lacks, by name: ml_dtypes has them under the same names.
FOREIGN = {"torch.bfloat16": "int16", "torch.float8_e4m3fn": "int8", "torch.float8_e5m2": "int8"}


def as_numpy(array: Any, label: str) -> np.ndarray:
    """A NumPy, CuPy or torch array as a NumPy array; raises `ConfigError` for anything else. `label` is its name."""
    if isinstance(array, np.ma.MaskedArray):
        raise ConfigError(f"{label} is a masked array, which a kernel cannot use; fill it first: {label}.filled(0).")
    if isinstance(array, np.ndarray):
        return array
    module = type(array).__module__.split(".")[0]
    if module == "torch":
        try:
            return _of_torch(array)
        except (AttributeError, NotImplementedError, RuntimeError, TypeError) as error:
            raise ConfigError(f"{label} cannot become a NumPy array: {str(error).rstrip('.')}.") from None
    if module == "cupy":
        return array.get()
    raise ConfigError(f"{label} is a {type(array).__name__}; pass a NumPy, CuPy or torch array.")


def _of_torch(array: Any) -> np.ndarray:
    array = array.detach().cpu().resolve_conj().resolve_neg()
    if held := FOREIGN.get(str(array.dtype)):
        import torch

        return array.contiguous().view(getattr(torch, held)).numpy().view(dtype_of(str(array.dtype)[len("torch.") :]))
    return array.numpy()


def like(given: Any, result: np.ndarray) -> Any:
    """A NumPy array as what `given` is, a NumPy, CuPy or torch array, and on the same device."""
    module = type(given).__module__.split(".")[0]
    if module == "torch":
        import torch

        if result.dtype == dtype_of("bf16"):  # NumPy's type for it is one that torch does not know
            return torch.from_numpy(result.view(np.int16)).view(torch.bfloat16).to(given.device)
        return torch.from_numpy(result).to(given.device)
    if module == "cupy":
        import cupy

        with given.device:
            return cupy.asarray(result)
    return result


def operand(array: Any, label: str, dtype: str) -> np.ndarray:
    """`array` as a two-dimensional NumPy array of `dtype`, which it must have already.

    Raises `SizeError` for another number of dimensions. A `ConfigError` for another type says how to convert it.
    """
    values = as_numpy(array, label)
    if values.ndim != 2:
        raise SizeError(f"{label} has {values.ndim} dimensions; a matrix has two.")
    if values.dtype != dtype_of(dtype):
        name = dtype_of(dtype).name
        torch = type(array).__module__.split(".")[0] == "torch"
        known = repr(name) if hasattr(np, name) else f"ml_dtypes.{name}"
        call = f"to(torch.{name})" if torch else f"astype({known})"
        raise ConfigError(
            f"{label} is {values.dtype}; this kernel takes {name}. Convert it first, so that rounding is "
            f"your decision: {label}.{call}."
        )
    return values


def check_shapes(a: np.ndarray, b: np.ndarray, c: np.ndarray | None) -> tuple[int, int, int]:
    """(m, n, k) of A (m, k), B (k, n) and C (m, n). Raises `SizeError` if the shapes do not fit together."""
    (m, k), (rows, n) = a.shape, b.shape
    if k != rows:
        raise SizeError(f"A is {m} × {k} and B is {rows} × {n}: A's columns must equal B's rows.")
    if c is not None and c.shape != (m, n):
        raise SizeError(f"C is {c.shape[0]} × {c.shape[1]}; for these A and B it must be {m} × {n}.")
    return m, n, k


def scales(problem: Problem, given: dict[str, Any], m: int, n: int, k: int) -> dict[str, np.ndarray]:
    """The scales of A and B as the kernel reads them; {} for a problem without.

    Raises `ConfigError` if they are missing, or given to a kernel without, `SizeError` for another shape.
    """
    passed = [name for name, array in given.items() if array is not None]
    if not problem.scaled:
        if passed:
            raise ConfigError(
                f"This kernel computes {problem.formula} without scales; leave out {' and '.join(passed)}."
            )
        return {}
    found = {}
    for name in SCALES:
        shape = problem.shape(name, m, n, k)
        if name not in passed:
            raise ConfigError(f"This kernel multiplies by scales: pass {name}, float32 of shape {shape}.")
        found[name] = np.ascontiguousarray(operand(given[name], name, "f32"))
        if found[name].shape != shape:
            turned = " It is that shape transposed." if found[name].shape == shape[::-1] else ""
            blocks = "K / 128, M" if name == "scale_a" else "N / 128, K / 128"
            raise SizeError(
                f"{name} has shape {found[name].shape}; for these A and B it has to be {shape}, ({blocks}) rounded up."
                + turned
            )
    return found


def stored(array: np.ndarray, layout: str) -> np.ndarray:
    """A matrix in the layout that the kernel reads: "row" has contiguous rows, "col" contiguous columns."""
    return np.ascontiguousarray(array if layout == "row" else array.T)
