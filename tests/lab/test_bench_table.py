"""The table of a benchmark: its columns follow what was timed."""

from types import SimpleNamespace

import pytest

import gemm_lab as lab
from gemm_lab.lab.ladder import Bench
from gemm_results.errors import LabError

CONDITIONS = {
    "ladder": "t4", "regime": "burst", "rounds": 9, "sm_clock_mhz": 1000.0, "power_w": 70.0, "gpu": "Tesla T4",
    "driver": "580.1", "cuda": "13.0", "commit": "abc1234", "date": "2026-01-02", "samples_ms": (),
}  # fmt: skip


def row(kernel, n, tflops, **more):
    return SimpleNamespace(
        kernel=kernel, n=n, tflops=tflops, ratio_cublas=tflops / 50, ratio_cublaslt=None, **CONDITIONS, **more
    )


def table(rows):
    first, *body = repr(Bench(lab.ladder("t4"), rows)).splitlines()
    return first, {line.split()[0]: line.split()[1:] for line in body[:-1]}


def test_speeds_are_divided_by_cutlass_at_the_sizes_where_it_was_timed():
    rows = [row(name, n, speed) for n in (512, 1024) for name, speed in (("t4/03_swizzled", 30.0), ("cublas", 50.0))]
    head, _ = table(rows)
    assert "CUTLASS" not in head
    head, body = table([*rows, row("cutlass_sm75", 1024, 40.0)])
    assert "÷ CUTLASS at 1024" in head and "÷ CUTLASS at 512" not in head
    assert body["t4/03_swizzled"] == ["30.0", "30.0", "60.0", "60.0", "0.750"]
    assert body["cublas"][-1] == "1.250" and body["cutlass_sm75"][-1] == "1.000"
    assert "÷ CUTLASS at 1024" in Bench(lab.ladder("t4"), [*rows, row("cutlass_sm75", 1024, 40.0)])._repr_html_()


def test_of_two_cutlass_baselines_the_faster_is_the_measure():
    rows = [row("t4/03_swizzled", 512, 30.0), row("cutlass_sm75", 512, 20.0), row("cutlass_sm80", 512, 15.0)]
    assert table(rows)[1]["t4/03_swizzled"][-1] == "1.500"


def test_without_cublas_there_is_no_column_of_it():
    rows = [row("hopper_fp8/02_promoted", 512, 30.0), row("cublaslt_fp8", 512, 40.0)]
    for each in rows:
        each.ratio_cublas, each.ratio_cublaslt = None, each.tflops / 40
    head, body = table(rows)
    assert "cuBLAS at" not in head and "% of cuBLASLt’s best at 512" in head
    assert body["hopper_fp8/02_promoted"] == ["30.0", "75.0"]


def test_a_plot_of_the_first_rungs():
    bench = lab.ladder("simt").recorded([4096])
    words = [item.get_text().replace("\n", "_") for item in bench.up_to("simt/02").plot().axes[0].get_xticklabels()]
    assert words == ["01_naive", "02_coalesced"]
    recorded = {row.kernel for row in bench.rows} & {kernel.name for kernel in lab.ladder("simt")}
    assert len(bench.plot().axes[0].get_xticklabels()) == len(recorded) > 2
    with pytest.raises(LabError, match="simt/09"):
        bench.up_to("simt/09")
