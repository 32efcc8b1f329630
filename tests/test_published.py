"""results/published.csv: complete by count, values as the texts print them, percentages that agree."""

import csv
from collections import Counter

import pytest

from gemm_lab.config import data_dir
from gpu_simulator.hardware.data_sheets import GPUS

COLUMNS = [
    "kernel",
    "gpu",
    "m",
    "n",
    "k",
    "dtype",
    "tflops",
    "percent_of_peak",
    "percent_of_cublas",
    "source",
    "note",
]


@pytest.fixture(scope="module")
def rows():
    with open(data_dir("results") / "published.csv", newline="") as file:
        return list(csv.DictReader(file))


def one(rows, **wanted):
    found = [row for row in rows if all(row[key] == str(value) for key, value in wanted.items())]
    assert len(found) == 1, found
    return found[0]


def test_columns(rows):
    assert list(rows[0]) == COLUMNS
    assert all(None not in row and None not in row.values() for row in rows)


def test_every_table_of_every_text(rows):
    """RTX 5090: 10, then 4 x 3 shapes; A100: 4 x 3; H100: 6 + 6 + 2, 4 + 8 by MFU, 4 in FP16, 3 failures.

    learn-cuda: 10 kernels on a B200, 6 at each of two sizes on an RTX 5090; Tilus: 8 on a B200.
    """
    assert Counter((row["source"], row["gpu"]) for row in rows) == {
        ("t4_hgemm", "t4"): 2 + 6,
        ("ampere_rtx5090", "rtx5090"): 10 + 4 * 3,
        ("ampere_rtx5090", "a100"): 4 * 3,
        ("h100_wmma", "h100"): 6 + 6 + 2 + 4 + 8 + 4 + 3,
        ("b200_tcgen05", "b200"): 2,
        ("learn_cuda_sm100", "b200"): 10,
        ("learn_cuda_sm120", "rtx5090"): 6 * 2,
        ("tilus_b200", "b200"): 8,
    }


def test_known_values_only(rows):
    for row in rows:
        assert row["gpu"] in GPUS and row["dtype"] in ("f16", "bf16", "f32")
        assert row["m"] == row["n"] == row["k"] and row["m"] in ("", "2048", "4096", "8192")
        for column in ("tflops", "percent_of_peak", "percent_of_cublas"):
            assert row[column] == "" or 0 < float(row[column]) < 2500


def test_a_row_gives_a_figure_or_says_why_not(rows):
    for row in rows:
        if not (row["tflops"] or row["percent_of_peak"] or row["percent_of_cublas"]):
            assert "no figure" in row["note"] or "3 times" in row["note"]


@pytest.mark.parametrize(
    "wanted, column, value",
    [
        ({"kernel": "cublas", "gpu": "t4"}, "tflops", "49.439"),
        ({"kernel": "cublas_sgemm", "gpu": "t4"}, "tflops", "7.455"),
        ({"kernel": "kernel1"}, "percent_of_cublas", "8"),
        ({"kernel": "kernel5"}, "percent_of_cublas", "86.7"),
        ({"kernel": "kernel6", "m": 8192}, "percent_of_cublas", "96"),
        ({"kernel": "v4", "gpu": "rtx5090"}, "tflops", "175.30"),
        ({"kernel": "v7", "gpu": "rtx5090", "m": 8192}, "tflops", "143.03"),
        ({"kernel": "v8", "gpu": "a100", "m": 8192}, "tflops", "238.56"),
        ({"kernel": "inductor_triton", "gpu": "a100", "m": 2048}, "percent_of_peak", "30.46"),
        ({"kernel": "cublas", "gpu": "h100", "m": 8192}, "percent_of_peak", "127"),
        ({"kernel": "unroll_bf16", "m": 4096}, "tflops", "101.0"),
        ({"kernel": "wmma_opt_bf16_v10"}, "percent_of_peak", "10.6"),
        ({"kernel": "wmma_opt", "dtype": "f16"}, "percent_of_peak", "14.1"),
        ({"kernel": "pipelined", "gpu": "b200"}, "tflops", "1200"),
    ],
)
def test_spot_values(rows, wanted, column, value):
    assert one(rows, **wanted)[column] == value


def test_what_a_text_does_not_give_is_empty(rows):
    assert one(rows, kernel="synchronous")["m"] == ""
    assert one(rows, kernel="kernel2")["percent_of_cublas"] == ""
    assert one(rows, kernel="mma_bf16")["tflops"] == ""


def test_percentages_follow_from_the_peaks(rows):
    """Against 209.5 and 312 TFLOPS, and for the H100 report against the TF32 peak of 495, as noted."""
    peaks = {"rtx5090": 209.5, "a100": 312.0, "h100": 495.0}
    checked = 0
    for row in rows:
        if row["gpu"] in peaks and row["tflops"] and row["percent_of_peak"]:
            percent = 100 * float(row["tflops"]) / peaks[row["gpu"]]
            assert percent == pytest.approx(float(row["percent_of_peak"]), abs=0.31), row
            checked += 1
    assert checked == 22 + 12 + 14 + 12  # the last: learn-cuda's on an RTX 5090


def test_the_wrong_peak_is_named_in_every_h100_row(rows):
    for row in rows:
        if row["source"] == "h100_wmma" and row["percent_of_peak"]:
            assert "495 TFLOPS (TF32)" in row["note"] and "989" in row["note"]


def test_times_and_tflops_of_the_h100_table_agree(rows):
    timed = [row for row in rows if " ms" in row["note"]]
    assert len(timed) == 6
    for row in timed:
        milliseconds = float(row["note"].split(" ms")[0].split("; ")[-1])
        assert 2 * 2048**3 / milliseconds / 1e9 == pytest.approx(float(row["tflops"]), rel=0.01)
