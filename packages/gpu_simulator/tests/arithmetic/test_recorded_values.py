"""714 operations, one a kernel, against what an H200 computed: equal to the bit, except for the payload of a NaN."""

import re
from functools import lru_cache
from pathlib import Path

import compiling
import numpy as np
import pytest
from recorded_operations import HEAD, OPERATIONS

import gpu_simulator
from gpu_simulator import compiler

PARTS = 16
# Made of many instructions by a library of the compiler, and otherwise before CUDA 13: the last bit differs.
OF_CUDA_13 = {"atan2f(a, b)"}
FLOATS = {"half": "f2", "half2": "f2", "float": "f4", "float2": "f4", "double": "f8"}


@lru_cache(maxsize=1)
def recording():
    data = np.load(Path(__file__).parent / "recorded" / "one_operation.npz")
    return data["inputs"], data["results"]


def is_nan(values: np.ndarray, kind: str) -> np.ndarray:
    if kind.startswith("bfloat16"):
        return (values.view(np.uint16) & 0x7FFF) > 0x7F80
    return np.isnan(values.view(FLOATS[kind]))


def differs(got: np.ndarray, expected: np.ndarray, kind: str) -> bool:
    """got, expected: (32, 8) bytes."""
    if kind not in FLOATS and not kind.startswith("bfloat16"):
        return not np.array_equal(got, expected)
    size = 2 if kind not in FLOATS else np.dtype(FLOATS[kind]).itemsize
    both = is_nan(got, kind) & is_nan(expected, kind)
    return bool(((got.view(f"u{size}") != expected.view(f"u{size}")) & ~both).any())


@lru_cache(maxsize=1)
def modules() -> list[str]:
    """One small module an operation: parsing the whole text for each of them would take minutes."""
    source = HEAD + "".join(operation.kernel(f"k{number}") for number, operation in enumerate(OPERATIONS))
    made = compiling.compile(source, arch="sm_90", name="operations.cu", entry="k0")
    pieces = re.split(r"(?=^(?:\.visible |\.weak )*\.(?:entry|func)\b)", made.ptx, flags=re.M)
    kernels = {m[1]: piece for piece in pieces if (m := re.match(r"\.visible \.entry (\w+)", piece))}
    shared = "".join(piece for piece in pieces if piece not in set(kernels.values()))
    return [shared + kernels[f"k{number}"] for number in range(len(OPERATIONS))]


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("part", range(PARTS))
def test_operations_equal_the_hardware(part):
    """part: every sixteenth operation, from that number on."""
    inputs, results = recording()
    wrong = []
    for number in range(part, len(OPERATIONS), PARTS):
        operation = OPERATIONS[number]
        if operation.code in OF_CUDA_13 and compiler.version() < (13, 0):
            continue
        for data, expected in zip(inputs, results[number], strict=True):
            out = np.zeros((32, 16), np.uint8)
            gpu_simulator.launch(modules()[number], f"k{number}", 1, 32, [data.copy(), out])
            if differs(np.ascontiguousarray(out[:, :8]), expected, operation.result):
                wrong.append(operation)
                break
    assert wrong == []


def test_every_operation_is_recorded():
    assert len(set(OPERATIONS)) == len(recording()[1]) == 714
