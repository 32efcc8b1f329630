"""Tensor maps on their way to a kernel: the wire, the buffers, what the driver is asked, the argument's bytes."""

import ctypes
import struct
from multiprocessing import Pipe
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from fake_cupy import C_INT, POINTER, FakeGpu, view

from gemm_lab.problem import MapSpec, Problem
from gpu_runner import bindings, operations
from gpu_runner.driver import Device, Mapped
from gpu_runner.timing.verify import Inputs
from gpu_runner.transport import wire
from gpu_simulator.hardware.tensor_map import TensorMap, TensorMapError

MAP = ctypes.c_uint64 * 16
COMPILED = {
    "key": "k1", "name": "x", "arch": "sm_90", "entry": "gemm", "cubin": b"\x7fELF", "threads": 128, "dynamic_smem": 0,
}  # fmt: skip


@pytest.fixture
def asked(monkeypatch):
    """A driver that writes address, inner size and first box dimension into its opaque words; the calls it got."""
    calls = []

    def encode(kind, rank, address, sizes, strides, box, steps, interleave, swizzle, promotion, fill):
        calls.append(
            (
                kind.name,
                rank,
                [int(s) for s in sizes],
                [int(s) for s in strides],
                [int(b) for b in box],
                [int(s) for s in steps],
                int(interleave),
                int(swizzle),
                int(promotion),
                int(fill),
            )
        )
        status = 1 if rank == 5 else 0
        return status, SimpleNamespace(opaque=[address, int(sizes[0]), int(box[0]), *range(3, 16)])

    monkeypatch.setattr(bindings.driver, "cuTensorMapEncodeTiled", encode)
    return calls


def words(raw) -> tuple[int, ...]:
    return struct.unpack("<16Q", bytes(raw))


def test_an_array_travels_once_and_arrives_as_one():
    here, there = Pipe()
    array = np.arange(64 * 32, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(64, 32)
    wire.send(here, {"args": [TensorMap.of(array, (32, 8), 64), array, TensorMap.of(array, (16, 8))]})
    first, plain, second = wire.receive(there)["args"]
    assert first.array is plain is second.array and np.array_equal(plain, array) and plain.dtype == array.dtype
    assert first == TensorMap.of(array, (32, 8), 64) and second.box == (16, 8)


def test_what_the_driver_is_asked(asked):
    made = TensorMap("bf16", (256, 128, 3), (512, 65536), (32, 64, 2), (1, 2, 1), 64, 256, "nan")
    raw = bindings.encode(made, 0x1000)
    assert words(raw)[:4] == (0x1000, 256, 32, 3) and len(raw) == 128
    assert asked == [
        ("CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", 3, [256, 128, 3], [512, 65536], [32, 64, 2], [1, 2, 1], 0, 2, 3, 1)
    ]
    bindings.encode(TensorMap("u8", (64,), (), (16,), l2_promotion=0), 0)
    assert asked[-1][0].endswith("UINT8") and asked[-1][1:] == (1, [64], [16], [16], [1], 0, 0, 0, 0)
    with pytest.raises(TensorMapError, match="refused the tensor map.*CUDA error 1"):
        bindings.encode(TensorMap("u8", (64,) * 5, (64, 64, 64, 64), (16,) * 5), 0)


def test_every_element_and_swizzle_has_a_name_of_the_driver(asked):
    for element in bindings._TYPES:
        for swizzle in (0, 32, 64, 128):
            size = TensorMap(element, (64,), (), (16,)).element_bytes
            bindings.encode(TensorMap(element, (64,), (), (32 // size,), swizzle=swizzle), 0)
    assert {call[7] for call in asked} == {0, 1, 2, 3}


def launched(monkeypatch, types, body, args):
    cuda = FakeGpu({"gemm": (types, body)})
    gpu = Device(cuda)
    monkeypatch.setattr(operations, "device", lambda: gpu)
    context = SimpleNamespace(progress=lambda **facts: None, running=lambda **facts: None)
    answer = operations.launch(context, compiled=COMPILED, grid=(1, 1, 1), args=args)
    assert cuda.used == 0
    return answer["arrays"]


def test_a_launch_gives_maps_the_address_of_their_array(asked, monkeypatch):
    a, d = np.arange(64, dtype=np.float32), np.zeros((4, 16), np.float32)

    def body(map_a, plain, map_d, n):
        source, target = words(map_a)[0], words(map_d)[0]
        assert source == plain and n == 7
        view(target, 64, "f32")[:] = 2 * view(source, 64, "f32")

    given = [TensorMap.of(a, (16,)), a, TensorMap.of(d, (16, 4)), 7]
    arrays = launched(monkeypatch, (MAP, POINTER, MAP, C_INT), body, given)
    assert list(arrays) == [1, 2] and np.array_equal(arrays[2].ravel(), 2 * a) and arrays[2].shape == (4, 16)


def test_two_maps_of_one_array_share_its_buffer(asked, monkeypatch):
    a = np.arange(64, dtype=np.float32)
    seen = []
    body = lambda one, two: seen.append((words(one)[0], words(two)[0], words(two)[2]))  # noqa: E731
    arrays = launched(monkeypatch, (MAP, MAP), body, [TensorMap.of(a, (16,)), TensorMap.of(a, (32,))])
    assert list(arrays) == [0] and seen[0][0] == seen[0][1] and seen[0][2] == 32


@pytest.mark.parametrize(("layout", "sizes"), [("row", [32, 96]), ("col", [96, 32])])
def test_inputs_made_on_the_device_have_maps_too(asked, layout, sizes):
    inputs = object.__new__(Inputs)
    inputs.problem = {"dtype_in": "bf16", "dtype_out": "f16", "layout_a": layout, "layout_b": "col"}
    inputs.m, inputs.n, inputs.k, inputs.a = 96, 64, 32, "buffer"
    inputs.d = "result"
    found = inputs.argument(("map", "a", (32, 8), 64), 1.0, 0.0)
    assert isinstance(found, Mapped) and found.buffer == "buffer" and list(found.tensor_map.sizes) == sizes
    assert inputs.argument(["map", "d", (64, 8), 128], 1.0, 0.0).tensor_map.element == "f16"


def test_tokens_and_arrays_of_a_problem():
    maps = (("map_a", MapSpec("a", ("BLOCK_K", "BLOCK_M"), "2 * BLOCK_K")), ("map_d", MapSpec("d", (64, 8))))
    types = ("f16", "f32", "f16", "row", "col")
    problem = Problem("D = AB", *types, ("map_a", "b", "map_d", "m", "map_a"), "", maps)
    made = problem.configured({"BLOCK_K": 64, "BLOCK_M": 128})
    assert made.tokens == [
        ("map", "a", (64, 128), 128),
        "b",
        ("map", "d", (64, 8), 0),
        "m",
        ("map", "a", (64, 128), 128),
    ]
    assert made.arrays == ["a", "b", "d"] and not made.uses_c and hash(made) != hash(problem)
    both = Problem("D = AB", *types, ("map_a", "d", "map_d", "a"), "", maps)
    assert both.arrays == ["d", "a"]
