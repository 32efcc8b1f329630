"""715 operations, one a kernel, against what an H200 computed: equal to the bit, except for the payload of a NaN."""

import re
from functools import lru_cache
from pathlib import Path

import compiling
import numpy as np
import pytest

import gpu_simulator
from gpu_simulator import compiler

FOLDER = Path(__file__).parent / "recorded"
FILES = ("half_operations.cu", "other_operations.cu")
# Made of many instructions by a library of the compiler, and otherwise before CUDA 13: the last bit differs.
OF_CUDA_13 = {"t1056_atan2f"}
FLOATS = {"__half": "f2", "__half2": "f2", "float": "f4", "float2": "f4", "double": "f8"}


def operations(name):
    """(kernel, type of the result) of every operation in a file."""
    return re.findall(r"^(?:ONE|ASM)\((\w+), ([\w ]+),", (FOLDER / name).read_text(), re.M)


@lru_cache(maxsize=1)
def recording():
    data = np.load(FOLDER / "one_operation.npz")
    return data["inputs"], data["results"]


def is_nan(values: np.ndarray, kind: str) -> np.ndarray:
    if kind.startswith("__nv_bfloat16"):
        return (values.view(np.uint16) & 0x7FFF) > 0x7F80
    return np.isnan(values.view(FLOATS[kind]))


def differs(got: np.ndarray, expected: np.ndarray, kind: str) -> bool:
    """got, expected: (32, 8) bytes."""
    if kind not in FLOATS and not kind.startswith("__nv_bfloat16"):
        return not np.array_equal(got, expected)
    size = 2 if kind not in FLOATS else np.dtype(FLOATS[kind]).itemsize
    both = is_nan(got, kind) & is_nan(expected, kind)
    return bool(((got.view(f"u{size}") != expected.view(f"u{size}")) & ~both).any())


@lru_cache
def modules(file):
    """One small module a kernel: parsing the whole text for each of them would take minutes."""
    made = compiling.compile((FOLDER / file).read_text(), arch="sm_90", name=file, entry=operations(file)[0][0])
    pieces = re.split(r"(?=^(?:\.visible |\.weak )*\.(?:entry|func)\b)", made.ptx, flags=re.M)
    kernels = {m[1]: piece for piece in pieces if (m := re.match(r"\.visible \.entry (\w+)", piece))}
    shared = "".join(piece for piece in pieces if piece not in set(kernels.values()))
    return {name: shared + piece for name, piece in kernels.items()}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("file", FILES)
def test_operations_equal_the_hardware(file, part):
    """part: every eighth operation of the file, from that number on."""
    inputs, results = recording()
    first = 0 if file == FILES[0] else len(operations(FILES[0]))
    wrong = []
    for number, (name, kind) in list(enumerate(operations(file)))[part::8]:
        if name in OF_CUDA_13 and compiler.version() < (13, 0):
            continue
        ptx = modules(file)[name]
        for data, expected in zip(inputs, results[first + number], strict=True):
            out = np.zeros((32, 16), np.uint8)
            gpu_simulator.launch(ptx, name, 1, 32, [data.copy(), out])
            if differs(np.ascontiguousarray(out[:, :8]), expected, kind):
                wrong.append(name)
                break
    assert wrong == []


def test_every_operation_is_recorded():
    assert sum(len(operations(file)) for file in FILES) == len(recording()[1]) == 715
