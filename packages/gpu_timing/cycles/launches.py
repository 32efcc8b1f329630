"""The parameters of a launch as bytes, without its arrays: sizes and addresses are all that time depends on."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.tensor_map import ELEMENT_BYTES, TensorMap
from gpu_simulator.ptx.declarations import parameters_of
from gpu_timing.cycles.constant_memory import first_parameter
from gpu_timing.cycles.tracing import Launch

FIRST_ARRAY = 1 << 40  # addresses of the arrays: so far apart that no two share a line
APART = 1 << 36
_HEADER = r"\.entry\s+{}\s*\(([^)]*)\)"


def launch_of(
    compiled: Any,
    grid: tuple[int, int, int],
    args: Sequence[Any],
    cluster: tuple[int, int, int] = (1, 1, 1),
) -> Launch:
    """The `Launch` of a compiled kernel. args: as for `gpu_simulator.launch`; the contents of arrays are not read.

    Raises `SimulatorError` if the arguments do not fit the kernel's parameters.
    """
    header = re.search(_HEADER.format(re.escape(compiled.entry)), compiled.ptx)
    expected = parameters_of(re.sub(r"//.*", "", header[1])) if header else []
    if len(expected) != len(args):
        raise SimulatorError(f"{compiled.entry} takes {len(expected)} arguments, not {len(args)}.")
    block, first = bytearray(), first_parameter(compiled.arch)
    boxes: dict[int, int] = {}
    for number, (argument, parameter) in enumerate(zip(args, expected, strict=True)):
        block.extend(bytes(-(first + len(block)) % parameter.align))
        if isinstance(argument, TensorMap):
            boxes[len(block)] = int(np.prod(argument.box)) * ELEMENT_BYTES[argument.element]
        block.extend(_bytes(argument, number, parameter.size, parameter.type))
    block.extend(bytes(-len(block) % 16))
    return Launch(tuple(grid), compiled.threads, bytes(block), tuple(cluster), boxes)


def _bytes(argument: Any, number: int, size: int, kind: str) -> bytes:
    if isinstance(argument, TensorMap):
        return bytes(size)
    if isinstance(argument, np.ndarray) or argument is None:
        return struct.pack("<Q", FIRST_ARRAY + number * APART)
    if kind == "f32":
        return struct.pack("<f", argument)
    if kind == "f64":
        return struct.pack("<d", argument)
    return (int(argument) & (1 << 8 * size) - 1).to_bytes(size, "little")
