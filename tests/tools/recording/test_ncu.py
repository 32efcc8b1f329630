"""Nsight Compute's output as text: whole, broken, from a chip that lacks metrics, from one that may not be asked."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gemm_results.errors import LabError
from gemm_results.profile import METRICS
from gemm_results.recorded_cards import read_cards
from gpu_simulator.errors import ConfigError, MissingDependency
from gpu_simulator.hardware.data_sheets import gpu
from tools.recording import ncu
from tools.recording.cards import METRIC_NAMES, read_recording
from tools.recording.counters import record_profiles
from tools.recording.plan import counters

PLAN = [{"cubin": b"", "entry": "gemm", "grid": (1, 1, 1), "threads": 32, "smem": 0, "args": []}] * 2


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A program called ncu on the PATH; the argument is what goes wrong with it."""
    program = tmp_path / "bin" / "ncu"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n" + Path(__file__).with_name("fake_ncu.py").read_text())
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return lambda mode: monkeypatch.setenv("FAKE_NCU", mode)


def test_a_recording_leaves_out_what_the_chip_does_not_know(fake, tmp_path):
    launches = ncu.record(PLAN, METRIC_NAMES, tmp_path / "raw")
    assert len(launches) == 2
    assert launches[0].number("gpu__time_duration.sum") == 12345
    assert launches[0].number("nothing.sum", "smsp__inst_executed.sum") == 1300
    assert launches[0].number("l1tex__t_sector_hit_rate.pct") is None, "n/a is not 0"
    assert launches[0].number("dram__bytes_read.sum") is None
    assert launches[0].opcodes == {"HMMA": 1024, "LDSM": 128, "IADD3": 100, "WHATISTHIS": 28}
    assert {file.name for file in (tmp_path / "raw").iterdir()} == {
        "report.ncu-rep",
        "raw.csv",
        "instances.csv",
        "source.csv",
        "ncu.log",
    }
    assert ncu.version() == "2025.3.1.0"


@pytest.mark.long
def test_a_recording_writes_cards_over_those_that_are_there(fake, tmp_path):
    where = SimpleNamespace(arch="sm_90a", gpu=gpu("h200"), present=SimpleNamespace(name="NVIDIA H200", driver=(13, 0)))
    names = ["t4/02_vectorized_copy", "t4/03_swizzled"]
    for name in names:
        record_profiles(tmp_path, [name], where, ["cards"], 512, raw=tmp_path / "raw")
    found = read_cards(tmp_path)
    assert [card.kernel for card in found] == names and found[0].n == 512
    assert found[1]["duration_ns"] == 12345 and found[1]["dram_read_bytes"] is None
    assert found[1].classes == {"tensor core": 1024, "ldmatrix": 128, "integer and address": 100, "other": 28}
    assert found[1].conditions["ncu"] == "2025.3.1.0" and len(found[1].conditions["ptx"]) == 16
    assert read_recording(tmp_path / "raw" / "t4") == found[1:], "what ncu wrote can be read again"
    record_profiles(
        tmp_path, ["t4/01_hierarchical_tiling"], SimpleNamespace(**{**vars(where), "arch": "sm_70"}), ["cards"]
    )
    assert len(read_cards(tmp_path)) == 2, "a kernel that does not exist for the GPU is left out"
    record_profiles(tmp_path, names[:1], where, ["cards"], 512, settings={"BLOCK_K": 32})
    assert [card.config["BLOCK_K"] for card in read_cards(tmp_path)] == [64, 32, 64], "beside the rung's own"
    with pytest.raises(ConfigError, match="no setting BLOCK_X"):
        record_profiles(tmp_path, names[1:], where, ["cards"], 512, settings={"BLOCK_X": 32})


def test_instances_that_do_not_add_up_are_read_from_the_source_page(fake, tmp_path):
    fake("rounded")
    assert sum(ncu.record(PLAN, METRIC_NAMES, tmp_path)[0].opcodes.values()) == 1280


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [("denied", "Run it as root"), ("silent", "wrote no report"), ("short", "1 rows for 2 launches")],
)
def test_what_goes_wrong_is_a_sentence(fake, tmp_path, mode, sentence):
    fake(mode)
    with pytest.raises(LabError, match=sentence):
        ncu.record(PLAN, METRIC_NAMES, tmp_path)
    assert "==PROF==" in (tmp_path / "ncu.log").read_text()


def test_without_ncu_it_says_where_ncu_comes_from(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(MissingDependency, match="CUDA Toolkit"):
        ncu.find()


def test_a_counter_that_the_recordings_need_is_not_made_up():
    whole = dict.fromkeys(METRICS.values(), "7")
    assert set(counters(ncu.Launch(whole | {"memory_l1_wavefronts_shared": "n/a"}, {})).values()) == {0, 7}
    del whole["smsp__inst_executed.sum"]
    with pytest.raises(LabError, match="smsp__inst_executed.sum"):
        counters(ncu.Launch(whole, {}))


def test_the_list_of_metrics_judges_only_what_it_could_hold():
    listed = {"smsp__inst_executed", "lts__t_bytes"}
    wanted = ["smsp__inst_executed.sum", "lts__t_bites.sum", "launch__waves_per_multiprocessor", "lts__t_hit.pct"]
    assert ncu.known(wanted, listed) == [wanted[0], wanted[2], wanted[3]]
    assert ncu.known(wanted, set()) == wanted, "a list that could not be read judges nothing"


@pytest.mark.parametrize(
    "line",
    [
        "==ERROR== Failed to find metric lts__t_bites.sum",
        r"==ERROR== Failed to find metric regex:^lts__t_bites\.(sum|min)$",
    ],
)
def test_a_refused_metric_is_found_in_the_log(line):
    wanted = ["lts__t_bites.sum", "smsp__inst_executed.sum", "inst_executed"]
    assert ncu.refused(f"==PROF== inst_executed\n{line}", wanted) == {"lts__t_bites.sum"}
    assert ncu.refused("==WARNING== metric lts__t_bites.sum", wanted) == set()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", 1234),
        ("12.5 (A: 1)", 12.5),
        ("0", 0),
        ("", None),
        (None, None),
        ("n/a", None),
        ("(!) nan", None),
        ("nan", None),
        ("inf", None),
        ("many", None),
    ],
)
def test_numbers(text, value):
    assert ncu.number(text) == value


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("5 (A: 2; B: 3)", {"A": 2, "B": 3}),
        ("5", {}),
        ("", {}),
        (None, {}),
        ("5 (A; B: x; C: 1)", {"C": 1}),
        ("5 (3; 2)", {}),
        ("1,001 (A.B: 1,001)", {"A.B": 1001}),
    ],
)
def test_instances(text, counts):
    assert ncu.instances(text) == counts


def test_the_source_page_under_its_labels():
    page = '"#","Address","Source","# Samples","# Instructions Executed"\n'
    page += '"0","0x0","@P0 HMMA.1688.F16 R1, R2 ;","9","1,024"\n"1","0x10","EXIT ;","0","n/a"\n'
    assert ncu.source_counts(page + '"Kernel Name","x"\n' + page) == [{"HMMA": 1024}] * 2
    assert ncu.source_counts('"Source","Samples"\n"EXIT","5"\n') == [{}]


@pytest.mark.parametrize("text", ["", "==ERROR== nothing", '"ID","x"', '"ID","x"\n"","unit"\n', '"ID"\nnot a row'])
def test_text_without_launches_has_no_rows(text):
    assert ncu.raw_rows(text) == []
    assert ncu.source_counts(text) == []


def test_a_torn_row_keeps_what_it_has():
    rows = ncu.raw_rows('noise\n"ID","a","b"\n"","u","u"\n"0","1"\n"1","2","3","4"\n')
    assert rows == [{"ID": "0", "a": "1", "b": ""}, {"ID": "1", "a": "2", "b": "3"}]


def test_a_field_longer_than_the_csv_module_allows():
    long = "; ".join(f"OP{index}: 1" for index in range(20000))
    (row,) = ncu.raw_rows(f'"ID","{ncu.PER_OPCODE}"\n"0","20000 ({long})"\n')
    assert len(ncu.instances(row[ncu.PER_OPCODE])) == 20000
