"""The constants of every GPU: complete, each with its source, and such that the laws of hardware hold."""

import re
from functools import cache
from pathlib import Path

import pytest

import gemm_lab as lab
from gpu_simulator.compiler.disassembly import SassLine
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware import data_sheets
from gpu_timing import cycles as timing
from gpu_timing.cycles import constants_file
from gpu_timing.cycles.constants_file import constants, known
from gpu_timing.cycles.machine_code import decode
from gpu_timing.cycles.pipes import tensor_cycles

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
    with pytest.raises(SimulatorError, match="no constants of 'g80'"):
        constants("k80")


def test_a_name_that_no_file_has_is_a_sentence():
    with pytest.raises(SimulatorError, match=r"t4\.csv has no tcgen05_latency"):
        constants("t4")["tcgen05_latency"]


@pytest.mark.parametrize(
    ("text", "operations", "kind", "keys"),
    [
        ("HMMA.1688.F32", 2048, ("f16", "f32"), ("t4", "a100", "rtx5090")),
        ("HMMA.1688.F16", 2048, ("f16", "f16"), ("t4", "a100", "rtx5090")),
        ("HMMA.16816.F32", 4096, ("f16", "f32"), ("a100", "rtx5090")),
        ("HMMA.16816.F32.BF16", 4096, ("bf16", "f32"), ("a100", "rtx5090")),
        ("HMMA.16816.F16", 4096, ("f16", "f16"), ("a100", "rtx5090")),
        ("HMMA.1688.F32.TF32", 2048, ("tf32", "f32"), ("a100", "rtx5090")),
        ("HMMA.1684.F32.TF32", 1024, ("tf32", "f32"), ("a100", "rtx5090")),
        ("IMMA.8816.S8.S8", 2048, ("i8", "i32"), ("t4", "a100")),
        ("IMMA.16816.S8.S8", 4096, ("i8", "i32"), ("a100", "rtx5090")),
        ("IMMA.16832.S8.S8", 8192, ("i8", "i32"), ("a100", "rtx5090")),
        ("QMMA.16832.F32.E4M3.E4M3", 8192, ("f8", "f32"), ("rtx5090",)),
        ("QMMA.16832.F16.E4M3.E4M3", 8192, ("f8", "f16"), ("rtx5090",)),
    ],
)
def test_tensor_cores_reach_the_peak_of_the_data_sheet(text, operations, kind, keys):
    """Operations of a warp's product, of four sub-partitions, over its cycles, times SMs and clock."""
    (one,) = decode((SassLine(0, f"{text} R4, R8, R12, R4 ;", "f", 1),))
    for key in keys:
        sheet = data_sheets.gpu(key)
        reached = 4 * operations / tensor_cycles(one, constants(key)) * sheet.sms * sheet.boost_mhz / 1e6
        assert reached == pytest.approx(sheet.peak(*kind), rel=0.01), key


def test_a_product_that_the_gpu_lacks_is_a_sentence():
    (one,) = decode((SassLine(0, "QMMA.16832.F32.E4M3.E4M3 R4, R8, R12, R4 ;", "f", 1),))
    with pytest.raises(SimulatorError, match="has no qmma_16832_cycles"):
        tensor_cycles(one, constants("t4"))


@pytest.mark.parametrize("key", known())
def test_fp32_units_reach_the_peak_of_the_data_sheet(key):
    of, sheet = constants(key), data_sheets.gpu(key)
    clock = sheet.boost_mhz or of["clock_fp32_mhz"]
    assert 4 * 64 / of["ffma_cycles"] * sheet.sms * clock / 1e6 == pytest.approx(sheet.fp32_tflops, rel=0.04)


# ---- Laws ----


@cache
def seconds(name, key, n=2048):
    return lab.kernel(name).predict(on=key, n=n).prediction.seconds


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", ["t4/03_swizzled", "simt/06_wide_loads"])
def test_a_t4_is_slower_than_an_h200(name):
    assert seconds(name, "t4") > 3 * seconds(name, "h200")


@pytest.mark.sampled(every=3, first=2)
@pytest.mark.parametrize("key", known())
def test_the_swizzle_helps_on_every_gpu(key):
    ladder, before, after = ("t4", "02_vectorized_copy", "03_swizzled") if key == "t4" else (
        "ampere", "02_cp_async", "04_swizzled")  # fmt: skip
    assert seconds(f"{ladder}/{before}", key) > 1.05 * seconds(f"{ladder}/{after}", key)


@pytest.mark.sampled(every=3, first=1)
@pytest.mark.parametrize("key", known())
def test_no_prediction_is_above_the_peak(key):
    sheet = data_sheets.gpu(key)
    name = "t4/06_double_buffered" if key == "t4" else "ampere/10_steady_addresses"
    found = lab.kernel(name).predict(on=key, n=4096)
    assert 0 < 2e-12 * 4096**3 / found.prediction.seconds < sheet.peak("f16" if key == "t4" else "bf16", "f32")
