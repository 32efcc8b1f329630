"""The types of matrices' elements by the short names that kernels' problems use: f16, bf16, f32, e4m3, e5m2."""

from __future__ import annotations

import numpy as np

_NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
_NUMPY_NAMES = {short: name for name, short in _NAMES.items()}


def dtype_of(name: str) -> np.dtype:
    """The NumPy dtype of a short name, or of a name that NumPy or ml_dtypes uses; bf16 and 8 bits need ml_dtypes."""
    name = _NUMPY_NAMES.get(name, name)
    if name.startswith(("bfloat", "float8", "float4")):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


def name_of(dtype: np.dtype) -> str:
    """The short name of a dtype, or NumPy's own name where there is none."""
    return _NAMES.get(np.dtype(dtype).name, np.dtype(dtype).name)
