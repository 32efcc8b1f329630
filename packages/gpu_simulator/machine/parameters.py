"""Converts Python values to kernel parameters: arrays become buffers, numbers get the parameter's type."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_simulator.faults import LaunchError
from gpu_simulator.hardware.tensor_map import ENCODED_BYTES, TensorMap
from gpu_simulator.machine.argument_structs import MapPiece, PointedTo, buffer_of, encoded, pointed_to, struct
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.ptx.types import CODES, NUMPY


def read_arguments(program, args) -> tuple[list, list[tuple[str, np.ndarray]]]:
    """(pieces, buffers): a piece is the bytes of a parameter, the number of its buffer, or one of `argument_structs`.

    buffers: (name, array) of each. Raises `LaunchError` for arguments that do not fit the parameters.
    """
    expected, entry = program.parameters, source_name(program.entry)
    if len(args) != len(expected):
        raise LaunchError(f"{entry} takes {len(expected)} arguments, not {len(args)}.")
    pieces: list[Any] = []
    buffers: list[tuple[str, np.ndarray]] = []
    for number, (argument, parameter) in enumerate(zip(args, expected, strict=True)):
        name = f"argument {number}"
        if isinstance(argument, np.ndarray):
            if parameter.size != 8:
                raise LaunchError(
                    f"{name} of {entry} is a {parameter.size}-byte .{parameter.type}, not a pointer; "
                    "pass a number instead of an array."
                )
            pieces.append(buffer_of(argument, name, buffers))
        elif isinstance(argument, tuple) and parameter.type == "b8":
            pieces.append(_struct(argument, parameter, entry, name, buffers))
        elif isinstance(argument, list) and parameter.type in ("u64", "b64"):
            pieces.append(pointed_to(argument, name, buffers))
        elif isinstance(argument, TensorMap):
            pieces.append(_tensor(argument, parameter, entry, name, buffers))
        elif isinstance(argument, (bytes, bytearray)):
            if len(argument) != parameter.size:
                raise LaunchError(f"{name} of {entry} has {parameter.size} bytes, but {len(argument)} were given.")
            pieces.append(bytes(argument))
        elif argument is None and parameter.size == 8:
            pieces.append(bytes(8))
        elif isinstance(argument, np.generic) and argument.nbytes == parameter.size and parameter.type == "b8":
            pieces.append(argument.tobytes())  # __half and __nv_bfloat16 are structs of two bytes
        elif isinstance(argument, (int, float, np.number, np.bool_)):
            pieces.append(number_bytes(argument, parameter, name))
        else:
            raise LaunchError(
                f"{name} is a {type(argument).__name__}; pass a NumPy array, a TensorMap, a number, a tuple or bytes "
                "for a struct, or a list of arrays for an array of pointers."
            )
    return pieces, buffers


def buffer_of_argument(pieces, buffers: list[tuple[str, np.ndarray]], number: int | str) -> int:
    """The number of the buffer of an argument, or of a member, such as "0.1". Raises `LaunchError` for what is none."""
    found: dict[str, Any] = {name.removeprefix("argument "): at for at, (name, _) in enumerate(buffers)}
    found |= {str(n): piece for n, piece in enumerate(pieces) if isinstance(piece, (int, MapPiece))}
    if str(number) not in found:
        known = ", ".join(one for one in found if one[0].isdigit()) or "none"
        raise LaunchError(f"uninit: argument {number} is not an array; these are: {known} (from 0).")
    piece = found[str(number)]
    return piece.array if isinstance(piece, MapPiece) else piece


def with_addresses(program, pieces, places: list[int]) -> bytes:
    """The bytes of all parameters. places: the offset of each buffer from GLOBAL_BASE."""
    block = bytearray(program.parameter_size)
    for piece, parameter, offset in zip(pieces, program.parameters, program.parameter_offsets, strict=True):
        block[offset : offset + parameter.size] = encoded(piece, places)
    return bytes(block)


def _struct(members: tuple, parameter, entry: str, name: str, buffers: list):
    """The piece of a struct. Raises `LaunchError` if its members do not fill the parameter."""
    packed, _, words = struct(members, name, buffers)
    if packed.size != parameter.size:
        raise LaunchError(
            f"{name} of {entry} is a struct of {parameter.size} bytes, and these members make "
            f"{packed.size}: {', '.join(words) or 'none'}. A plain number has 4 bytes; np.int64(5) and np.float64(5) "
            "have 8, in a terminal i64=5 and f64=5."
        )
    return packed


def _tensor(argument: TensorMap, parameter, entry: str, name: str, buffers: list) -> MapPiece | PointedTo:
    """The piece of a tensor map. Raises `LaunchError` if it does not fit the parameter."""
    pointer = parameter.type in ("u64", "b64")
    if not pointer and (parameter.size != ENCODED_BYTES or parameter.align < 64):
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
    found = MapPiece(argument, buffer_of(argument.array, name, buffers))
    if not pointer:
        return found
    buffers.append((f"the tensor map of {name}", np.zeros(ENCODED_BYTES, np.uint8)))
    return PointedTo(found, len(buffers) - 1, buffers[-1][1])


def number_bytes(value, parameter, name: str) -> bytes:
    """The bytes of a number, for a parameter or variable `parameter`. Raises `LaunchError` if it does not fit."""
    kind = parameter.type
    if parameter.size != NUMPY[CODES[kind]].itemsize:
        raise LaunchError(
            f"{name} is a struct of {parameter.size} bytes: give its members, as a tuple (2.0, 5) or in a terminal "
            "{2.0, 5}, or its bytes."
        )
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
