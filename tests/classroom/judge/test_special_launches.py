"""The judge's launches with special values: what else differs in them, and which hazards count."""

from types import SimpleNamespace

import pytest

import gemm_lab as lab
from gemm_lab.lab.on_simulator import smallest_size
from gemm_lab.notebook.exercises import exercise, exercises, kernel_of
from gemm_lab_classroom.judge.drawn_sizes import drawn_sizes
from gemm_lab_classroom.judge.special_launches import (
    Circumstances,
    _first_hazard,
    _said,
    circumstances,
    special_inputs,
    wrong_with,
)
from gemm_lab_classroom.skeletons import solution
from gpu_simulator import Placement
from gpu_simulator.observers.hazards import Hazard

SIZES = [(128, 256, 64), (256, 256, 320), (128, 1280, 128)]


def every(name, sms, ptx, seed=7, count=10):
    answer = lab.kernel(name)
    return [circumstances(answer, SimpleNamespace(ptx=ptx), number, SIZES, seed, sms) for number in range(count)]


def test_hazards_are_looked_for_at_every_size_and_copies_are_late_at_the_last():
    found = every("ampere/07_multistage", None, "  cp.async.cg.shared.global [%r1], [%rd1], 16;")
    assert [one.hazards for one in found] == [True] * 3 + [False] * 7
    assert [one.timing for one in found] == ["early", "early", "late"] + ["early"] * 7
    found = every("simt/04_register_tiles", None, "  st.shared.f32 [%r1], %f1;")
    assert {one.timing for one in found} == {"early"}, "without asynchronous copies the timings are the same"
    assert [one.placement.crossing for one in found[:4]] == [0, 1, 2, 0] and {one.sms for one in found} == {None}


def test_copies_of_a_cluster_are_staggered():
    found = every("hopper/06_clusters", 4, "  cp.async.bulk.tensor.2d.shared::cluster [%r1], [%rd1], [%r2];")
    assert [one.timing for one in found] == ["early", "early", "late"] + ["staggered"] * 7
    assert all(one.hazards for one in found)


@pytest.mark.parametrize(("name", "sms", "others"), [
    ("b200/03_warp_specialised", 2, {1, 3, 4, 5}), ("hopper/06_clusters", 4, {2, 6, 8, 10}),
])  # fmt: skip
def test_a_persistent_kernel_gets_every_other_number_of_multiprocessors(name, sms, others):
    for seed in range(4):
        assert {one.sms for one in every(name, sms, "", seed)} == others
    assert every(name, sms, "", 3) == every(name, sms, "", 3)


def test_tensor_memory_begins_at_an_odd_multiple_of_32_columns():
    ptx = "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;"
    bases = {every("b200/03_warp_specialised", 2, ptx, seed)[0].placement.tensor_memory_base for seed in range(20)}
    assert bases == {32, 96, 160, 224}
    assert every("simt/04_register_tiles", None, "")[0].placement.tensor_memory_base == 0


def test_a_refusal_names_what_a_learner_does_not_expect():
    assert _said(Circumstances()) == _said(Circumstances(placement=Placement(crossing=1), hazards=True)) == ""
    said = _said(Circumstances(sms=1, timing="staggered", placement=Placement(tensor_memory_base=96)))
    assert "on 1 multiprocessor," in said and "column 96" in said and "second block of a cluster" in said


def test_reads_of_what_nothing_has_written_show_themselves_by_their_values():
    unread, race = Hazard("uninitialised read", "Unread.", 1), Hazard("race", "A race.", 2, 2)
    assert _first_hazard([unread, race]) == " A hazard: A race." and _first_hazard([unread]) == ""


def test_the_wide_drawn_grid_has_two_rows_of_blocks_that_use_a_stage_again():
    for task in exercises().values():
        if task.judge != "kernel":
            continue
        answer = lab.kernel(task.criteria["kernel"])
        config = answer.config
        for seed in range(1, 20):
            m, n, k = drawn_sizes(answer, task.criteria, seed)[-1]
            answer.spec.require_size(config, m, n, k)
            assert m > config.get("BLOCK_M", 1) and n >= 5 * config.get("BLOCK_N", 1)
            assert k > config.get("BLOCK_K", 1) * config.get("NUM_STAGES", 1)


CUT = "__uint_as_float(__float_as_uint({}) & 0xfffff000u)"  # the first 12 bits of a significand
ROUNDED = "__uint_as_float(__float_as_uint({}) + 0x80u & 0xffffff00u)"  # to 16 bits


@pytest.mark.parametrize(("scales", "right"), [
    ({"alpha": "alpha", "beta": "beta"}, True),
    ({"alpha": CUT.format("alpha"), "beta": "beta"}, False),
    ({"alpha": CUT.format("alpha"), "beta": CUT.format("beta")}, False),
    ({"alpha": "alpha", "beta": ROUNDED.format("beta")}, False),
], ids=["whole", "alpha", "both", "beta"])  # fmt: skip
def test_scales_need_all_their_bits(scales, right):
    text = solution("06_epilogue")
    for name, expression in scales.items():
        text = text.replace(f"{name} *", f"{expression} *")
    answer = kernel_of(exercise("06_epilogue"), text)
    compiled, size = answer.compile_as_taught(), smallest_size(answer)
    said = [
        wrong_with(answer, compiled, inputs, among, Circumstances())
        for inputs, among in special_inputs(answer, [size], 7)
        if 0 in (inputs.alpha, inputs.beta)
    ]
    assert len(said) == 2
    assert not any(said) if right else "elements are wrong" in "".join(said)
