"""How many times faster one row is than another: round by round, as both took turns."""

from types import SimpleNamespace

import pytest

import gemm_lab as lab
from gemm_lab.measure.results import path_of, recorded, with_samples
from gemm_lab.measure.statistics import times_as_fast


def row(*samples_ms, tflops=None, flops=1e12):
    median = sorted(samples_ms)[len(samples_ms) // 2]
    return SimpleNamespace(samples_ms=samples_ms, tflops=tflops or flops / median / 1e9)


def test_a_clock_that_falls_does_not_pass_for_a_gain():
    """Each round is half as fast as the one before; within every round the second kernel takes 10 % longer."""
    fast, slow = row(1, 2, 4, 8, 16), row(1.1, 2.2, 4.4, 8.8, 17.6)
    assert times_as_fast(fast, slow) == pytest.approx(1.1)


def test_it_is_the_median_of_the_rounds_and_not_of_the_medians():
    first, second = row(1, 2, 3), row(3, 3, 3)
    assert times_as_fast(first, second) == pytest.approx(1.5)
    assert times_as_fast(row(1, 4, 2), row(2, 2, 5)) == pytest.approx(2.0), "ratios 2, 0.5 and 2.5; of the medians 1"


def test_an_even_number_of_samples_that_scatter_gives_the_same():
    """The speed of a row is the median of speeds, which is not the work over the median of the times."""
    wild, flops = (1.0, 2.0, 4.0, 8.0), 8e12
    speeds = sorted(flops / ms / 1e9 for ms in wild)
    found = times_as_fast(
        row(*wild, tflops=(speeds[1] + speeds[2]) / 2), row(*wild, tflops=(speeds[1] + speeds[2]) / 2)
    )
    calm = row(2, 2, 2, 2, flops=flops)
    assert found == 1 and times_as_fast(row(*wild, tflops=(speeds[1] + speeds[2]) / 2), calm) == pytest.approx(0.75)


def test_other_amounts_of_work_count():
    assert times_as_fast(row(2, 2, 2, flops=4e12), row(1, 1, 1)) == pytest.approx(2.0)


def test_without_samples_it_is_the_ratio_of_the_medians():
    assert times_as_fast(row(1, 2, 3), SimpleNamespace(samples_ms=(), tflops=1000.0)) == pytest.approx(0.5)


def test_recorded_rows_give_the_ratio_that_was_recorded():
    """The share of cuBLAS in a row of results was taken by the benchmark itself, from all digits of the samples."""
    rows = with_samples(recorded("h200"), path_of("h200"))
    cublas = {(r.ladder, r.regime, r.n): r for r in rows if r.kernel == "cublas"}
    pairs = [
        (r, cublas[r.ladder, r.regime, r.n])
        for r in rows
        if r.ratio_cublas and (r.ladder, r.regime, r.n) in cublas and r.kernel != "cublas"
    ]
    assert len(pairs) > 200 and sum(bool(r.samples_ms) for r, _ in pairs) > 150
    for r, base in pairs:
        if r.samples_ms and base.commit == r.commit:
            assert times_as_fast(r, base) == pytest.approx(r.ratio_cublas, rel=0.004), r.kernel


def test_a_bench_says_what_its_rows_say():
    bench = lab.ladder("hopper").recorded([4096])
    for r in bench.rows:
        if r.ladder == "hopper" and r.kernel != "cublas":
            assert bench.ratio(r.kernel, "cublas", 4096) == pytest.approx(r.ratio_cublas, rel=1e-3)
            assert bench.ratio(r.kernel, bench.ladder.spec.ceiling, 4096) == r.ratio_ceiling
