"""The constants of every GPU: complete, each with its source, and such that the laws of hardware hold."""

import re
from pathlib import Path

import pytest

import gemm_lab as lab
from gpu_simulator import timing
from gpu_simulator.errors import LabError
from gpu_simulator.hardware import data_sheets
from gpu_simulator.timing import constants_file
from gpu_simulator.timing.constants_file import constants, known

SOURCES = ("measured", "published", "derived", "fitted", "assumed")


def asked_names():
    """The names that the files of the model write between the brackets of a `Constants`."""
    text = "".join(path.read_text() for path in Path(timing.__file__).parent.glob("*.py"))
    return {name for inside in re.findall(r"\bof\[([^\]]+)\]", text) for name in re.findall(r'(?<!f)"(\w+)"', inside)}


def test_every_gpu_with_a_data_sheet_has_constants():
    assert set(known()) == set(data_sheets.GPUS)


@pytest.mark.parametrize("key", known())
def test_the_constants_of_a_gpu_are_complete(key):
    blackwell = data_sheets.gpu(key).arch == "sm_100a"
    wanted = {name for name in asked_names() if blackwell or not name.startswith(("tcgen05", "tmem"))}
    assert len(wanted) > 40
    assert wanted | {f"clock_{kind}_mhz" for kind in ("fp32", "mma", "wgmma")} <= set(constants(key).values)


@pytest.mark.parametrize("key", known())
def test_every_constant_has_a_source(key):
    for name, source in constants(key).sources.items():
        assert source.startswith(SOURCES), name
        assert key in ("h200", "h100") or not source.startswith("measured"), name


def test_what_a_file_does_not_name_counts_as_assumed():
    assert constants("t4")["barrier_latency"] == constants("h200")["barrier_latency"]
    assert constants("t4").sources["barrier_latency"] == "assumed: as on the H200"
    assert constants("t4").sources["l2_latency"].startswith("published")


def test_a_file_based_on_an_unknown_gpu_is_refused(tmp_path, monkeypatch):
    (tmp_path / "k80.csv").write_text("name,value,unit,source\nbased_on,g80,,\n")
    monkeypatch.setattr(constants_file, "FOLDER", tmp_path)
    with pytest.raises(LabError, match="no constants of 'g80'"):
        constants("k80")


def test_a_name_that_no_file_has_is_a_sentence():
    with pytest.raises(LabError, match=r"t4\.csv has no tcgen05_latency"):
        constants("t4")["tcgen05_latency"]


@pytest.mark.parametrize("key", known())
def test_peaks_are_those_of_the_data_sheet(key):
    """Derived rates of the tensor cores and FP32 units, times SMs and clock, give the data sheet's TFLOPS."""
    of, sheet = constants(key), data_sheets.gpu(key)
    if key in ("t4", "a100", "rtx5090"):
        shape, flop = ("1688", 2048) if key == "t4" else ("16816", 4096)
        rate = 4 * flop / of[f"hmma_{shape}_cycles"]
        assert rate * sheet.sms * sheet.boost_mhz / 1e6 == pytest.approx(sheet.peak("f16", "f32"), rel=0.01)
    clock = sheet.boost_mhz or of["clock_fp32_mhz"]
    assert 4 * 64 / of["ffma_cycles"] * sheet.sms * clock / 1e6 == pytest.approx(sheet.fp32_tflops, rel=0.04)


# ---- Laws ----


def seconds(name, key, n=2048):
    return lab.kernel(name).predict(on=key, n=n).prediction.seconds


def test_a_t4_is_slower_than_an_h200():
    for name in ("t4/03_swizzled", "simt/06_wide_loads", "first_kernels/02_ldmatrix"):
        assert seconds(name, "t4") > 3 * seconds(name, "h200")


@pytest.mark.parametrize("key", known())
def test_the_swizzle_helps_on_every_gpu(key):
    ladder, before, after = ("t4", "02_vectorized_copy", "03_swizzled") if key == "t4" else (
        "ampere", "02_cp_async", "04_swizzled")  # fmt: skip
    assert seconds(f"{ladder}/{before}", key) > 1.05 * seconds(f"{ladder}/{after}", key)


@pytest.mark.parametrize("key", known())
def test_no_prediction_is_above_the_peak(key):
    sheet = data_sheets.gpu(key)
    name = "t4/06_double_buffered" if key == "t4" else "ampere/10_steady_addresses"
    found = lab.kernel(name).predict(on=key, n=4096)
    assert 0 < found.tflops < sheet.peak("f16" if key == "t4" else "bf16", "f32")
