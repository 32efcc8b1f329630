"""A colour for each bank, the same in the pictures drawn by Python as in the widgets."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_hex

# OKLCH to linear sRGB: Björn Ottosson, "A perceptual color space for image processing" (2020).
_LMS = np.array([[1, 0.3963377774, 0.2158037573], [1, -0.1055613458, -0.0638541728], [1, -0.0894841775, -1.291485548]])
_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.707614701],
    ]
)


def oklch(lightness: float, chroma: float, hue: float) -> str:
    """The colour as "#rrggbb". Colours of equal lightness look equally light at any hue (in degrees)."""
    angle = np.radians(hue)
    linear = _RGB @ (_LMS @ [lightness, chroma * np.cos(angle), chroma * np.sin(angle)]) ** 3
    linear = np.clip(linear, 0, 1)
    return to_hex(np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055))


def bank_colour(bank: int, banks: int = 32, vivid: bool = False) -> str:
    """The colour of a bank as "#rrggbb": from yellow-green through blue to pink. Red and orange are for conflicts."""
    return oklch(*((0.83, 0.13) if vivid else (0.94, 0.042)), 100 + 260 * bank / banks)
