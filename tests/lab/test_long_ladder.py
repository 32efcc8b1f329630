"""The picture of a ladder of many kernels: lying bars, sorted, with the speeds published for its own GPU."""

from dataclasses import replace

import pytest

from gemm_lab import catalog
from gemm_lab.lab.ladder import Bench, Ladder
from gemm_results.errors import LabError
from gemm_results.results import COLUMNS, Measurement

SPEC = catalog.ladder("wmma")


def row(kernel, tflops, ladder="wmma"):
    spec = catalog.kernels().get(kernel)
    config = " ".join(f"{name}={value}" for name, value in spec.configure("h200").items()) if spec else ""
    values = dict.fromkeys(COLUMNS, "") | {"kernel": kernel, "ladder": ladder, "config": config, "regime": "sustained"}
    values |= {"tflops": tflops}
    values |= {"tflops_low": tflops - 1, "tflops_high": tflops + 1, "sm_clock_mhz": 1700.0, "power_w": 500.0}
    return Measurement(**(values | dict.fromkeys("mnk", 4096) | {"cublas_tflops": 700.0, "ceiling_tflops": 645.0}))


@pytest.fixture
def bench():
    rows = [row(spec.name, 50.0 + 10 * number) for number, spec in enumerate(SPEC.kernels)]
    return Bench(Ladder(SPEC), [*rows, row("cublas", 700.0), row(SPEC.ceiling, 645.0, "ceilings")])


def test_bars_are_sorted_and_named(bench):
    (ax,) = bench.plot(lit="unroll_bf16").axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [spec.short for spec in SPEC.kernels]  # the slowest below
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(widths) and len(widths) == len(SPEC.kernels)
    words = {text.get_text() for text in ax.texts}
    assert {"cuBLAS 700.0", "ceiling 645.0"} <= words


def test_lines_are_those_of_the_rungs_own_run(bench, monkeypatch):
    """A ceiling is shared by ladders: the row of the last run that recorded it is not the one beside these rungs."""
    from gemm_results import results

    other = replace(row(SPEC.ceiling, 530.0, "ceilings"), ceiling_tflops=530.0, commit="later")
    rungs = bench.rows[:-2]
    monkeypatch.setattr(results, "recorded", lambda gpu: [*rungs, other])
    shown = Ladder(SPEC).recorded([4096])
    assert shown.tflops(SPEC.ceiling, 4096) == 645.0 and shown.rows[-1].commit == rungs[-1].commit
    for run in (shown, Bench(Ladder(SPEC), [*rungs, other])):
        assert {"cuBLAS 700.0", "ceiling 645.0"} <= {text.get_text() for text in run.plot().axes[0].texts}


def test_marks_are_the_speeds_that_the_report_gives_at_this_size(bench):
    def marks(figure):
        (ax,) = figure.axes
        return [line.get_xdata() for line in ax.lines if line.get_marker() == "D"]

    (speeds,) = marks(bench.plot())
    assert sorted(speeds) == [25.0, 75.0, 82.2, 98.3, 101.0]
    assert marks(bench.plot(published=False)) == []


def test_labels_do_not_run_into_each_other(bench):
    figure = bench.plot()
    renderer = figure.canvas.get_renderer()
    (ax,) = figure.axes
    boxes = [text.get_window_extent(renderer) for text in ax.texts if " " in text.get_text()]
    assert len(boxes) == 2 and not boxes[0].overlaps(boxes[1])
    left = min(label.get_window_extent(renderer).x0 for label in ax.get_yticklabels())
    assert left > 0.15 * figure.dpi


def test_another_configuration_of_a_kernel_is_timed_under_a_name_of_its_own(monkeypatch):
    from gemm_lab.lab import kernel, measuring

    best = kernel("best_wmma")
    seen = []
    monkeypatch.setattr(measuring, "benchmark", lambda entries, *others, **options: seen.extend(entries))
    measuring.benchmark_kernels(
        [best(NUM_STAGES=4), best, best(SERPENTINE=0)],
        [4096],
        baselines=["cublas"],
        ceiling=None,
        regime="burst",
        rounds=1,
        progress=False,
    )
    assert [entry.label for entry in seen] == [
        "wmma/best_wmma (NUM_STAGES=4)",
        "wmma/best_wmma",
        "wmma/best_wmma (SERPENTINE=0)",
        "cublas",
    ]
    assert [entry.multiplied for entry in seen] == ["bf16"] * 3 + [None]


def test_a_ladder_with_only_its_ceiling_recorded_says_so(monkeypatch):
    from gemm_results import results

    monkeypatch.setattr(results, "recorded", lambda gpu: [row(SPEC.ceiling, 645.0, "ceilings"), row("cublas", 700.0)])
    with pytest.raises(LabError, match=f"run of the ladder wmma has been recorded, only {SPEC.ceiling}, cublas"):
        Ladder(SPEC).recorded([4096])
