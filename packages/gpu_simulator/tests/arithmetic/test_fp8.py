"""FP8 conversions against ml_dtypes: every code, every float16, and ties, overflows and NaN of float32."""

import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.arithmetic.fp8 import decoded, from_fp8, to_fp8

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed: pip install 'gpu_simulator[test]'")

HEAD = 'extern "C" __global__ void kernel'
DTYPES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
LARGEST = {"e4m3": 448, "e5m2": 57344}


def reference(x, kind, relu=False):
    """Codes by ml_dtypes, which does not saturate: large numbers are cut before."""
    x = np.maximum(x, np.where(np.isnan(x), x, 0)) if relu else x
    x = np.where(relu & (x == 0), np.abs(x), x)
    codes = np.clip(x, -LARGEST[kind], LARGEST[kind]).astype(DTYPES[kind]).view(np.uint8)
    return np.where(np.isnan(x), 0x7F, codes).astype(np.uint8)


@pytest.mark.parametrize("kind", DTYPES)
def test_every_code(kind):
    codes = np.arange(256, dtype=np.uint8)
    expected = codes.view(DTYPES[kind]).astype(np.float64)
    assert np.array_equal(decoded(kind), expected, equal_nan=True)
    got = from_fp8(codes, kind, False)
    assert np.array_equal(got.astype(np.float64), expected, equal_nan=True)
    assert np.array_equal(np.signbit(got)[~np.isnan(expected)], np.signbit(expected)[~np.isnan(expected)])
    positive = np.where(np.isnan(expected), expected, np.maximum(expected, 0))
    assert np.array_equal(from_fp8(codes, kind, True).astype(np.float64), positive, equal_nan=True)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("kind", DTYPES)
def test_every_float16(kind, relu):
    with np.errstate(all="ignore"):
        x = np.arange(65536, dtype=np.uint16).view(np.float16)
        assert np.array_equal(to_fp8(x, kind, relu), reference(x.astype(np.float32), kind, relu))


@pytest.mark.parametrize("kind", DTYPES)
def test_float32_is_rounded_once(kind):
    with np.errstate(all="ignore"):
        finite = decoded(kind)[np.isfinite(decoded(kind))]
        ordered = np.unique(finite)
        ties = ((ordered[1:] + ordered[:-1]) / 2).astype(np.float32)
        x = np.concatenate([ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf)),
                            np.random.default_rng(1).integers(0, 1 << 32, 20000, np.uint32).view(np.float32)])  # fmt: skip
        assert np.array_equal(to_fp8(x, kind, False), reference(x, kind))
        twice = reference(x.astype(np.float16).astype(np.float32), kind)
        assert not np.array_equal(twice, reference(x, kind)), "rounding to float16 on the way would be noticed"
        huge = np.array([np.inf, -np.inf, 1e30, -1e30, np.nan, -np.nan], np.float32)
        largest = {"e4m3": 0x7E, "e5m2": 0x7B}[kind]
        assert to_fp8(huge, kind, False).tolist() == [largest, largest | 0x80] * 2 + [0x7F, 0x7F]


def test_the_conversions_of_cuda_fp8(cuda):
    source = (
        "#include <cuda_fp8.h>\n"
        + HEAD
        + """(const float2* in, unsigned short* codes, float2* out) {
      __nv_fp8x2_e4m3 pair(in[threadIdx.x]);
      codes[threadIdx.x] = pair.__x;
      out[threadIdx.x] = (float2)pair;
    }"""
    )
    a = (np.random.default_rng(4).standard_normal((64, 2)) * 100).astype(np.float32)
    codes, out = np.zeros(64, np.uint16), np.zeros_like(a)
    cuda(source, a, codes, out, block=64, arch="sm_90")
    expected = reference(a, "e4m3")
    assert np.array_equal(codes.view(np.uint8).reshape(64, 2), expected)
    assert np.array_equal(out, expected.view(DTYPES["e4m3"]).astype(np.float32))


def test_a_form_that_does_not_exist_is_refused():
    ptx = (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel() {\n.reg .b16 %h;\n.reg .f32 %f;\n"
        "cvt.rn.e4m3x2.f32 %h, %f, %f;\nret;\n}\n"
    )
    with pytest.raises(gpu_simulator.UnsupportedInstruction, match="PTX line 7.*satfinite"):
        gpu_simulator.launch(ptx, "kernel", 1, 32, [])
