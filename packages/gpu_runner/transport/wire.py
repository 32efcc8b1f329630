"""Sends messages between a notebook and the process that owns the GPU: a pickled frame, then the arrays as raw bytes.

In the frame, arrays are replaced by their dtype name and shape, so that element types that NumPy does not have itself
(bfloat16) can be sent like any other. An array that occurs several times in a message, as an argument and in a tensor
map, is sent once and received as one array.
"""

from __future__ import annotations

import importlib
import pickle
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.number_types import dtype_of, name_of
from gpu_simulator.hardware.tensor_map import TensorMap

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

PROTOCOL = 2  # increased when the messages or their meaning change
IDLE_STATUS = 77  # exit status of a worker that ended because it was idle


@dataclass(frozen=True)
class _Slot:
    index: int
    dtype: str
    shape: tuple[int, ...]


def packed(message: Any) -> list[bytes | memoryview]:
    """A message (dicts, lists, tuples, scalars, bytes, arrays, tensor maps) as a pickled frame and raw bytes."""
    arrays: list[np.ndarray] = []
    slots: dict[int, _Slot] = {}

    def take(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if id(value) not in slots:
                array = np.asarray(value, order="C")
                arrays.append(array)
                slots[id(value)] = _Slot(len(arrays) - 1, name_of(array.dtype), array.shape)
            return slots[id(value)]
        if isinstance(value, TensorMap):
            return replace(value, array=take(value.array))
        if isinstance(value, dict):
            return {key: take(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(take(item) for item in value)
        return value

    frame = take(message)
    parts: list[bytes | memoryview] = [pickle.dumps((len(arrays), frame))]
    return parts + [memoryview(array.reshape(-1).view(np.uint8)) for array in arrays]


def unpacked(parts: Sequence[bytes | bytearray]) -> Any:
    """The message from the parts that `packed` returned; its arrays are views of these parts."""
    _, frame = pickle.loads(parts[0])
    arrays: dict[int, np.ndarray] = {}

    def give(value: Any) -> Any:
        if isinstance(value, _Slot):
            if value.index not in arrays:
                flat = np.frombuffer(parts[1 + value.index], dtype=np.uint8)
                arrays[value.index] = flat.view(dtype_of(value.dtype)).reshape(value.shape)
            return arrays[value.index]
        if isinstance(value, TensorMap):
            return replace(value, array=give(value.array))
        if isinstance(value, dict):
            return {key: give(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(give(item) for item in value)
        return value

    return give(frame)


def send(conn: Connection, message: Any) -> None:
    """Send a message (see `packed`). Raises OSError if the pipe is broken."""
    for part in packed(message):
        conn.send_bytes(part)


def receive(conn: Connection) -> Any:
    """Receive the next message. Raises EOFError if the other end is closed."""
    first = conn.recv_bytes()
    count, _ = pickle.loads(first)
    return unpacked([first, *(bytearray(conn.recv_bytes()) for _ in range(count))])


# ---- Errors ----


def described(error: BaseException) -> dict[str, Any]:
    """An exception as plain data; the lab's own errors keep their type and fields."""
    facts = {"type": type(error).__name__, "message": str(error), "module": type(error).__module__}
    if isinstance(error, SimulatorError):
        facts["fields"] = {key: value for key, value in vars(error).items() if key != "message"}
    else:
        facts["traceback"] = traceback.format_exc()
    return facts


def rebuilt(facts: dict[str, Any]) -> SimulatorError | None:
    """The error of the lab that `described` converted; None for any other exception."""
    if not facts["module"].startswith(("gpu_runner.", "gpu_simulator.")):
        return None
    try:
        kind = getattr(importlib.import_module(facts["module"]), facts["type"], None)
    except ImportError:
        return None
    if not (isinstance(kind, type) and issubclass(kind, SimulatorError)):
        return None
    error = kind.__new__(kind)
    SimulatorError.__init__(error, facts["message"])
    for key, value in facts.get("fields", {}).items():
        setattr(error, key, value)
    return error
