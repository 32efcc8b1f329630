"""The types of matrices' elements by the short names that kernels' problems use: f16, bf16, f32."""

from __future__ import annotations

import numpy as np

_NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}


def dtype_of(name: str) -> np.dtype:
    """The NumPy dtype of "f16", "bf16" or "f32", or of any name that NumPy knows itself; bf16 needs ml_dtypes."""
    if name in ("bf16", "bfloat16"):
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({"f16": "float16", "f32": "float32"}.get(name, name))


def name_of(dtype: np.dtype) -> str:
    """The short name of a dtype: f16, bf16, f32, or NumPy's own name for any other."""
    return _NAMES.get(np.dtype(dtype).name, np.dtype(dtype).name)
