"""Boxes for TMA copies: tensor maps and coordinates, for tests of the simulator and for a comparison with a GPU."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import NamedTuple

import compiling
import ml_dtypes  # noqa: F401  registers bfloat16 with NumPy
import numpy as np

from gpu_simulator.hardware.tensor_map import TensorMap

SOURCE = Path(__file__).with_name("boxes.cu").read_text()
ROOM = 24576
POISON = 0xCD
# The bytes of an element that is filled with NaN, recorded on an H200: the same 16 bits repeated.
NAN_BYTES = {
    "float16": "f77f", "bfloat16": "f77f", "float32": "f77ff77f", "float64": "f77ff77ff77ff77f",
}  # fmt: skip


class Box(NamedTuple):
    """One box. shape: of the array, outermost dimension first.   box, coordinates, steps: innermost dimension first.

    at: its byte offset in shared memory.   fill: the value outside the array, "zero" or "nan".
    """

    dtype: str
    shape: tuple[int, ...]
    box: tuple[int, ...]
    coordinates: tuple[int, ...]
    swizzle: int = 0
    at: int = 0
    fill: str = "zero"
    steps: tuple[int, ...] = ()

    def array(self) -> np.ndarray:
        rng = np.random.default_rng(len(str(self)))
        raw = rng.integers(1, 100, self.shape)
        return raw.astype(self.dtype)

    def stops(self, store: bool) -> bool:
        """Whether the GPU stops with an illegal instruction. Recorded on an H200 for the first 56 boxes."""
        return bool(self.coordinates[0] * np.dtype(self.dtype).itemsize % 16 or (store and min(self.coordinates) < 0))

    def tensor_map(self, array) -> TensorMap:
        return TensorMap.of(array, self.box, self.swizzle, fill=self.fill, element_strides=self.steps)


def build(rank: int, store: bool, arch: str):
    config = {"RANK": rank, "ROOM": ROOM, "STORE": int(store), "POLLS": 5000}
    return compiling.compile(SOURCE, arch=arch, name="boxes.cu", entry="kernel", config=config)


def arguments(box: Box, tensor_map: TensorMap, smem: np.ndarray, done: np.ndarray, size: int | None = None) -> list:
    """The arguments of the kernel in boxes.cu. size: bytes that its barrier expects, by default those of the box."""
    at = (*box.coordinates, 0, 0, 0, 0)[:5]
    return [tensor_map, smem, done, box.at, tensor_map.box_bytes if size is None else size, *at]


def boxes() -> list[Box]:
    """Boxes with every swizzle at every kind of edge, one to five dimensions, various offsets, strides, and NaN fill."""
    found = []
    corners = ((0, 0), (16, 5), (3, 1), (-5, -2), (70, 90), (40, 97), (-64, 0), (200, 300))
    for swizzle, (x, y) in product((0, 32, 64, 128), corners):
        found.append(Box("float16", (100, 88), ((swizzle or 128) // 2, 24), (x, y), swizzle))
    for swizzle, at in ((128, 128), (128, 896), (64, 128), (64, 384), (32, 128), (0, 128)):
        found.append(Box("float16", (100, 88), ((swizzle or 128) // 2, 24), (8, 8), swizzle, at))
    for swizzle, width in ((128, 16), (128, 32), (64, 16), (32, 8)):  # rows narrower than the swizzle
        found.append(Box("float16", (100, 88), (width, 24), (8, 8), swizzle))
    found += [
        Box("float32", (1000,), (64,), (10,)),
        Box("float32", (1000,), (32,), (-3,), 128),
        Box("float32", (1000,), (256,), (900,)),
        Box("float16", (7, 40, 72), (64, 8, 3), (8, 30, 5), 128),
        Box("float16", (7, 40, 72), (64, 8, 3), (16, 36, -1), 128),
        Box("float16", (7, 40, 72), (32, 8, 3), (2, 4, 2), 64),
        Box("uint8", (3, 5, 12, 48), (32, 4, 2, 2), (16, 10, 4, 1), 32),
        Box("int32", (2, 3, 4, 6, 12), (8, 3, 2, 2, 1), (4, 1, -1, 2, 1)),
        Box("float64", (50, 20), (16, 8), (6, 45), 128),
        Box("float16", (100, 88), (64, 24), (8, 8), 128, 0, "zero", (1, 2)),
        Box("float16", (100, 88), (64, 25), (8, 90), 128, 0, "zero", (1, 3)),
        Box("float16", (100, 88), (64, 24), (40, 90), 128, 0, "nan"),
        Box("float32", (100, 88), (32, 24), (70, -4), 128, 0, "nan"),
        Box("float64", (100, 88), (16, 24), (80, -4), 128, 0, "nan"),
        Box("float32", (100, 88), (32, 24), (72, -4), 128, 0, "nan"),  # from here on not recorded yet
        Box("float32", (100, 88), (32, 24), (-8, 90), 0, 0, "nan"),
        Box("bfloat16", (100, 88), (64, 24), (40, 90), 128, 0, "nan"),
        Box("bfloat16", (100, 88), (32, 24), (-8, -3), 64, 0, "nan"),
        Box("float16", (100, 88), (64, 24), (-8, 90), 128, 0, "nan"),
        Box("float16", (100, 88), (64, 24), (9, 8), 128),  # not a multiple of 16 bytes
        Box("uint8", (40, 96), (64, 16), (15, 3), 64),
        Box("float64", (50, 20), (16, 8), (1, 45), 128),
    ]
    return found
