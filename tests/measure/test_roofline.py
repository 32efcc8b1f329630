"""Balance points, intensities and the two back-of-the-envelope arguments of the T4 article."""

import numpy as np
import pytest

from gemm_lab_lessons.shared.tiled_matmul import closed_form, tiled_matmul
from gemm_results.errors import LabError
from gemm_results.roofline_model import (
    CUBLAS_HGEMM_T4,
    CUBLAS_SGEMM_T4,
    addition_intensity,
    attainable,
    balance,
    intensity,
    l2_argument,
    matmul_traffic,
    multiplication_intensity,
    roofline,
)
from gpu_simulator.errors import SizeError
from gpu_simulator.hardware.data_sheets import GPUS, gpu


@pytest.mark.parametrize("level, exact, printed", [("DRAM", 224.7, 224), ("L2", 38.6, 38), ("shared memory", 13.5, 13)])
def test_balance_points_of_the_t4(level, exact, printed):
    """Measured cuBLAS rate over measured bandwidths; the T4 article cuts off the decimals."""
    point = roofline(gpu("t4"), "f16", "f16", tflops=CUBLAS_HGEMM_T4).balance(level)
    assert point == pytest.approx(exact, abs=0.05)
    assert int(point) == printed


def test_ffma_needs_a_sixth_of_the_intensity():
    ffma = balance(CUBLAS_SGEMM_T4, 220)
    assert ffma == pytest.approx(33.9, abs=0.02)
    assert balance(CUBLAS_HGEMM_T4, 220) / ffma == pytest.approx(6.6, abs=0.05)


def test_attainable_has_two_regimes_that_meet_at_the_balance_point():
    point = balance(65, 220)
    assert attainable(point / 2, 65, 220) == pytest.approx(32.5)
    assert attainable(point, 65, 220) == pytest.approx(65)
    assert attainable(10 * point, 65, 220) == 65


@pytest.mark.parametrize("m, n, expected", [(256, 128, 85.33), (256, 256, 128.0), (64, 64, 32.0)])
def test_intensity_at_two_bytes(m, n, expected):
    assert intensity(m, n) == pytest.approx(expected, abs=0.005)
    assert intensity(m, n) == m * n / (m + n)
    assert intensity(m, n, bytes=4) == intensity(m, n) / 2


def test_dram_delivers_what_misses_l2():
    argument = l2_argument(256, 128)
    assert argument.intensity == pytest.approx(85.3, abs=0.05)
    assert argument.gbps == pytest.approx(3 * 220) and argument.balance == pytest.approx(65_000 / 660)
    assert not argument.enough and "memory bound" in argument.text
    assert l2_argument(256, 256).enough and not l2_argument(256, 256, hit_rate=0.5).enough


@pytest.mark.parametrize("hit_rate", [0, 0.1, 0.5, 2 / 3, 0.8, 0.9, 0.99, 1])
def test_no_memory_delivers_more_than_it_can(hit_rate):
    total = l2_argument(hit_rate=hit_rate).gbps
    assert total <= 1280 and total * (1 - hit_rate) <= 220 * (1 + 1e-9)
    assert total == pytest.approx(1280) or total * (1 - hit_rate) == pytest.approx(220), "one of them is the limit"


def test_l2_argument_without_l2_is_dram():
    assert l2_argument(hit_rate=0).balance == balance(65, 220)
    with pytest.raises(LabError, match="between 0 and 1"):
        l2_argument(hit_rate=50)


@pytest.mark.parametrize("how, tiling", [("naive", {}), ("tiled", {"block": (8, 16, 4)}), ("best", None)])
def test_matmul_traffic_is_what_the_loops_count(how, tiling):
    n = 32
    tiling = {"block": (n, n, n)} if tiling is None else tiling
    counted = tiled_matmul(np.ones((n, n), int), np.ones((n, n), int), **tiling).traffic.dram
    assert matmul_traffic(n, how, tile=(8, 16)) == counted == closed_form(n, n, n, **tiling).dram


def test_traffic_falls_with_the_tile():
    counts = [matmul_traffic(1024, "tiled", tile=t) for t in (1, 2, 16, 128, 1024)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == matmul_traffic(1024, "naive") and counts[-1] == matmul_traffic(1024, "best")


def test_multiplication_grows_and_addition_does_not():
    assert addition_intensity() == pytest.approx(1 / 6)
    assert multiplication_intensity(2048) == pytest.approx(2 * multiplication_intensity(1024))
    assert multiplication_intensity(1024) == pytest.approx(1024 / 3)


@pytest.mark.parametrize("key", GPUS)
def test_every_gpu_has_a_roofline(key):
    line = roofline(gpu(key), *next(iter(gpu(key).tensor_tflops)))
    assert line.levels[0].name == "DRAM"
    assert line.levels[0].measured == (key == "t4")
    assert line.attainable(line.balance()) == pytest.approx(line.tflops)


def test_a_bandwidth_that_nobody_measured_is_refused():
    with pytest.raises(LabError, match="no bandwidth for 'L2'; it has DRAM"):
        roofline(gpu("h100")).balance("L2")


@pytest.mark.parametrize(
    "call",
    [
        lambda: balance(65, 0),
        lambda: balance(float("nan"), 220),
        lambda: attainable(-1, 65, 220),
        lambda: intensity(0, 128),
        lambda: matmul_traffic(1024, "magic"),
        lambda: matmul_traffic(1024),
    ],
)
def test_nonsense_is_refused(call):
    with pytest.raises(LabError):
        call()


def test_a_tile_that_does_not_divide():
    with pytest.raises(SizeError):
        matmul_traffic(1000, "tiled", tile=128)
