"""Rates, ratios, rows and the results table, on samples made here."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import gemm_lab as lab
import gpu_runner as device
from gemm_lab.measure.benchmark import Entry, benchmark, best_library, library_problem
from gemm_lab.problem import Problem
from gemm_results import results
from gemm_results.errors import LabError
from gemm_results.results import COLUMNS
from gemm_results.statistics import rate, ratio
from gpu_simulator.errors import ConfigError

PROBLEM = Problem("D = AB", "bf16", "f32", "bf16", "row", "col", ("a", "b", "d", "m", "n", "k"))
COMPILED = SimpleNamespace(key="k", name="t4/x", arch="sm_90", entry="gemm", cubin=b"", threads=128, dynamic_smem=0)


def test_a_rate_is_the_median_with_quartiles():
    speed = rate([1.0, 2.0, 4.0, 4.0, 8.0], 8e9)
    assert (speed.low, speed.median, speed.high) == (2.0, 2.0, 4.0)
    with pytest.raises(LabError):
        rate([1.0, 0.0], 1.0)
    with pytest.raises(LabError):
        rate([], 1.0)


def test_a_ratio_is_taken_round_by_round():
    drift = np.linspace(1, 5, 31)  # the clock falls to a fifth during the run
    assert ratio(list(2 * drift), 1.0, list(drift), 1.0) == pytest.approx(0.5)
    rng = np.random.default_rng(0)
    noisy = drift * rng.uniform(0.99, 1.01, 31)
    assert ratio(list(noisy), 1.0, list(drift), 1.0) == pytest.approx(1.0, abs=0.01)
    assert ratio([1.0], 4.0, [1.0], 2.0) == 2.0
    with pytest.raises(LabError, match="same rounds"):
        ratio([1.0, 1.0], 1.0, [1.0], 1.0)


class FakeSession:
    """Answers as the worker would: samples of 1 ms for the kernel, 0.5 ms for cuBLAS and the ceiling."""

    def __init__(self):
        self.payloads = []

    def request(self, op, **payload):
        assert op == "benchmark"
        self.payloads.append(payload)
        times = {"kernel": 1.0, "cublas": 0.5, "ceiling": 0.5}
        reports = [
            {"label": e["label"], "check": None, "skipped": None, "samples_ms": [times[e["kind"]]] * payload["rounds"]}
            for e in payload["entries"]
        ]
        reports.append(
            {"label": "wrong", "check": {}, "skipped": "not timed: 3 elements of D are wrong", "samples_ms": []}
        )
        return {
            "entries": reports,
            "readings": [
                {"round": 0, "sm_clock_mhz": 1700.0, "power_w": 650.0},
                {"round": 1, "sm_clock_mhz": 1800.0, "power_w": 700.0},
            ],
            "regime": payload["regime"],
            "m": payload["m"],
            "n": payload["n"],
            "k": payload["k"],
            "gpu": "NVIDIA H200",
            "driver": "580.65",
            "cuda": "13.0",
        }


def entries():
    return [
        Entry("t4/x", compiled=COMPILED, grid=lambda m, n, k: (m // 128, n // 128, 1), ladder="t4"),
        Entry("cublas", "cublas"),
        Entry("ceiling/mma", "ceiling", compiled=COMPILED, grid=(132, 1, 1), flops=2e10, arguments=(1000,)),
    ]


def test_rows_have_rates_ratios_and_conditions():
    session = FakeSession()
    found = benchmark(entries(), [1024, (2048, 1024, 512)], PROBLEM, rounds=4, session=session)
    assert len(found) == 6 and len(found.raw) == 2
    row = found[0]
    assert row.tflops == pytest.approx(2 * 1024**3 / 1e9) and row.cublas_tflops == pytest.approx(2 * row.tflops)
    assert row.ratio_cublas == pytest.approx(0.5) and row.ceiling_tflops == pytest.approx(40.0)
    assert row.ratio_ceiling == pytest.approx(row.tflops / 40.0) and row.rounds == 4 and row.dtype == "bf16/f32"
    assert row.sm_clock_mhz == 1750.0 and row.samples_ms == (1.0,) * 4
    assert row.label.startswith("H200, driver 580.65, CUDA 13.0, 1,750 MHz, commit ")
    assert list(found.skipped) == ["wrong at 1024×1024×1024", "wrong at 2048×1024×512"]
    message = session.payloads[1]["entries"]
    assert message[0]["grid"] == (16, 8, 1) and message[0]["arguments"] == list(PROBLEM.arguments)
    assert message[2]["arguments"] == [1000] and message[1]["flops"] == 2 * 2048 * 1024 * 512


def test_the_tile_that_stood_for_cutlass_is_in_the_row_and_those_left_out_are_named():
    class Session(FakeSession):
        def request(self, op, **payload):
            answer = super().request(
                op, **{**payload, "entries": [{**e, "kind": "kernel"} for e in payload["entries"]]}
            )
            answer["entries"][1] |= {"config": "128x256x32 stages=4", "left_out": {"256x128x32 stages=5": "no room"}}
            return answer

    found = benchmark([entries()[0], Entry("cutlass_sm80", "cutlass_sm80")], [256], PROBLEM, session=Session())
    assert [row.config for row in found] == ["", "128x256x32 stages=4"]
    assert found.skipped["cutlass_sm80 256x128x32 stages=5 at 256×256×256"] == "no room"
    assert "cutlass_sm80 at 256×256×256" not in found.skipped


def test_without_baselines_the_ratios_are_none():
    row = benchmark(entries()[:1], [256], PROBLEM, session=FakeSession())[0]
    assert (row.cublas_tflops, row.ratio_cublas, row.ceiling_tflops, row.ratio_ceiling) == (None,) * 4


@pytest.mark.parametrize(
    "change, words",
    [
        ({"regime": "cold"}, "sustained or burst"),
        ({"entries": [Entry("x", "cublas"), Entry("x", "cublas")]}, "same label"),
        ({"entries": [Entry("x", "ceiling", compiled=COMPILED, grid=(1, 1, 1))]}, "flops"),
    ],
)
def test_mistakes_in_the_request_are_sentences(change, words):
    options = {"entries": entries(), "sizes": [256], "problem": PROBLEM, "session": FakeSession(), **change}
    with pytest.raises(ConfigError, match=words):
        benchmark(**options)


def test_a_kernel_that_hangs_while_it_is_timed_is_a_hang():
    def request(op, **payload):
        raise device.Silence(60.0, True, "")

    with pytest.raises(device.KernelHang, match="timed at 256×256×256"):
        benchmark(entries(), [256], PROBLEM, session=SimpleNamespace(request=request))


# ---- The table ----


@pytest.fixture
def rows():
    return list(benchmark(entries(), [1024], PROBLEM, rounds=3, session=FakeSession()))


def test_what_is_appended_is_read_back(rows, tmp_path):
    path = tmp_path / "measured" / "h200.csv"
    results.append(rows, path)
    back = results.read(path)
    assert {row.kernel for row in back} == {"t4/x", "cublas", "ceiling/mma"}
    row = next(row for row in back if row.kernel == "t4/x")
    assert row.tflops == pytest.approx(rows[0].tflops, rel=1e-4) and row.m == 1024
    assert path.read_text().splitlines()[0] == ",".join(COLUMNS)
    assert results.read(tmp_path / "none.csv") == []


def test_a_newer_row_replaces_the_same_kernel_regime_and_size(rows, tmp_path):
    path = tmp_path / "h200.csv"
    results.append(rows, path)
    results.append(
        [dataclasses.replace(rows[0], date="2030-01-01"), dataclasses.replace(rows[0], regime="burst")], path
    )
    mine = [row for row in results.read(path) if row.kernel == "t4/x"]
    assert len(mine) == 2 and [row.date for row in mine if row.regime == "sustained"] == ["2030-01-01"]


def test_a_cutlass_row_replaces_one_whose_tile_was_another(rows, tmp_path):
    path = tmp_path / "h200.csv"
    cutlass = [
        dataclasses.replace(rows[0], kernel="cutlass_sm75", config=tile) for tile in ("128x256x32", "256x128x32")
    ]
    kernels = [dataclasses.replace(rows[0], config=tile) for tile in ("BLOCK_M=128", "BLOCK_M=256")]
    for pair in (cutlass, kernels):
        results.append(pair[:1], path)
        results.append(pair[1:], path)
        results.append_raw(pair[:1], results.raw_path(path))
        results.append_raw(pair[1:], results.raw_path(path))
    for found in (
        [(row.kernel, row.config) for row in results.read(path)],
        [(line["kernel"], line["config"]) for line in results.read_raw(results.raw_path(path))],
    ):
        assert found == [("cutlass_sm75", "256x128x32"), ("t4/x", "BLOCK_M=128"), ("t4/x", "BLOCK_M=256")]


@pytest.mark.parametrize(
    "change",
    [
        {"driver": ""},
        {"tflops": float("nan")},
        {"power_w": float("nan")},
        {"commit": ""},
        {"ratio_cublas": None},
        {"gpu": None},
        {"ceiling_tflops": float("inf")},
    ],
)
def test_a_row_that_lacks_a_field_is_refused_and_nothing_is_written(rows, tmp_path, change):
    path = tmp_path / "h200.csv"
    with pytest.raises(LabError):
        results.append([*rows[1:], dataclasses.replace(rows[0], **change)], path)
    assert not path.exists()


NOISE = bytes(range(256)) * 4


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda text: text.replace(b"kernel,ladder", b"ladder,kernel", 1), "has the columns"),
        (lambda text: text.replace(b"580.65", b"", 1), "line 2: driver is empty"),
        (lambda text: text.replace(b",sustained,1024,", b",sustained,many,", 1), "line 2: m is 'many'"),
        (lambda text: text.replace(b",sustained,1024,", b",sustained,1e3,", 1), "line 2: m is '1e3'"),
        (lambda text: text.rstrip(b"\n") + b",extra\n", "line 4: the row has too few or too many"),
        (lambda text: text.rstrip(b"\n").rsplit(b",", 1)[0] + b"\n", "line 4: the row has too few or too many"),
        (lambda text: text[:-90], "line 4: the row has too few or too many"),
        (lambda text: _first(text, "tflops", b"nan"), "line 2: tflops is 'nan'"),
        (lambda text: _first(text, "power_w", b"-3"), "line 2: power_w is '-3'"),
        (lambda text: _first(text, "ratio_ceiling", b"inf"), "line 2: ratio_ceiling is 'inf'"),
        (lambda text: _first(text, "ratio_ceiling", b"7.5"), "line 2: ratio_ceiling is 7.5, and tflops over"),
        (lambda text: _first(text, "tflops_low", b"9999"), "line 2: tflops is .*, and its quartiles"),
        (lambda text: _first(text, "rounds", b"0"), "line 2: rounds is 0"),
        (lambda text: text + NOISE, r"line \d+: it holds bytes that are no text"),
        (lambda text: NOISE, r"line \d+: it holds bytes that are no text"),
    ],
)
def test_a_damaged_file_is_refused_with_file_and_line(rows, tmp_path, spoil, says):
    path = tmp_path / "measured" / "h200.csv"
    results.append(rows, path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(LabError, match=f"measured/h200.csv,? {says}|measured/h200.csv {says}"):
        results.read(path)


def _first(text, column, value):
    """The text of a file with this value in a column of its first row."""
    lines = text.split(b"\n")
    fields = lines[1].split(b",")
    fields[COLUMNS.index(column)] = value
    return b"\n".join([lines[0], b",".join(fields), *lines[2:]])


def test_a_run_goes_on_where_the_recorded_speeds_cannot_be_read(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "data_dir", lambda name: tmp_path / name)
    path = results.path_of("h200")
    own = {"kernel": "simt/01_naive", "config": "BLOCK_M=32 BLOCK_N=32"}
    results.append([dataclasses.replace(row, **own) for row in rows[:1]], path)
    assert "Recorded on" in repr(lab.kernel("simt/01_naive").run(64, backend="simulator"))
    path.write_bytes(_first(path.read_bytes(), "tflops", b"nan"))
    run = lab.kernel("simt/01_naive").run(64, backend="simulator")
    assert run.passed and "No recorded speed is shown: measured/h200.csv, line 2: tflops is 'nan'" in repr(run)
    assert "line 2" in run._repr_html_()


def test_files_are_named_by_the_key_of_the_gpu(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "data_dir", lambda name: tmp_path / name)
    assert results.path_of("NVIDIA H200") == tmp_path / "results" / "measured" / "h200.csv"
    assert results.recorded("t4") == []


def test_recording_chooses_the_file_of_the_gpu(rows, tmp_path):
    path = results.record(rows, folder=tmp_path)
    assert path == tmp_path / "h200.csv" and len(results.read(path)) == 3
    with pytest.raises(LabError, match="one GPU"):
        results.record([rows[0], dataclasses.replace(rows[1], gpu="Tesla T4")], folder=tmp_path)


def test_sums_of_8_bits_are_compared_with_the_kind_of_cublaslt_that_adds_alike():
    plain = dataclasses.replace(PROBLEM, dtype_in="e4m3")
    promoted = dataclasses.replace(plain, promotion=128)
    scaled = dataclasses.replace(promoted, arguments=(*plain.arguments, "scale_a", "scale_b"))
    kinds = {"cublaslt_fp8_fast": 1.0, "cublaslt_fp8": 2.0, "cublaslt_fp8_blocks": 4.0}
    assert [library_problem(kind, scaled) for kind in kinds] == [plain, promoted, scaled]
    assert library_problem("cublas", PROBLEM) is PROBLEM and best_library(PROBLEM) == "cublaslt_best"

    class Session(FakeSession):
        def request(self, op, **payload):
            answer = super().request(
                op, **{**payload, "entries": [{**e, "kind": "kernel"} for e in payload["entries"]]}
            )
            self.payloads[-1] = payload
            for report in answer["entries"]:
                report["samples_ms"] = [kinds.get(report["label"], 8.0)] * len(report["samples_ms"])
            return answer

    rungs = [
        Entry(name, compiled=COMPILED, grid=(1, 1, 1), problem=own)
        for name, own in (("01", plain), ("02", promoted), ("04", scaled))
    ]
    libraries = [Entry(kind, kind, problem=library_problem(kind, plain)) for kind in kinds]
    session = Session()
    found = benchmark([*rungs, *libraries], [256], plain, rounds=2, session=session)
    assert {row.kernel: row.ratio_cublaslt for row in found} == {
        "01": 1 / 8, "02": 2 / 8, "04": 4 / 8, **dict.fromkeys(kinds, 1.0),
    }  # fmt: skip
    sent = session.payloads[-1]
    assert sent["problem"]["scaled"] and [e["scaled"] for e in sent["entries"]] == [False, False, True] * 2
    limits = [e["limits"] for e in sent["entries"]]
    assert limits[0] > limits[1], "sums that stay in the tensor cores may be further off"
    bounds = sent["error_bounds"]
    assert bounds["cublaslt_fp8_fast"] == bounds["01"] > bounds["02"] == bounds["cublaslt_fp8"]
