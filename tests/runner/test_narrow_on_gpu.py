"""Narrow wgmma on a GPU: the rungs of kernels/decode and the third stone of notebook 11b, at every width they have."""

import pytest

import gemm_lab as lab
import gpu_runner as device
from gemm_lab.lab.measuring import check_kernel
from gemm_lab_lessons.ch11.stones import SHAPE, stone
from gpu_simulator.hardware import data_sheets as hardware

PRESENT = hardware.detect()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.available(), reason=device.why_not() or "a GPU"),
    pytest.mark.skipif(PRESENT is None or PRESENT.arch != "sm_90a", reason="wgmma exists on sm_90a only"),
]
SIZES = [(40, 136, 328), (64, 4096, 4096)]
WIDTHS = (16, 24, 32, 64)


def is_right(kernel, size):
    return all(verdict.passed for verdict in check_kernel(kernel, kernel.compile("sm_90a"), *size))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rung", ["01_one_tile", "02_split_k", "03_cluster"])
def test_rungs_before_wgmma(rung, size):
    assert is_right(lab.kernel(f"decode/{rung}"), size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_a_on_the_narrow_side(width, size):
    kernel = lab.kernel("decode/04")(BLOCK_M=width)
    assert is_right(kernel, size)
    stays = kernel.source.replace("tile_b + k * 2 + ni * 512, tile_a + k * 2", "tile_b + k * 2 + ni * 512, tile_a")
    assert stays != kernel.source and not is_right(kernel.rewrite(stays), size)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_third_stone(width):
    borrowed = lab.kernel("hopper/02", BLOCK_M=64, BLOCK_N=width)
    assert is_right(borrowed.rewrite(stone(3).text), SHAPE)
