"""The H100 report's percentages against the peak of what it multiplies, computed from its own figures."""

import pytest

from gemm_lab import catalog
from gemm_results.published import published
from gpu_simulator.hardware.data_sheets import gpu

H100 = [row for row in published() if row.source == "h100_wmma"]


def one(kernel, n):
    (row,) = [row for row in H100 if row.kernel == kernel and row.n == n]
    return row


def test_a_printed_percentage_is_halved_by_the_right_peak():
    peaks = gpu("h100").tensor_tflops
    assert peaks["bf16", "f32"] / peaks["tf32", "f32"] == pytest.approx(2, rel=0.01)
    for row in H100:
        if row.percent_of_peak is not None:
            assert row.share_of_peak == pytest.approx(row.percent_of_peak / 2, rel=0.02, abs=0.2)


def test_nothing_is_faster_than_its_peak():
    cublas = one("cublas", 8192)
    assert cublas.percent_of_peak > 100 > cublas.share_of_peak > 60
    assert all(row.share_of_peak < 100 for row in published() if row.share_of_peak is not None)


def test_a_percentage_alone_gives_a_speed():
    row = one("tuned_bf16", 2048)
    assert row.tflops is None and row.speed == pytest.approx(0.047 * gpu("h100").peak("tf32", "f32"))
    timed = one("unroll_bf16", 2048)
    assert timed.speed == timed.tflops == pytest.approx(timed.percent_of_peak / 100 * 495, rel=0.01)


def test_a_failed_kernel_has_no_figure():
    for name in ("mma_bf16", "async_bf16", "swizzle_bf16"):
        row = one(name, None)
        assert row.speed is None and row.share_of_peak is None and "error" in row.note


def test_every_kernel_of_the_report_has_a_rung():
    rungs = {spec.published for spec in catalog.ladder("wmma").kernels}
    assert {row.kernel for row in H100} - {"cublas"} == rungs - {None}
