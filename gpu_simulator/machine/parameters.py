"""Converts Python values to kernel parameters: arrays become buffers, numbers get the parameter's type."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_simulator.faults import LaunchError
from gpu_simulator.hardware.tensor_map import TensorMap
from gpu_simulator.machine.address_space import GLOBAL_BASE
from gpu_simulator.machine.asynchronous.tensor_descriptor import BYTES, encode
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.ptx.types import CODES, NUMPY


class MapPiece(NamedTuple):
    """A tensor map among the arguments. array: the number of the buffer of its array.

    pointed_to: if the parameter is a pointer to the map, (number, bytes) of the buffer that holds the map.
    """

    tensor_map: TensorMap
    array: int
    pointed_to: tuple[int, np.ndarray] | None


def read_arguments(program, args) -> tuple[list, list[tuple[str, np.ndarray]]]:
    """(pieces, buffers): a piece is the bytes of a parameter, the number of its buffer, or a `MapPiece`.

    buffers: (name, array) of each. Raises `LaunchError` for arguments that do not fit the parameters.
    """
    expected = program.parameters
    if len(args) != len(expected):
        raise LaunchError(f"{source_name(program.entry)} takes {len(expected)} arguments, not {len(args)}.")
    pieces, buffers = [], []
    for number, (argument, parameter) in enumerate(zip(args, expected, strict=True)):
        name = f"argument {number}"
        if isinstance(argument, np.ndarray):
            if parameter.size != 8:
                raise LaunchError(
                    f"{name} of {program.entry} is a {parameter.size}-byte .{parameter.type}, not a pointer; "
                    "pass a number instead of an array."
                )
            if argument.dtype.hasobject:
                raise LaunchError(f"{name} holds Python objects; pass an array of numbers.")
            if not argument.flags.c_contiguous:
                raise LaunchError(f"{name} must be a contiguous array; pass np.ascontiguousarray(…).")
            pieces.append(_buffer(argument, name, buffers))
        elif isinstance(argument, TensorMap):
            pieces.append(_tensor(argument, parameter, program.entry, name, buffers))
        elif isinstance(argument, (bytes, bytearray)):
            if len(argument) != parameter.size:
                raise LaunchError(
                    f"{name} of {program.entry} has {parameter.size} bytes, but {len(argument)} were given."
                )
            pieces.append(bytes(argument))
        elif argument is None and parameter.size == 8:
            pieces.append(bytes(8))
        elif isinstance(argument, np.generic) and argument.nbytes == parameter.size and parameter.type == "b8":
            pieces.append(argument.tobytes())  # __half and __nv_bfloat16 are structs of two bytes
        elif isinstance(argument, (int, float, np.number, np.bool_)):
            pieces.append(number_bytes(argument, parameter, name))
        else:
            raise LaunchError(
                f"{name} is a {type(argument).__name__}; pass a NumPy array, a TensorMap, a number, or bytes for a "
                "struct."
            )
    return pieces, buffers


def buffer_of(pieces, number: int) -> int:
    """The number of the buffer of an argument. Raises `LaunchError` if the argument is no array."""
    arrays = {n: getattr(piece, "array", piece) for n, piece in enumerate(pieces) if not isinstance(piece, bytes)}
    if number not in arrays:
        known = ", ".join(map(str, arrays)) or "none"
        raise LaunchError(f"uninit: argument {number!r} is not an array; these are: {known} (from 0).")
    return arrays[number]


def with_addresses(program, pieces, places: list[int]) -> bytes:
    """The bytes of all parameters. places: the offset of each buffer from GLOBAL_BASE."""
    block = bytearray(program.parameter_size)
    for piece, parameter, offset in zip(pieces, program.parameters, program.parameter_offsets, strict=True):
        if isinstance(piece, MapPiece):
            encoded = encode(piece.tensor_map, GLOBAL_BASE + places[piece.array])
            if piece.pointed_to is None:
                piece = encoded
            else:
                piece.pointed_to[1][:] = np.frombuffer(encoded, np.uint8)
                piece = piece.pointed_to[0]
        if isinstance(piece, int):
            piece = (GLOBAL_BASE + places[piece]).to_bytes(8, "little")
        block[offset : offset + parameter.size] = piece
    return bytes(block)


def _buffer(array: np.ndarray, name: str, buffers: list) -> int:
    """The number of an array's buffer; a new buffer unless another argument is the same memory."""
    same = next((n for n, (_, other) in enumerate(buffers) if _overlap(array, other, name)), None)
    if same is None:
        buffers.append((name, array))
        return len(buffers) - 1
    return same


def _tensor(argument: TensorMap, parameter, entry: str, name: str, buffers: list) -> MapPiece:
    """The piece of a tensor map. Raises `LaunchError` if it does not fit the parameter."""
    pointer = parameter.type in ("u64", "b64")
    if not pointer and (parameter.size != BYTES or parameter.align < 64):
        raise LaunchError(
            f"{name} of {entry} is a {parameter.size}-byte .{parameter.type}, not a tensor map: declare the parameter "
            "`const __grid_constant__ CUtensorMap`, a struct of 128 bytes aligned to 64, or as a pointer to one."
        )
    if argument.array is None:
        raise LaunchError(f"{name} is a tensor map without an array; make it with TensorMap.of(array, box).")
    if argument.array.nbytes < argument.span_bytes:
        raise LaunchError(
            f"{name} describes a tensor of {argument.span_bytes:,} bytes, but its array has {argument.array.nbytes:,}."
        )
    array = _buffer(argument.array, name, buffers)
    if not pointer:
        return MapPiece(argument, array, None)
    buffers.append((f"the tensor map of {name}", np.zeros(BYTES, np.uint8)))
    return MapPiece(argument, array, (len(buffers) - 1, buffers[-1][1]))


def _overlap(one: np.ndarray, other: np.ndarray, name: str) -> bool:
    """Whether two arguments are the same memory. Raises `LaunchError` if they overlap only in part."""
    begin, start = (a.__array_interface__["data"][0] for a in (one, other))
    if begin == start and one.nbytes == other.nbytes:
        return one.nbytes > 0
    if begin < start + other.nbytes and start < begin + one.nbytes:
        raise LaunchError(f"{name} overlaps another argument in part; pass the whole array, or copies.")
    return False


def number_bytes(value, parameter, name: str) -> bytes:
    """The bytes of a number, for a parameter or variable `parameter`. Raises `LaunchError` if it does not fit."""
    kind = parameter.type
    if parameter.size != NUMPY[CODES[kind]].itemsize:
        raise LaunchError(f"{name} is a struct of {parameter.size} bytes; pass bytes.")
    if kind in ("f32", "f64"):
        try:
            return np.array(value, NUMPY[CODES[kind]]).tobytes()
        except OverflowError:
            raise LaunchError(f"{name} is a .{kind} number, and one this large does not fit in it.") from None
    if kind in ("f16", "bf16") or (isinstance(value, (float, np.floating)) and not float(value).is_integer()):
        if kind == "f16" or isinstance(value, np.float16):
            return np.float16(value).tobytes()
        raise LaunchError(f"{name} is a .{kind} number, but {value!r} is not a whole number.")
    size = parameter.size
    whole = int(value)
    if not -(1 << 8 * size - 1) <= whole < 1 << 8 * size:
        raise LaunchError(f"{name} is a .{kind} number of {size} bytes, and {whole:,} does not fit in it.")
    return (whole & ((1 << 8 * size) - 1)).to_bytes(size, "little")
