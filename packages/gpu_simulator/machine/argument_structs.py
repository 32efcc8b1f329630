"""Arguments with addresses in them: structs with pointers, and arrays of pointers.

A struct is a tuple of its members, in order, each at a multiple of its own size as C++ places it. An array of pointers
is a list of arrays, an array of structs a list of tuples; a kernel gets the address of either.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from gpu_simulator.faults import LaunchError
from gpu_simulator.hardware.tensor_map import ENCODED_BYTES, TensorMap
from gpu_simulator.machine.address_space import GLOBAL_BASE, align_up

Buffers = list[tuple[str, np.ndarray]]


class MapPiece(NamedTuple):
    """A tensor map among the arguments. array: the number of the buffer of its array."""

    tensor_map: TensorMap
    array: int


class Packed(NamedTuple):
    """Bytes with addresses in them. parts: (offset, piece); a piece: bytes, the number of a buffer, or one of these."""

    parts: tuple[tuple[int, Any], ...]
    size: int


class PointedTo(NamedTuple):
    """The address of a buffer that holds another piece. number, array: of the buffer."""

    piece: Any
    number: int
    array: np.ndarray


def encoded(piece: Any, places: list[int]) -> bytes:
    """The bytes of a piece. places: the offset of each buffer from GLOBAL_BASE."""
    if isinstance(piece, MapPiece):
        return piece.tensor_map.encoded(GLOBAL_BASE + places[piece.array])
    if isinstance(piece, Packed):
        data = bytearray(piece.size)
        for offset, part in piece.parts:
            inner = encoded(part, places)
            data[offset : offset + len(inner)] = inner
        return bytes(data)
    if isinstance(piece, PointedTo):
        piece.array[:] = np.frombuffer(encoded(piece.piece, places), np.uint8)
        piece = piece.number
    return (GLOBAL_BASE + places[piece]).to_bytes(8, "little") if isinstance(piece, int) else piece


def struct(members: tuple, name: str, buffers: Buffers) -> tuple[Packed, int, list[str]]:
    """(bytes, alignment, members in words) of a struct. Raises `LaunchError`. name: of the argument."""
    parts, words, offset, widest = [], [], 0, 1
    for number, member in enumerate(members):
        piece, size, align, what = _member(member, f"{name}.{number}", buffers)
        offset = align_up(offset, align)
        parts.append((offset, piece))
        words.append(f"{what} at {offset}")
        offset, widest = offset + size, max(widest, align)
    return Packed(tuple(parts), align_up(offset, widest)), widest, words


def pointed_to(items: list, name: str, buffers: Buffers) -> PointedTo:
    """The address of an array of pointers, or of structs. Raises `LaunchError` for anything else in the list."""
    inner: Any = items
    while isinstance(inner, list) and inner:
        inner = inner[0]
    if not isinstance(inner, (np.ndarray, tuple, type(None))) or not all(
        isinstance(item, (np.ndarray, tuple, list, type(None))) for item in items
    ):
        raise LaunchError(
            f"{name} is a list; a list is an array of pointers or of structs, so give arrays, None or tuples in it, or "
            "for numbers a NumPy array."
        )
    packed, _, _ = struct(tuple(items), name, buffers)
    array = np.zeros(packed.size, np.uint8)
    buffers.append((f"the pointers of {name}", array))
    return PointedTo(packed, len(buffers) - 1, array)


def _member(value: Any, name: str, buffers: Buffers) -> tuple[Any, int, int, str]:
    """(piece, bytes, alignment, in words) of a member of a struct."""
    if isinstance(value, np.ndarray):
        return buffer_of(value, name, buffers), 8, 8, "pointer"
    if isinstance(value, list):
        return pointed_to(value, name, buffers), 8, 8, "pointer"
    if isinstance(value, tuple):
        packed, align, _ = struct(value, name, buffers)
        return packed, packed.size, align, f"struct of {packed.size} bytes"
    if isinstance(value, TensorMap) and value.array is not None:
        return MapPiece(value, buffer_of(value.array, name, buffers)), ENCODED_BYTES, 64, "tensor map"
    if value is None:
        return bytes(8), 8, 8, "null pointer"
    if isinstance(value, (bytes, bytearray)):
        return bytes(value), len(value), 1, f"{len(value)} bytes"
    number = _typed(value)
    if number is None:
        raise LaunchError(
            f"{name} is a {type(value).__name__}; a member of a struct is an array, a number, or a tuple."
        )
    return number.tobytes(), number.nbytes, number.nbytes, str(number.dtype)


def _typed(value: Any) -> np.generic | None:
    """A number with the type that it has in C++: a plain one is an int, a float, or a 64-bit integer if it is large."""
    if isinstance(value, np.generic):  # asked first, because np.float64 is also a float
        return value if isinstance(value, (np.number, np.bool_)) else None
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        fits = (kind for kind in (np.int32, np.int64, np.uint64) if np.iinfo(kind).min <= value <= np.iinfo(kind).max)
        return next((kind(value) for kind in fits), None)
    return np.float32(value) if isinstance(value, float) else None


def buffer_of(array: np.ndarray, name: str, buffers: Buffers) -> int:
    """The number of an array's buffer; a new buffer unless another argument is the same memory."""
    if array.dtype.hasobject:
        raise LaunchError(f"{name} holds Python objects; pass an array of numbers.")
    if not array.dtype.isnative:
        raise LaunchError(f"{name} has its bytes in the other order ({array.dtype.str}); pass {array.dtype.name}.")
    if not array.flags.c_contiguous:
        raise LaunchError(f"{name} must be a contiguous array; pass np.ascontiguousarray(…).")
    same = next((n for n, (_, other) in enumerate(buffers) if _overlap(array, other, name)), None)
    if same is None:
        buffers.append((name, array))
        return len(buffers) - 1
    return same


def _overlap(one: np.ndarray, other: np.ndarray, name: str) -> bool:
    """Whether two arguments are the same memory. Raises `LaunchError` if they overlap only in part."""
    begin, start = (a.__array_interface__["data"][0] for a in (one, other))
    if begin == start and one.nbytes == other.nbytes:
        return one.nbytes > 0
    if begin < start + other.nbytes and start < begin + one.nbytes:
        raise LaunchError(f"{name} overlaps another argument in part; pass the whole array, or copies.")
    return False


def arrays_in(args: Iterable[Any], before: str = "") -> dict[str, np.ndarray]:
    """The arrays among arguments, by their places: "2" is argument 2, "2.0" the first member of the struct there."""
    found: dict[str, np.ndarray] = {}
    for number, value in enumerate(args):
        value = value.array if isinstance(value, TensorMap) else value
        if isinstance(value, np.ndarray):
            found[f"{before}{number}"] = value
        elif isinstance(value, (tuple, list)):
            found |= arrays_in(value, f"{before}{number}.")
    return found
