"""FP6, FP4 and ue8m0 against ml_dtypes, and the conversions of NVIDIA's headers that quantise blocks."""

import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.arithmetic.fp8 import decoded, from_fp8, from_ue8m0, to_fp8, to_ue8m0

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed: pip install 'gpu_simulator[test]'")

HEAD = 'extern "C" __global__ void kernel'
DTYPES = {"e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn, "e2m1": ml_dtypes.float4_e2m1fn}
LARGEST = {"e2m3": 7.5, "e3m2": 28, "e2m1": 6}
SPECIAL = np.array([np.inf, -np.inf, np.nan, -np.nan, 1e30, -1e-30, 0, -0.0, 6, 4, 5, 0.25, -0.25, 0.75], np.float32)


def reference(x, kind):
    """Codes by ml_dtypes, of numbers that are cut before; NaN becomes the largest number."""
    x = np.where(np.isnan(x), LARGEST[kind], np.clip(x, -LARGEST[kind], LARGEST[kind]))
    return x.astype(DTYPES[kind]).view(np.uint8) & np.uint8(len(decoded(kind)) - 1)


@pytest.mark.parametrize("kind", DTYPES)
def test_codes_and_rounding(kind, rng):
    codes = np.arange(len(decoded(kind)), dtype=np.uint8)
    assert np.array_equal(decoded(kind), codes.view(DTYPES[kind]).astype(np.float64))
    assert np.array_equal(from_fp8(codes, kind, True), np.maximum(from_fp8(codes, kind, False), 0))
    finite = np.unique(decoded(kind))
    ties = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)
    x = np.concatenate([ties, np.nextafter(ties, np.float32(9)), np.nextafter(ties, np.float32(-9)), SPECIAL,
                        rng.standard_normal(5000).astype(np.float32) * 4])  # fmt: skip
    assert np.array_equal(to_fp8(x, kind, False), reference(x, kind))
    assert np.array_equal(to_fp8(x, kind, True), np.where((x > 0) | np.isnan(x), reference(x, kind), 0))


def test_ue8m0(rng):
    codes = np.arange(256, dtype=np.uint8)
    values = (from_ue8m0(codes).astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(values, codes.view(ml_dtypes.float8_e8m0fnu).astype(np.float32), equal_nan=True)
    bits = np.arange(65536, dtype=np.uint16)
    with np.errstate(all="ignore"):
        size = np.abs((bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64))
        exact = np.log2(np.where(size > 0, size, 2.0**-127)) + 127
    for upwards, rounded in ((False, np.floor(exact)), (True, np.ceil(exact))):
        due = np.where(np.isnan(size), 255, np.clip(rounded, 0, 254))
        assert np.array_equal(to_ue8m0(bits, upwards, True), due)
        assert np.array_equal(to_ue8m0(bits, upwards, False), np.where(np.isnan(size), 255, np.clip(rounded, 0, 255)))


def test_a_quantiser_of_blocks(cuda, rng):
    """NVFP4 and MXFP8 as public kernels do it: a scale a block, and the numbers divided by it in pairs."""
    source = """#include <cuda_fp4.h>
    #include <cuda_fp6.h>
    #include <cuda_fp8.h>
    """ + HEAD + """(const float2* in, unsigned char* four, unsigned short* six, unsigned char* scale, float2* back) {
      int t = threadIdx.x;
      float2 x = in[t];
      four[t] = __nv_cvt_float2_to_fp4x2(x, __NV_E2M1, cudaRoundNearest);
      six[t] = __nv_cvt_float2_to_fp6x2(x, __NV_E3M2, cudaRoundNearest);
      scale[t] = __nv_cvt_float_to_e8m0(x.x, __NV_SATFINITE, cudaRoundPosInf);
      __half2_raw wide = __nv_cvt_fp4x2_to_halfraw2(four[t], __NV_E2M1);
      back[t] = make_float2(__half2float(__half(__half_raw{wide.x})), __half2float(__half(__half_raw{wide.y})));
    }"""  # fmt: skip
    x = np.concatenate([SPECIAL, rng.standard_normal(50).astype(np.float32) * 3]).reshape(32, 2)
    four, six, scale = np.zeros(32, np.uint8), np.zeros(32, np.uint16), np.zeros(32, np.uint8)
    back = np.zeros_like(x)
    cuda(source, x, four, six, scale, back, arch="sm_100a")
    low, high = reference(x, "e2m1").T
    assert np.array_equal(four, high << 4 | low)
    assert np.array_equal(six.view(np.uint8).reshape(32, 2), reference(x, "e3m2"))
    assert np.array_equal(back, decoded("e2m1")[np.stack([low, high], 1)])
    finite = np.isfinite(x[:, 0])
    due = (2.0 ** (scale.astype(np.float64) - 127))[finite]
    size = np.maximum(np.abs(x[finite, 0].astype(np.float64)), 2.0**-127)
    assert ((size <= due * (1 + 2.0**-8)) & (due < 2 * size)).all() and scale[~finite].tolist() == [254, 255][
        : (~finite).sum()
    ]


@pytest.mark.parametrize(
    "opcode", ["cvt.rn.ue8m0x2.f32 %h", "cvt.rn.e2m3x2.f32 %h", "cvt.rn.satfinite.e2m1x2.f16x2 %b"]
)
def test_forms_that_are_left_out(opcode):
    ptx = (
        ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry kernel() {\n.reg .b16 %h;\n.reg .b8 %b;\n"
        f".reg .f32 %f;\n{opcode}, %f, %f;\nret;\n}}\n"
    )
    with pytest.raises(gpu_simulator.UnsupportedInstruction, match="PTX line 8"):
        gpu_simulator.launch(ptx, "kernel", 1, 32, [])
