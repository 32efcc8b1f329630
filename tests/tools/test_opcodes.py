"""Every opcode of the simulator against what an H200 answered to the same one-instruction kernel."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import gpu_simulator
from gemm_lab.config import data_dir
from gemm_results.errors import LabError
from gpu_simulator.compiler import CompileError
from tools.opcodes.case import agree
from tools.opcodes.cases import all_cases, case
from tools.opcodes.coverage import UNTESTED
from tools.opcodes.recording import COMMAND, FILE, answers, compiled, difference, load, on_simulator, record

HERE = data_dir("results") / "profiles" / "h200" / FILE


@lru_cache(maxsize=1)
def families() -> dict[str, list]:
    found = {}
    for one in all_cases().values():
        found.setdefault(one.family, []).append(one)
    return found


@lru_cache(maxsize=1)
def recorded():
    return load()


# ---- The hardware's answers ----

# Cases in which the simulator is known to differ, and why. A case that agrees again must leave the table.
DIFFERENT = {
    "ex2.approx.f16x2": "hardware approximation: 2^-24.31 is 0; the simulator rounds it to the smallest number, 2^-24",
}

MOST_UNTESTED = 28  # entries of UNTESTED


def disagreements(cases) -> dict[str, str]:
    """Name → sentence, for the cases whose answers are not the recorded ones."""
    found = {one.name: difference(one, recorded(), answers(one, kernel)) for one, kernel in compiled(cases)}
    return {name: sentence for name, sentence in found.items() if sentence}


@pytest.mark.sampled(every=15)
@pytest.mark.skipif(not HERE.is_file(), reason=f"nothing was recorded yet; on a machine with an H200 type: {COMMAND}")
@pytest.mark.parametrize("family", list(families()))
def test_an_opcode_does_what_the_hardware_did(family):
    assert disagreements([one for one in families()[family] if one.name not in DIFFERENT]) == {}


@pytest.mark.skipif(not HERE.is_file(), reason=f"nothing was recorded yet; on a machine with an H200 type: {COMMAND}")
def test_every_case_was_recorded():
    missing = [name for name in all_cases() if name not in recorded().outputs]
    assert missing == [], f"{len(missing)} cases wait for a recording; on a machine with an H200: {COMMAND}"


@pytest.mark.skipif(not HERE.is_file(), reason=f"nothing was recorded yet; on a machine with an H200 type: {COMMAND}")
def test_a_known_difference_is_still_there():
    assert len(DIFFERENT) <= 15 and all(len(reason) > 20 for reason in DIFFERENT.values())
    assert set(disagreements(map(case, DIFFERENT))) == set(DIFFERENT), "a case agrees now; take it out of the table"
    assert "add.s32" not in disagreements([case("add.s32")]), "a case that agrees would be noticed"


@pytest.mark.skipif(not HERE.is_file(), reason=f"nothing was recorded yet; on a machine with an H200 type: {COMMAND}")
def test_the_recording_comes_from_a_gpu():
    about = recorded().about
    assert "H200" in about["gpu"] and about["arch"] == "sm_90a"
    assert re.fullmatch(r"\d+\.\d+", about["nvrtc"]) and re.fullmatch(r"[\d.]+", about["driver"])
    assert set(recorded().outputs) <= set(all_cases()), "a case was renamed or removed; record again"


# ---- Nothing is left out ----


def uncovered(opcodes, covered, excused):
    """Opcodes without a case and without a reason, and those with both."""
    return set(opcodes) - covered - set(excused), covered & set(excused)


def test_every_opcode_has_a_case_or_a_reason():
    assert uncovered(gpu_simulator.supported(), set(families()), UNTESTED) == (set(), set())
    assert set(families()) <= set(gpu_simulator.supported())
    assert all(len(reason) > 10 for reason in UNTESTED.values())
    assert len(UNTESTED) <= MOST_UNTESTED, (
        f"{len(UNTESTED)} opcodes of UNTESTED (tools/opcodes/coverage.py) have no case, and MOST_UNTESTED in this file "
        f"allows {MOST_UNTESTED}. Write a case for the new one, or raise the number by one."
    )
    assert len(UNTESTED) == MOST_UNTESTED, f"Some have a case now: lower MOST_UNTESTED to {len(UNTESTED)}."


def test_an_opcode_without_a_case_is_seen():
    assert uncovered(["add", "new"], {"add"}, {}) == ({"new"}, set())
    assert uncovered(["add"], {"add"}, {"add": "no reason"}) == (set(), {"add"})


def test_kernels_have_different_names():
    entries = [one.entry for one in all_cases().values()]
    assert len(set(entries)) == len(entries)


def test_inputs_begin_with_edges():
    (numbers,) = case("abs.f32").arrays()[0]
    numbers = numbers.view(np.float32)
    assert np.isnan(numbers).any() and np.isinf(numbers).any() and (np.signbit(numbers) & (numbers == 0)).any()
    assert ((numbers != 0) & (np.abs(numbers) < 2.0**-126)).any()
    assert {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF} <= set(case("neg.s32").arrays()[0][0].tolist())


def test_inputs_are_the_same_every_time():
    one = case("fma.rn.f32")
    assert one.digest() == one.digest() == replace(one).digest()


# ---- Recording and judging, with the simulator in place of the hardware ----

NAMES = [
    "add.s32",
    "ex2.approx.f32",
    "add.rn.f16x2",
    "atom.shared.add.u32 contended",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    "setp.lt.and.f32",
]


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    path, failed = record(tmp_path_factory.mktemp("opcodes"), on_simulator, NAMES)
    assert failed == {}
    return load(path)


def outputs(name):
    ((one, kernel),) = compiled([case(name)])
    return one, answers(one, kernel)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_recorded_is_read_back(stand_in, name):
    assert difference(*outputs(name)[:1], stand_in, outputs(name)[1]) == ""


def test_a_missing_recording_says_what_to_type(stand_in, tmp_path):
    assert COMMAND in difference(case("sub.s32"), stand_in, [])
    with pytest.raises(LabError, match=re.escape(COMMAND)):
        load(tmp_path / FILE)
    with pytest.raises(LabError, match="no case called add.s33"):
        record(tmp_path, on_simulator, ["add.s33"])


@pytest.mark.parametrize("change", [{"text": "add.s32 %0, %2, %1;"}, {"lanes": 96}, {"ins": ("s32", "s32:nonzero")}])
def test_a_changed_case_says_what_to_type(stand_in, change):
    one, outs = outputs("add.s32")
    assert COMMAND in difference(replace(one, **change), stand_in, outs)


@pytest.mark.parametrize("name", NAMES)
def test_one_wrong_word_is_rejected(stand_in, name):
    one, outs = outputs(name)
    outs[0] = outs[0].copy()
    finite = np.flatnonzero(outs[0].astype(np.uint32) & 0x7FFFFFFF < 0x7F000000)
    outs[0][finite[len(finite) // 2]] ^= 1 << 12
    said = difference(one, stand_in, outs)
    assert said.startswith(f"{name}: ") and "the hardware gave" in said


def test_a_failing_case_is_named_and_the_others_are_kept(tmp_path):
    def run(kernel, blocks, args):
        if kernel.entry == case("add.s32").entry:
            raise LabError("It broke.")
        return on_simulator(kernel, blocks, args)

    path, failed = record(tmp_path, run, ["add.s32", "sub.s32"])
    assert failed == {"add.s32": "It broke."}
    assert list(load(path).outputs) == ["sub.s32"]


def test_a_case_that_does_not_compile_spoils_no_other():
    good, bad = case("add.s32"), replace(case("sub.s32"), name="nonsense.s32", text="nonsense.s32 %0, %1, %2;")
    failed = {}
    assert [one.name for one, _ in compiled([good, bad], failed=failed)] == ["add.s32"]
    assert "nonsense.s32" in failed["nonsense.s32"]
    with pytest.raises(CompileError):
        list(compiled([good, bad]))


def test_nan_has_bits_and_zeros_have_signs():
    one = case("neg.f32")
    words = [np.array([0x7FC00000, 0], np.uint32)]
    assert agree(one, words, [np.array([0x7FC00000, 0], np.uint32)])[0].tolist() == [True, True]
    assert agree(one, words, [np.array([0x7FFFFFFF, 0], np.uint32)])[0].tolist() == [False, True]
    assert agree(one, words, [np.array([0x7F800000, 0x80000000], np.uint32)])[0].tolist() == [False, False]


def test_tolerance_is_for_approximations_only():
    loose = [name for name, one in all_cases().items() if one.tolerance]
    assert all(re.search(r"approx|full| normal$", name) for name in loose)
    one = case("ex2.approx.f32")
    words = np.array([1.0, 1.0, 1.0, np.inf], np.float32)
    others = words + np.array([2.0**-23, 2.0**-20, 0, 0], np.float32)
    others[3] = 3e38
    assert agree(one, [words.view(np.uint32)], [others.view(np.uint32)])[0].tolist() == [True, False, True, False]


# An implementation that mixed these up would be rejected: the inputs tell them apart.
NEIGHBOURS = [
    ("add.rn.f32", "add.rz.f32"),
    ("add.rm.f32", "add.rz.f32"),
    ("add.rn.f32", "add.rn.ftz.f32"),
    ("mul.rn.f32", "mul.rn.sat.f32"),
    ("fma.rn.f32", "fma.rp.f32"),
    ("min.f32", "min.NaN.f32"),
    ("add.rn.f64", "add.rp.f64"),
    ("fma.rz.f64", "fma.rm.f64"),
    ("cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32"),
    ("cvt.rn.satfinite.e4m3x2.f16x2", "cvt.rn.satfinite.relu.e4m3x2.f16x2"),
    ("cvt.rn.f16x2.e4m3x2", "cvt.rn.f16x2.e5m2x2"),
    ("add.rn.f16", "sub.rn.f16"),
    ("add.rn.f16x2", "add.rn.sat.f16x2"),
    ("fma.rn.bf16", "fma.rn.relu.bf16"),
    ("min.s32", "min.u32"),
    ("mul.hi.s64", "mul.hi.u64"),
    ("add.s32", "add.sat.s32"),
    ("mul24.lo.s32", "mul.lo.s32"),
    ("shr.s32", "shr.u32"),
    ("bfe.s32", "bfe.u32"),
    ("shf.l.wrap.b32", "shf.l.clamp.b32"),
    ("prmt.b32", "prmt.b32.f4e"),
    ("lop3.b32 0x96", "lop3.b32 0x69"),
    ("bfind.u32", "bfind.shiftamt.u32"),
    ("setp.lt.f32", "setp.ltu.f32"),
    ("setp.ne.f64", "setp.neu.f64"),
    ("setp.lt.s32", "setp.lt.u32"),
    ("cvt.rni.s32.f32", "cvt.rzi.s32.f32"),
    ("cvt.rn.f16.f32", "cvt.rz.f16.f32"),
    ("cvt.rn.bf16.f32", "cvt.rz.bf16.f32"),
    ("cvt.rna.tf32.f32", "cvt.rn.tf32.f32"),
    ("cvt.s16.s32", "cvt.sat.s16.s32"),
    ("sqrt.rn.f32", "sqrt.rz.f32"),
    ("shfl.sync.up.b32 width 32", "shfl.sync.up.b32 width 8"),
    ("vote.sync.all.pred", "vote.sync.uni.pred"),
    ("atom.global.min.s32", "atom.global.min.u32"),
    ("atom.global.inc.u32", "atom.global.add.u32"),
    ("ldmatrix.sync.aligned.m8n8.x2.shared.b16", "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16"),
    ("vmin4.u32.u32.u32", "vmin4.s32.s32.s32"),
    ("cp.async.ca.shared.global 16 source size", "cp.async.ca.shared.global 16 ignore-src"),
    ("dp4a.u32.u32", "dp4a.s32.s32"),
    ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 bytes", "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 bytes"),
]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("right", "wrong"), NEIGHBOURS, ids=lambda name: name)
def test_neighbours_are_told_apart(right, wrong):
    one, outs = outputs(right)
    other, _ = outputs(wrong)
    ((_, kernel),) = compiled([other])
    mixed_up = answers(replace(other, ins=one.ins), kernel)  # the wrong instruction on the right inputs
    assert not all(same.all() for same in agree(one, mixed_up, outs))


def test_the_recorder_says_when_there_is_no_gpu(tmp_path):
    command = [sys.executable, "-m", "tools.opcodes", "--record", str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}, timeout=120
    )
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and not (tmp_path / FILE).exists()
