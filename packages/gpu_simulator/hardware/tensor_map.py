"""Describes a tensor map: what TMA knows of a tensor in global memory, and of the boxes that it copies.

    TensorMap.of(a, box=(64, 128), swizzle=128)      # a: (M, K); boxes of 128 rows of 64 elements

Dimensions are counted from the innermost, as in the driver and in the instruction's coordinates: a row-major (M, K)
matrix has sizes (K, M). The simulator and the driver encode the same object, each in its own 128 bytes.

Limits: CUDA Driver API, "Tensor Map Object Management", cuTensorMapEncodeTiled.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.swizzle import TMA_SWIZZLES, Swizzle

ELEMENT_BYTES = {
    "u8": 1, "s8": 1, "e4m3": 1, "e5m2": 1, "u16": 2, "f16": 2, "bf16": 2, "u32": 4, "s32": 4, "f32": 4, "tf32": 4,
    "u64": 8, "s64": 8, "f64": 8,
}  # fmt: skip
FLOATING = {"f16", "bf16", "f32", "tf32", "f64"}
_NUMPY_NAMES = {
    "uint8": "u8", "int8": "s8", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "uint16": "u16", "float16": "f16",
    "bfloat16": "bf16", "uint32": "u32", "int32": "s32", "float32": "f32", "uint64": "u64", "int64": "s64",
    "float64": "f64",
}  # fmt: skip
SWIZZLES = (0, 32, 64, 128)
PROMOTIONS = (0, 64, 128, 256)
MOST_DIMENSIONS, MOST_BOX, MOST_ELEMENT_STRIDE = 5, 256, 8
ALIGN = 16
FILLS = ("zero", "nan")
ENCODED_BYTES, MARK = 128, b"LabTMap\x01"
FORM = struct.Struct("<8sQ5I4Q5H5B5B")  # of `TensorMap.encoded`; sizes are stored less one, so that 2^32 fits


class TensorMapError(SimulatorError, ValueError):
    """A tensor map that the driver would refuse; the message says which limit it exceeds."""


@dataclass(frozen=True)
class TensorMap:
    """Sizes, strides and box of a tiled tensor map.

    element: f16, bf16, f32, u8 …   sizes: number of elements in each dimension, innermost first, 1 to 5 dimensions.
    strides: bytes from one element to the next along dimensions 1, 2 …; the innermost dimension is dense.
    box: number of elements in each dimension that one copy covers.   element_strides: with n, only every n-th is
    copied.
    swizzle: 0, 32, 64, 128, the XOR on the addresses in shared memory.   l2_promotion: 0, 64, 128, 256 bytes.
    fill: "zero" or "nan", what a load writes where the box extends beyond the tensor.
    array: the NumPy array that holds the tensor, from its first byte on; None if there is only a description.

    Raises `TensorMapError` for what the driver refuses. Interleaved layouts are not supported.
    """

    element: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...] = ()
    swizzle: int = 0
    l2_promotion: int = 128
    fill: str = "zero"
    array: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("sizes", "strides", "box", "element_strides"):
            object.__setattr__(self, name, tuple(int(value) for value in getattr(self, name)))
        if not self.element_strides:
            object.__setattr__(self, "element_strides", (1,) * len(self.sizes))
        if problem := self.problem():
            raise TensorMapError(problem)

    @classmethod
    def of(
        cls, array: np.ndarray, box: Sequence[int], swizzle: int = 0, element: str | None = None, **options: Any
    ) -> TensorMap:
        """The map of a whole contiguous array, whose last axis is the innermost dimension. Raises `TensorMapError`.

        box: innermost first.   element: only needed where NumPy's type does not say it, such as "tf32" for a float32
        array.
        """
        if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
            raise TensorMapError("A tensor map is made of a contiguous NumPy array; pass np.ascontiguousarray(…).")
        known = _NUMPY_NAMES.get(array.dtype.name)
        if known is None:
            raise TensorMapError(f"TMA knows no element type {array.dtype}; it knows {', '.join(_NUMPY_NAMES)}.")
        element = element or known
        if ELEMENT_BYTES.get(element, array.itemsize) != array.itemsize:
            raise TensorMapError(
                f"The elements of the array have {array.itemsize} bytes, those of {element} {ELEMENT_BYTES[element]}."
            )
        return cls.of_shape(element, array.shape, box, swizzle, array=array, **options)

    @classmethod
    def of_shape(
        cls, element: str, shape: Sequence[int], box: Sequence[int], swizzle: int = 0, **options: Any
    ) -> TensorMap:
        """The map of a dense array with this NumPy shape, whose last axis is the innermost dimension."""
        sizes = tuple(shape)[::-1]
        size = ELEMENT_BYTES.get(element, 1)
        strides = tuple(size * prod(sizes[:axis]) for axis in range(1, len(sizes)))
        return cls(element, sizes, strides, tuple(box), swizzle=swizzle, **options)

    # ---- What follows from it ----

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    @property
    def element_bytes(self) -> int:
        """The size of an element."""
        return ELEMENT_BYTES[self.element]

    @property
    def copied(self) -> tuple[int, ...]:
        """Number of elements in each dimension that one copy moves: the box divided by the element strides, rounded up.

        The innermost dimension has no element stride.
        """
        return (self.box[0], *(-(-b // s) for b, s in zip(self.box[1:], self.element_strides[1:], strict=True)))

    @property
    def box_bytes(self) -> int:
        """Bytes of one copy as the mbarrier counts them; elements of the box outside the tensor are included."""
        return prod(self.copied) * self.element_bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of the box along the innermost dimension."""
        return self.box[0] * self.element_bytes

    @property
    def row_pitch(self) -> int:
        """Bytes from one row of the box to the next in shared memory: those of the row, but at least `swizzle`."""
        return max(self.row_bytes, self.swizzle)

    @property
    def smem_bytes(self) -> int:
        """Bytes of shared memory that a box occupies, from its first to its last byte."""
        return prod(self.copied[1:]) * self.row_pitch

    @property
    def span_bytes(self) -> int:
        """Bytes of global memory from the first to the last element of the tensor."""
        last = sum((size - 1) * stride for size, stride in zip(self.sizes[1:], self.strides, strict=True))
        return last + self.sizes[0] * self.element_bytes

    @property
    def xor(self) -> Swizzle | None:
        """The swizzle as a function of absolute shared-memory addresses; None without a swizzle."""
        return TMA_SWIZZLES.get(self.swizzle)

    @property
    def smem_align(self) -> int:
        """Alignment in bytes of a box in shared memory with which the XOR pattern begins at the box's first row."""
        return 8 * self.swizzle if self.swizzle else 128

    def encoded(self, address: int) -> bytes:
        """The simulator's own 128 bytes for a tensor at this global address, as `FORM` lays them out."""

        def five(values: Sequence[int], rest: int) -> tuple[int, ...]:
            return (*values, *(rest,) * (5 - len(values)))

        raw = FORM.pack(
            MARK,
            address,
            *five([size - 1 for size in self.sizes], 0),
            *five(self.strides, 0)[:4],
            *five(self.box, 1),
            *five(self.element_strides, 1),
            self.rank,
            tuple(ELEMENT_BYTES).index(self.element),
            self.swizzle,
            self.l2_promotion // 2,
            FILLS.index(self.fill),
        )
        return raw.ljust(ENCODED_BYTES, b"\0")

    # ---- What cannot be ----

    def refused(self, corner: Sequence[int] | np.ndarray, storing: bool) -> str:
        """Why a copy of the box at `corner` (coordinates, innermost first) would stop the kernel; "" if it would not.

        `storing` is True for copies to global memory. Recorded on an H200 for loads and stores of tiles, as
        CUDA_ERROR_ILLEGAL_INSTRUCTION: 56 boxes, one to five dimensions, every swizzle; wherever these two rules allow
        a copy, the results are equal bit for bit. It is inferred, not recorded, that the rules also hold for
        multicasts, prefetches and reductions, and on other GPUs. CUDA C++ Programming Guide, "Using TMA to transfer
        multi-dimensional arrays", has the second rule too.
        """
        first, size = int(corner[0]), self.element_bytes
        if first * size % ALIGN:
            step = ALIGN // size
            low = first // step * step
            return (
                f"whose innermost coordinate {first} lies {first * size} bytes along its row, which is not a "
                f"multiple of {ALIGN} bytes: the GPU stops with an illegal instruction (recorded on an H200). For "
                f"{self.element} use a multiple of {step}, such as {low} or {low + step}."
            )
        if storing and min(corner) < 0:
            at = next(axis for axis, place in enumerate(corner) if place < 0)
            return (
                f"whose coordinate {corner[at]} along dimension {at} is negative: the GPU stops with an illegal "
                "instruction (recorded on an H200). What is written begins at 0 or beyond in every dimension, and "
                "only its end may reach out of the tensor; loads may begin at negative coordinates."
            )
        return ""

    def problem(self) -> str:
        """Why the driver would refuse this map, as a sentence; "" if it would not."""
        if self.element not in ELEMENT_BYTES:
            return f"TMA knows no element type {self.element!r}; it knows {', '.join(ELEMENT_BYTES)}."
        rank = self.rank
        if not 1 <= rank <= MOST_DIMENSIONS:
            return f"A tensor map has 1 to {MOST_DIMENSIONS} dimensions, not {rank}."
        for name, count in (("strides", rank - 1), ("box", rank), ("element_strides", rank)):
            if len(getattr(self, name)) != count:
                return f"A map of {rank} dimensions has {count} {name}, not {len(getattr(self, name))}."
        return self._problem_tensor() or self._problem_box()

    def _problem_tensor(self) -> str:
        for axis, size in enumerate(self.sizes):
            if not 1 <= size <= 1 << 32:
                return f"Dimension {axis} of a tensor has 1 to 2^32 elements, not {size:,}."
        for axis, stride in enumerate(self.strides, 1):
            alone = self.sizes[axis] == 1  # then the driver takes 0 as well, since nothing is that far away
            if not (0 if alone else 1) <= stride < 1 << 40 or stride % ALIGN:
                fits = -(-stride // ALIGN) * ALIGN
                return (
                    f"The stride of dimension {axis} must be a multiple of {ALIGN} bytes below 2^40, and "
                    f"{stride:,} is not; pad the rows to {fits:,} bytes."
                )
        return ""

    def _problem_box(self) -> str:
        for axis, (size, step) in enumerate(zip(self.box, self.element_strides, strict=True)):
            if not 1 <= size <= MOST_BOX:
                return f"A box has 1 to {MOST_BOX} elements along a dimension, not {size} along dimension {axis}."
            if not 1 <= step <= MOST_ELEMENT_STRIDE:
                return f"Element strides are 1 to {MOST_ELEMENT_STRIDE}, not {step} along dimension {axis}."
        if self.element_strides[0] != 1:
            return "The innermost dimension has no element stride: TMA ignores it there. Use 1."
        if self.swizzle not in SWIZZLES:
            return f"There is no {self.swizzle}-byte swizzle; there are 32, 64 and 128, and 0 for none."
        if self.row_bytes % ALIGN:
            return (
                f"The box is {self.box[0]} × {self.element_bytes} = {self.row_bytes} bytes wide; its innermost "
                f"dimension must be a multiple of {ALIGN} bytes."
            )
        if self.swizzle and self.row_bytes > self.swizzle:
            most = self.swizzle // self.element_bytes
            return (
                f"With the {self.swizzle}-byte swizzle the box may be {self.swizzle} bytes wide, {most} elements "
                f"of {self.element}, and it is {self.row_bytes}; copy it in several boxes."
            )
        if self.l2_promotion not in PROMOTIONS:
            return f"L2 promotion is to 64, 128 or 256 bytes, or 0 for none, not {self.l2_promotion}."
        if self.fill not in FILLS:
            return f'Out of bounds a load fills with "zero" or "nan", not {self.fill!r}.'
        if self.fill == "nan" and self.element not in FLOATING:
            return f"Only floating-point tensors can be filled with NaN, not {self.element}."
        return ""


def arrays_of(args: Sequence[Any]) -> list[np.ndarray]:
    """The arrays among arguments, in the order in which a launch returns them.

    An array that is passed twice is listed twice. One that is only used by tensor maps is listed once, at the position
    of the first of these maps.
    """
    named = {id(value) for value in args if isinstance(value, np.ndarray)}
    found: list[np.ndarray] = []
    for value in args:
        if isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, TensorMap) and id(value.array) not in named:
            named.add(id(value.array))
            found.append(value.array)
    return found
