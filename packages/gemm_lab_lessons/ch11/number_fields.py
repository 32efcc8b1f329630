"""Splits a number into the bits of its sign, exponent and fraction in a format, and gives the value that is stored.

IEEE 754 for FP32 and FP16; BF16 is the upper half of the bits of FP32, rounded to the nearest, ties to even.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import ConfigError

EXPONENT_BITS = {"f32": 8, "bf16": 8, "f16": 5}


class Fields(NamedTuple):
    """The bits of each field as text of "0" and "1", and the value that is stored."""

    sign: str
    exponent: str
    fraction: str
    value: float


@checked
def fields(number: float, kind: str) -> Fields:
    """`number` rounded to the nearest in "f32", "bf16" or "f16". Raises `ConfigError` for any other format."""
    if kind not in EXPONENT_BITS:
        raise ConfigError(f"There is no format {kind!r} here; there are {', '.join(EXPONENT_BITS)}.")
    with np.errstate(over="ignore"):
        if kind == "f16":
            half = np.float16(number)
            bits, value = f"{int(half.view(np.uint16)):016b}", float(half)
        else:
            word = int(np.float32(number).view(np.uint32))
            if kind == "bf16" and np.isfinite(np.float32(number)):
                word = word + 0x7FFF + (word >> 16 & 1) & 0xFFFF0000
            value = float(np.uint32(word).view(np.float32))
            bits = f"{word:032b}"[: 16 if kind == "bf16" else 32]
    end = 1 + EXPONENT_BITS[kind]
    return Fields(bits[0], bits[1:end], bits[end:], value)
