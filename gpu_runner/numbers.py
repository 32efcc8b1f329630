"""Numbers and structs as kernel arguments: their bytes, where the driver can read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_simulator.errors import LaunchError


def held(value: Any, size: int | None = None) -> np.ndarray:
    """An array that holds the bytes of a number or a struct (bytes).

    size: of the kernel's parameter in bytes, where known. A descriptor, an int64_t or a double takes np.uint64,
    np.int64 or np.float64; a plain Python number is a C int or float, as eight bytes would be a guess. Where it is
    not known a C int takes the lower four of eight. Raises `LaunchError` for what does not fit.
    """
    whole = size in (8, None) and isinstance(value, (np.int64, np.uint64))
    if whole or (size == 8 and isinstance(value, np.float64)):
        return np.array(value)
    if isinstance(value, (bool, int, np.integer)):
        if not -(2**31) <= int(value) < 2**31:
            raise LaunchError(
                f"The argument {value} does not fit a C int; where the parameter has 8 bytes, pass "
                f"np.{'uint64' if value > 0 else 'int64'}({value})."
            )
        return np.array(int(value), np.int32)
    if isinstance(value, (float, np.floating)):
        return np.array(float(value), np.float32)
    if isinstance(value, bytes):  # a struct by value, such as a CUtensorMap, which wants 64-byte alignment
        room = np.zeros(len(value) + 64, np.uint8)
        start = -room.ctypes.data % 64
        field = room[start : start + len(value)]
        field[:] = np.frombuffer(value, np.uint8)
        return field
    raise LaunchError(f"A kernel argument must be an array, an int, a float or bytes, not {type(value).__name__}.")
