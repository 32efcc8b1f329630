"""Checks what a server answers: the form of each operation's result, and that arrays are like those sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_runner.transport.field_types import fitted
from gpu_simulator.hardware.tensor_map import arrays_of

NUMBER, PAIR = float | None, tuple[int, int]
TIMED = {"label": str, "samples_ms": list[float], "repeats": int, "check": dict | None, "skipped": str | None,
         "?config": str, "?left_out": dict[str, str]}  # fmt: skip
RESULTS: dict[str, Any] = {
    "hello": dict,
    "simulate": {"arrays": list[np.ndarray], "report": Any},  # replaced by the report's type where that type is known
    "launch": {"arrays": dict[int, np.ndarray], "milliseconds": float},
    "verify": {"wrong": int, "nonfinite": int, "first_bad": PAIR | None, "largest": float, "relative_error": float,
               "bad_tile_count": int, "bad_tiles": list[PAIR], "got": NUMBER, "expected": NUMBER,
               "wrong_in_tiles": list[int], "kernel_ms": float, "m": int, "n": int, "k": int},
    "benchmark": {"entries": list[TIMED], "readings": list[dict], "m": int, "n": int, "k": int, "regime": str,
                  "*": Any},
}  # fmt: skip


def understood(op: str, result: Any, payload: Mapping[str, Any]) -> Any:
    """The result of operation `op` for this request, checked. Raises `ValueError` if it has another form."""
    found = fitted(result, RESULTS[op], f"the result of “{op}”")
    if op == "simulate":
        sent = [_form(array) for array in arrays_of(payload["args"])]
        if [_form(array) for array in found["arrays"]] != sent:
            raise ValueError("the arrays that came back are not those that were sent")
    if op == "launch":
        args = dict(enumerate(payload["args"]))
        for place, array in found["arrays"].items():
            given = getattr(args.get(place), "array", args.get(place))
            if not isinstance(given, np.ndarray) or _form(given) != _form(array):
                raise ValueError("the arrays that came back are not those that were sent")
    return found


def _form(array: np.ndarray) -> tuple[np.dtype, tuple[int, ...]]:
    return array.dtype, array.shape
