"""Makes PNG files of pictures small by reducing their colours to a palette."""

from __future__ import annotations

import io

import numpy as np

COLOURS, APART = 96, 14  # most colours of a picture; their least distance, in steps of a channel from 0 to 255


def compact(data: bytes, most: int = COLOURS, apart: int = APART) -> bytes:
    """The PNG `data` with a palette of its most frequent colours.

    most: size of the palette.   apart: least distance of two colours in it, so that a rare but distinct colour is kept.
    """
    from PIL import Image

    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
    colours, index, counts = np.unique(pixels.reshape(-1, 4).view("<u4"), return_inverse=True, return_counts=True)
    colours = colours.view(np.uint8).reshape(-1, 4).astype(np.int64)
    order = np.argsort(-counts, kind="stable")
    far, nearest, palette = np.full(len(colours), np.inf), np.zeros(len(colours), np.uint8), []
    while len(palette) < most and (left := order[far[order] >= apart**2]).size:
        distance = ((colours - colours[left[0]]) ** 2).sum(1)
        nearest[distance < far] = len(palette)
        far = np.minimum(far, distance)
        palette.append(colours[left[0]])
    image = Image.fromarray(nearest[index].reshape(pixels.shape[:2]))
    image.putpalette(np.array(palette, np.uint8).tobytes(), "RGBA")
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()
