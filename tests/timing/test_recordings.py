"""Recordings of a predicted SM: they agree with the model's own sums, and no unit works for two instructions at once."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.lab.actions.predicting import product_of
from gemm_lab.lab.predicted_timeline import LEAST, MOST
from gpu_simulator.errors import ConfigError, NotHere, SimulatorError
from gpu_simulator.hardware import data_sheets
from gpu_timing.cycles import whole_kernel
from gpu_timing.cycles.constants_file import constants
from gpu_timing.cycles.pipes import PIPES
from gpu_timing.cycles.recording import SHARED_UNITS, RecordedSm, Recording
from gpu_timing.cycles.stall_reasons import REASONS

KERNELS = ("ampere/04_swizzled", "hopper/08_ping_pong", "simt/06_wide_loads")
SMALL = 1024


@pytest.fixture(scope="module", params=KERNELS)
def stepped(request):
    """(model, its result, its recording) of a short run."""
    kernel, sheet = lab.kernel(request.param), data_sheets.gpu("h200")
    compiled = kernel.compile(sheet.arch)
    product = product_of(kernel, compiled, SMALL, SMALL, SMALL, sheet.sms)
    run = whole_kernel._Run(compiled, constants("h200"), sheet, product)
    sm = run._sm(run.resident, SMALL, 4 * product.k_step, RecordedSm)
    result = sm.run()
    return sm, result, Recording.of(sm, result.cycles)


def test_the_waits_add_up_to_the_stalls_of_the_model(stepped):
    _, result, recording = stepped
    totals = dict(zip(REASONS, result.stalls.sum(0), strict=True))
    assert recording.waits() == pytest.approx({name: value for name, value in totals.items() if value})


def test_windows_side_by_side_have_the_waits_of_the_whole(stepped):
    _, _, recording = stepped
    edges = np.linspace(0, recording.end, 7)
    parts = [recording.between(start, end) for start, end in pairwise(edges)]
    sums = Counter()
    for part in parts:
        sums.update(part.waits())
    assert dict(sums) == pytest.approx(recording.waits())


def test_a_sub_partition_issues_at_most_one_instruction_a_cycle(stepped):
    _, _, recording = stepped
    last = defaultdict(lambda: -1.0)
    for one in recording.issues:
        part = recording.warps[one.warp].part
        assert one.cycle >= last[part] + 1
        last[part] = one.cycle


def test_a_warp_is_in_one_state_at_a_time(stepped):
    _, _, recording = stepped
    ends = {}
    for one in recording.issues:
        assert one.start == pytest.approx(ends.get(one.warp, one.start)), "each wait begins behind the last issue"
        ends[one.warp] = one.cycle + 1


def test_no_unit_works_for_two_instructions_at_once(stepped):
    _, _, recording = stepped
    by_unit = defaultdict(list)
    for one in recording.busy:
        by_unit[one.unit, one.part].append(one)
    for unit, mine in by_unit.items():
        assert all(first.end <= second.start + 1e-6 for first, second in pairwise(mine)), unit


def test_busy_times_add_up_to_those_of_the_model(stepped):
    sm, result, recording = stepped
    sums = Counter()
    for one in recording.busy:
        sums[one.unit] += one.end - one.start
    memory = {unit: getattr(result.memory, f"busy_{name}") for unit, name in SHARED_UNITS.items()}
    pipes = {name: result.busy[name] for name in PIPES}
    pipes["tensor"] -= sum(sm.steps[one.instruction].cycles for one in recording.issues if one.instruction in sm.wgmma)
    assert dict(sums) == pytest.approx({name: value for name, value in {**pipes, **memory}.items() if value})


def test_a_prediction_and_a_recording_take_the_same_cycles():
    kernel = lab.kernel("ampere/04_swizzled")
    compiled = kernel.compile("sm_90a")
    product = product_of(kernel, compiled, SMALL, SMALL, SMALL, 132)
    alone = whole_kernel._Run(compiled, constants("h200"), data_sheets.gpu("h200"), product)
    plain = alone._step(1, SMALL, 256)
    recorded = alone._sm(1, SMALL, 256, RecordedSm).run()
    assert plain.cycles == recorded.cycles and np.array_equal(plain.stalls, recorded.stalls)


# ---- What a learner asks for ----


@pytest.mark.long
def test_without_a_wish_a_turn_of_the_main_loop_is_shown():
    found = lab.kernel("ampere/04_swizzled").predicted_timeline(n=2048)
    assert found.end - found.start == 400
    assert len(found.shown.turns) == 1 and 0 < found.start < found.run.end / 2 + 4000
    assert len(found.run.turns) > 4


def test_an_edited_kernel_shows_its_own_waits():
    kernel = lab.kernel("ampere/04_swizzled")
    edited = kernel.rewrite(kernel.source.replace("__syncthreads();", "__syncthreads(); __syncthreads();"))
    plain, mine = (one.predicted_timeline(n=1024) for one in (kernel, edited))
    assert mine.run.waits()["barrier"] > plain.run.waits()["barrier"]
    assert {file for file, _ in mine.sources} == {"cell"}


def test_an_edited_region_is_found_by_its_name():
    kernel = lab.kernel("ampere/04_swizzled")
    edited = kernel.edit(load=kernel.regions["load"], first_line=3)
    assert (
        edited.predicted_timeline(n=1024, where="load").start == kernel.predicted_timeline(n=1024, where="load").start
    )


@pytest.mark.long
def test_conflicts_keep_shared_memory_busy_and_tensor_cores_idle():
    slow, fast = (lab.kernel(name).predicted_timeline(n=2048, where="multiply") for name in ("ampere/02", "ampere/04"))
    assert slow.busy["shared memory"] > fast.busy["shared memory"]
    assert slow.busy["the tensor cores"] < fast.busy["the tensor cores"]


def test_where_is_a_line_or_a_region():
    kernel = lab.kernel("ampere/04_swizzled")
    number = next(number for number, line in enumerate(kernel.source.split("\n"), 1) if "ldmatrix_x4(" in line)
    for where in (number, "multiply"):
        found = kernel.predicted_timeline(n=1024, where=where)
        assert any(one.line.line == number for one in (found.run.code[i.instruction] for i in found.shown.issues))


def test_the_words_are_no_measurement():
    found = lab.kernel("ampere/04_swizzled").predicted_timeline(n=1024)
    assert "predicted" in repr(found) and "not measured" in repr(found) and "blind trials" in repr(found)
    assert sum(found.waits.values()) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in found.busy.values())
    assert "blind trials" in found.trust


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"where": "swizzle"}, "no region “swizzle”; it has “layout”"),
        ({"where": 9999}, "no line 9999"),
        ({"where": 1}, "No machine instruction of ampere/04_swizzled comes from line 1"),
        ({"cycles": LEAST - 1}, f"From {LEAST} to"),
        ({"cycles": MOST + 1}, f"to {MOST:,} cycles"),
        ({"start": 10**9}, "cannot start at"),
        ({"start": -1}, "cannot start at"),
        ({"start": 5, "where": "load"}, "either where or start"),
        ({"on": "a40"}, "h200"),
        ({"n": 1000}, "multiple"),
    ],
)
def test_what_does_not_exist_is_refused(asked, says):
    with pytest.raises(SimulatorError, match=says):
        lab.kernel("ampere/04_swizzled").predicted_timeline(**{"n": 1024, **asked})


def test_without_machine_code_a_notebook_goes_on(without_machine_code):
    kernel = without_machine_code("ampere/04_swizzled")
    with pytest.raises(NotHere, match="no prediction"):
        kernel.predicted_timeline()


def test_a_wrong_type_is_named():
    with pytest.raises(ConfigError, match="cycles must be a whole number"):
        lab.kernel("ampere/04_swizzled").predicted_timeline(cycles="many")
