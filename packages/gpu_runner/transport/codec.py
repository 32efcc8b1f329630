"""Encodes the messages between a student's machine and a GPU server: data only, nothing that could be executed.

A message consists of eight bytes with the length of its JSON text, the text, and then the bytes of the arrays:

    {"value": …, "arrays": [["f32", [64, 64]], ["bytes", [120]]]}

In `value`, a JSON object has one key, which says what it represents: "tuple", "dict" (a list of pairs), "float" (inf
and nan), "array" and "bytes" (an index into `arrays`), "scalar" (a NumPy number), or "object" (a registered type and
its fields). Everything else raises `BadMessage`: other names, other element types, fields that the type does not have
or that have another type, and arrays whose shape does not match their bytes. Nothing that a message names is imported.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_runner.faults import RunnerError
from gpu_runner.transport.field_types import fitted
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.number_types import dtype_of, name_of
from gpu_simulator.hardware.tensor_map import TensorMap

MOST_TEXT_BYTES, MOST_DEPTH, MOST_DIGITS = 64 << 20, 40, 40
ALIGN = 64  # of the first byte of each array
HALF_CHARACTER = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")  # a surrogate, which UTF-8 cannot encode
SMALL_FLOATS = ("e4m3", "e5m2", "float8_e8m0fnu", "float4_e2m1fn")
DTYPES = frozenset({
    "f16", "bf16", "f32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
    *SMALL_FLOATS,
})  # fmt: skip


class BadMessage(RunnerError):
    """Bytes that are not a message, or a message with something in it that is not allowed."""


@dataclass(frozen=True)
class Known:
    """A type that may be sent: its fields with their type hints, and what makes an object of them."""

    kind: type
    fields: Mapping[str, Any]
    make: Callable[..., Any]


_known: dict[str, Known] = {}
_names: dict[type, str] = {}


def register(kind: type, fields: Mapping[str, Any], make: Callable[..., Any] | None = None) -> None:
    """Allow objects of `kind` to be sent, with exactly these fields. `make` takes them by name (default: the type)."""
    _known[kind.__name__], _names[kind] = Known(kind, fields, make or kind), kind.__name__


register(TensorMap, {
    "element": str, "sizes": tuple[int, ...], "strides": tuple[int, ...], "box": tuple[int, ...],
    "element_strides": tuple[int, ...], "swizzle": int, "l2_promotion": int, "fill": str, "array": np.ndarray | None,
})  # fmt: skip


# ---- Writing ----


def encoded(message: Any) -> list[bytes | memoryview]:
    """A message as parts, to be joined or sent one by one. Raises `BadMessage` for a value that cannot be sent."""
    arrays: list[tuple[str, tuple[int, ...], bytes | memoryview]] = []
    places: dict[int, int] = {}

    def add(held: Any, name: str, shape: tuple[int, ...], data: bytes | memoryview) -> int:
        if id(held) not in places:
            places[id(held)] = len(arrays)
            arrays.append((name, shape, data))
        return places[id(held)]

    def take(value: Any) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, np.ndarray):
            flat = np.ascontiguousarray(value)
            name = _dtype_name(flat.dtype)
            return {"array": add(value, name, value.shape, memoryview(flat.reshape(-1).view(np.uint8)))}
        if isinstance(value, np.generic):
            return {"scalar": [_dtype_name(value.dtype), np.array(value).reshape(1).view(np.uint8).tolist()]}
        if isinstance(value, int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {"bytes": add(value, "bytes", (len(value),), bytes(value))}
        if isinstance(value, dict):
            return {"dict": [[take(key), take(item)] for key, item in value.items()]}
        if isinstance(value, list):
            return [take(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [take(item) for item in value]}
        name = _names.get(type(value))
        if name is None:
            raise BadMessage(f"A value of type {type(value).__name__} cannot be sent.")
        return {"object": [name, {field: take(getattr(value, field)) for field in _known[name].fields}]}

    whole = {"value": take(message), "arrays": [[name, list(shape)] for name, shape, _ in arrays]}
    try:
        text = json.dumps(whole, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"This cannot be sent: {_short(error)}") from None
    parts: list[bytes | memoryview] = [len(text).to_bytes(8, "little") + text + _filling(8 + len(text))]
    for _, _, data in arrays:
        parts += [data, _filling(len(data))]
    return parts


def _dtype_name(dtype: np.dtype) -> str:
    name = name_of(dtype)
    if name not in DTYPES:
        raise BadMessage(f"An array of {dtype} cannot be sent; its elements have to be numbers.")
    return name


def _filling(length: int) -> bytes:
    return bytes(-length % ALIGN)


# ---- Reading ----


def decoded(data: bytearray) -> Any:
    """The message in `data`; its arrays are writable views of `data`. Raises `BadMessage`, and no other error."""
    try:
        return _Reader(data).message()
    except BadMessage:
        raise
    except RecursionError:
        raise BadMessage("The message is nested too deeply.") from None
    except (ValueError, TypeError, LookupError, OverflowError, MemoryError, SimulatorError) as error:
        raise BadMessage(f"The message cannot be read: {_short(error)}") from None


class _Reader:
    def __init__(self, data: bytearray) -> None:
        self.data, self.size = data, int.from_bytes(data[:8], "little")
        if len(data) < 8 or not 0 < self.size <= min(MOST_TEXT_BYTES, len(data) - 8):
            raise BadMessage("The message is cut off, or it is no message of gemm_lab.")

    def message(self) -> Any:
        text = self.data[8 : 8 + self.size].decode("utf-8")
        if HALF_CHARACTER.search(text):
            raise BadMessage("The message has text that is no text.")
        whole = json.loads(text, parse_int=_whole_number, parse_constant=_no_constant)
        if not isinstance(whole, dict) or set(whole) != {"value", "arrays"} or not isinstance(whole["arrays"], list):
            raise BadMessage("The message has another form than gemm_lab's.")
        self.arrays = self._arrays(whole["arrays"])
        return self.value(whole["value"], 0)

    def _arrays(self, described: list[Any]) -> list[np.ndarray | bytes]:
        place, found = 8 + self.size, []
        place += -place % ALIGN
        for entry in described:
            name, shape = fitted(entry, tuple[str, list[int]], "array")
            if name not in DTYPES and name != "bytes":
                raise BadMessage(f"The message has an array of {name[:40]!r}, which is no type of numbers.")
            if len(shape) > 8 or any(extent < 0 for extent in shape) or (name == "bytes" and len(shape) != 1):
                raise BadMessage("The message has an array with an impossible shape.")
            dtype = np.dtype(np.uint8) if name == "bytes" else dtype_of(name)
            size = math.prod(shape) * dtype.itemsize
            if size > len(self.data) - place:
                raise BadMessage("The message is shorter than its arrays.")
            raw = np.frombuffer(self.data, np.uint8, size, place) if size else np.empty(0, np.uint8)
            if name == "bool" and raw.size and raw.max() > 1:
                raise BadMessage("The message has truth values that are neither true nor false.")
            found.append(raw.tobytes() if name == "bytes" else raw.view(dtype).reshape(shape))
            place += size + -size % ALIGN
        if place != max(len(self.data), 8 + self.size + -(8 + self.size) % ALIGN):
            raise BadMessage("The message is longer than its arrays.")
        return found

    def value(self, found: Any, depth: int) -> Any:
        if depth > MOST_DEPTH:
            raise BadMessage("The message is nested too deeply.")
        if isinstance(found, list):
            return [self.value(item, depth + 1) for item in found]
        if not isinstance(found, dict):
            return found
        if len(found) != 1:
            raise BadMessage("The message has an object that is not one of gemm_lab's.")
        ((tag, inner),) = found.items()
        if tag == "tuple":
            return tuple(self.value(item, depth + 1) for item in fitted(inner, list, tag))
        if tag == "dict":
            return self._dict(fitted(inner, list, tag), depth)
        if tag in ("array", "bytes"):
            place = fitted(inner, int, tag)
            held = self.arrays[place] if 0 <= place < len(self.arrays) else None
            if not isinstance(held, bytes if tag == "bytes" else np.ndarray):
                raise BadMessage("The message names an array that it does not have.")
            return held
        if tag == "float" and inner in ("nan", "inf", "-inf"):
            return float(inner)
        if tag == "scalar":
            return self._scalar(inner)
        if tag == "object":
            return self._object(inner, depth)
        raise BadMessage(f"The message has something called {tag[:40]!r}, which gemm_lab does not know.")

    def _dict(self, pairs: list[Any], depth: int) -> dict[Any, Any]:
        made = {}
        for pair in pairs:
            key, item = fitted(pair, tuple[Any, Any], "dict")
            if not isinstance(key, (str, int)):
                raise BadMessage("The message has a dictionary whose keys are neither text nor numbers.")
            made[key] = self.value(item, depth + 1)
        return made

    def _scalar(self, inner: Any) -> np.generic:
        name, numbers = fitted(inner, tuple[str, list[int]], "scalar")
        if name not in DTYPES or len(numbers) != dtype_of(name).itemsize:
            raise BadMessage("The message has a number of an unknown type.")
        if name == "bool" and numbers not in ([0], [1]):
            raise BadMessage("The message has a number of an unknown type.")
        return np.frombuffer(bytes(numbers), dtype_of(name))[0]

    def _object(self, inner: Any, depth: int) -> Any:
        name, given = fitted(inner, tuple[str, dict], "object")
        known = _known.get(name)
        if known is None:
            raise BadMessage(f"The message has an object of type {name[:40]!r}, which may not be sent.")
        if set(given) != set(known.fields):
            raise BadMessage(f"The message has a {name} with other fields than {', '.join(known.fields)}.")
        return known.make(**{
            field: fitted(self.value(given[field], depth + 1), hint, f"{name}.{field}")
            for field, hint in known.fields.items()
        })  # fmt: skip


def _whole_number(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise BadMessage("The message has a number with too many digits.")
    return int(text)


def _no_constant(text: str) -> float:
    raise BadMessage(f"The message has the number {text}, which JSON does not have.")


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
