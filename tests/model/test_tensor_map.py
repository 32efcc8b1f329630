"""Tensor maps: what follows from one, and every limit of the driver said in a sentence."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from gemm_lab_lessons.ch05.tile_layout import TileLayout
from gpu_simulator.hardware.tensor_map import TensorMap, TensorMapError


def test_of_a_matrix():
    made = TensorMap.of(np.zeros((128, 256), ml_dtypes.bfloat16), (64, 32), 128)
    assert (made.element, made.sizes, made.strides, made.rank) == ("bf16", (256, 128), (512,), 2)
    assert (made.box_bytes, made.row_bytes, made.smem_bytes) == (4096, 128, 4096)
    assert made.span_bytes == made.array.nbytes
    assert made == replace(made, array=None), "two maps with the same description are equal"


def test_element_strides_divide_the_box_and_round_up():
    made = TensorMap("f32", (64, 100), (256,), (32, 25), (1, 3))
    assert made.copied == (32, 9) and made.box_bytes == 32 * 9 * 4


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_the_xor_is_that_of_the_tile_layouts(swizzle):
    made = TensorMap("u8", (1024, 64), (1024,), (swizzle, 64), swizzle=swizzle)
    layout = TileLayout(64, swizzle, "u8", layout=f"tma{swizzle}")
    rows, bytes_ = np.indices((64, swizzle))
    assert np.array_equal(made.xor(rows * made.row_pitch + bytes_), layout.address(rows, bytes_))
    assert made.smem_align == 8 * swizzle


def test_a_dimension_of_one_element_needs_no_stride():
    made = TensorMap("f16", (64, 1, 8), (0, 128), (64, 1, 8))
    assert made.span_bytes == 7 * 128 + 128
    with pytest.raises(TensorMapError, match="stride of dimension 1 .* 0 is not"):
        TensorMap("f16", (64, 2, 8), (0, 128), (64, 1, 8))


BASE = {"element": "f16", "sizes": (64, 64), "strides": (128,), "box": (64, 64)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"element": "f12"}, "no element type 'f12'"),
        ({"sizes": (), "strides": (), "box": ()}, "1 to 5 dimensions, not 0"),
        ({"sizes": (8,) * 6, "strides": (16,) * 5, "box": (8,) * 6}, "1 to 5 dimensions, not 6"),
        ({"strides": ()}, "2 dimensions has 1 strides, not 0"),
        ({"box": (64,)}, "has 2 box, not 1"),
        ({"sizes": (64, 0)}, r"1 to 2\^32 elements, not 0"),
        ({"sizes": (64, 2**32 + 1)}, r"not 4,294,967,297"),
        ({"strides": (120,)}, "multiple of 16 bytes.*120 is not; pad the rows to 128 bytes"),
        ({"strides": (2**40,)}, r"below 2\^40"),
        ({"box": (64, 257)}, "1 to 256 elements.*257 along dimension 1"),
        ({"box": (0, 64)}, "not 0 along dimension 0"),
        ({"element_strides": (1, 9)}, "Element strides are 1 to 8, not 9"),
        ({"element_strides": (2, 1)}, "innermost dimension has no element stride"),
        ({"swizzle": 96}, "no 96-byte swizzle"),
        ({"box": (12, 64)}, "24 bytes wide; its innermost dimension must be a multiple of 16"),
        ({"swizzle": 64}, "64 bytes wide, 32 elements of f16, and it is 128; copy it in several boxes"),
        ({"l2_promotion": 32}, "L2 promotion"),
        ({"fill": "one"}, "not 'one'"),
        ({"element": "u16", "fill": "nan"}, "Only floating-point tensors"),
    ],
)
def test_what_the_driver_refuses(change, words):
    TensorMap(**BASE)
    with pytest.raises(TensorMapError, match=words):
        TensorMap(**{**BASE, **change})


def test_of_an_array_that_is_none_of_tma():
    with pytest.raises(TensorMapError, match="contiguous"):
        TensorMap.of(np.zeros((64, 64), np.float32)[:, ::2], (16, 16))
    with pytest.raises(TensorMapError, match="no element type complex64"):
        TensorMap.of(np.zeros((64, 64), np.complex64), (16, 16))
    with pytest.raises(TensorMapError, match="have 4 bytes, those of f16 2"):
        TensorMap.of(np.zeros((64, 64), np.float32), (16, 16), element="f16")
    assert TensorMap.of(np.zeros((64, 64), np.float32), (16, 16), element="tf32").element == "tf32"


# ---- Where a copy may begin ----


@pytest.mark.parametrize(("element", "step"), [("u8", 16), ("bf16", 8), ("f16", 8), ("f32", 4), ("f64", 2)])
def test_a_box_begins_at_a_multiple_of_16_bytes(element, step):
    tensor_map = TensorMap(element, (1024, 64), (16384,), (16, 8))
    for storing in (False, True):
        assert not any(tensor_map.refused((x, 3), storing) for x in (0, step, 5 * step))
        assert all(
            f"multiple of {step}, such as" in tensor_map.refused((x, 3), storing)
            for x in range(-2 * step, 2 * step)
            if x % step
        )


def test_only_loads_begin_at_negative_coordinates():
    tensor_map = TensorMap("f16", (1024, 64, 4), (2048, 131072), (16, 8, 1))
    for corner in ((-8, 0, 0), (0, -1, 0), (0, 0, -3)):
        assert tensor_map.refused(corner, storing=False) == ""
        assert "is negative" in tensor_map.refused(corner, storing=True)
    assert tensor_map.refused((2000, 100, 9), storing=True) == ""
