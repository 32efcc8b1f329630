"""Turns numbers and structs into kernel arguments: arrays with their bytes, which the driver can read."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_simulator.errors import LaunchError


def held(value: Any, size: int | None = None) -> np.ndarray:
    """An array with the bytes of a number or of a struct (bytes), as a kernel argument.

    size: bytes of the kernel's parameter, None where it is not known. An int becomes a C int and a float a C float, 4
    bytes each, because for a plain Python number 8 bytes would only be a guess. For a parameter of 8 bytes (a
    descriptor, an int64_t, a double) pass np.uint64, np.int64 or np.float64. With `size` None, np.int64 and np.uint64
    keep their 8 bytes, and a parameter that is a C int gets the lower four. Raises `LaunchError` for an int that does
    not fit a C int, and for values of other types.
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
    if isinstance(value, bytes):  # a struct by value, such as a CUtensorMap, which must be aligned to 64 bytes
        room = np.zeros(len(value) + 64, np.uint8)
        start = -room.ctypes.data % 64
        field = room[start : start + len(value)]
        field[:] = np.frombuffer(value, np.uint8)
        return field
    raise LaunchError(f"A kernel argument must be an array, an int, a float or bytes, not {type(value).__name__}.")
