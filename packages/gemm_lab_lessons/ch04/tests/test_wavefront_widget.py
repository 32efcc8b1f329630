"""The wavefront stepper's Python side: it shows what the simulator counted, and refuses in words."""

import pytest

import gemm_lab as lab
from gemm_lab.notebook import widgets
from gemm_lab_lessons.ch04.shared_accesses import kind_of, shared_lines, totals, traced
from gemm_results.errors import LabError


@pytest.fixture(scope="module")
def runs():
    return {
        name: lab.kernel(f"t4/{name}").run(n=256, backend="simulator") for name in ("02_vectorized_copy", "03_swizzled")
    }


@pytest.mark.long
def test_every_line_adds_up_to_what_the_simulator_counted(runs):
    run, blocks, warps = runs["03_swizzled"], 2, 8
    for line in shared_lines(run)[1:3]:  # a copy and an ldmatrix
        one = sum(access.schedule.count for warp in range(warps) for access in traced(run, line.number, 1, warp))
        assert one * blocks == line.wavefronts, line.text


def test_it_opens_on_the_worst_line_or_where_it_is_told(runs):
    worst = widgets.wavefronts(runs["02_vectorized_copy"])
    assert "ldmatrix_x4(frag_a" in worst.source_line.text and worst.shown.schedule.count == 32 == 8 * worst.shown.ideal
    copy = widgets.wavefronts(runs["02_vectorized_copy"], "load")
    assert copy.shown.kind == "store" and copy.shown.schedule.count == 4 and copy.shown.width == 16
    swizzled = widgets.wavefronts(runs["03_swizzled"], worst.line, warp=7)
    assert (swizzled.line, swizzled.warp, swizzled.shown.schedule.count) == (worst.line, 7, 4)
    assert len(swizzled.accesses) == 64 and swizzled.accesses[0]["addresses"] == swizzled.shown.addresses.tolist()


def test_another_warp_is_traced_when_it_is_chosen(runs):
    w = widgets.wavefronts(runs["03_swizzled"])
    before, w.execution = w.accesses, 5
    w.warp = 5
    assert w.accesses != before and w.execution == 0
    w.line = shared_lines(runs["03_swizzled"])[0].number
    assert w.accesses[0]["kind"] == "store"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"where": 3}, r"lines \d+, .* do\."),
        ({"where": "attic"}, "layout, load, multiply, epilogue"),
        ({"where": "epilogue"}, "Nothing in the region"),
        ({"warp": 8}, "a block has 8"),
        ({"warp": -1}, "no warp -1"),
    ],
)
def test_what_does_not_exist_is_refused(runs, arguments, said):
    with pytest.raises(LabError, match=said):
        widgets.wavefronts(runs["03_swizzled"], **arguments)


def test_a_bad_attribute_changes_nothing(runs):
    w = widgets.wavefronts(runs["03_swizzled"])
    state = w.get_state()
    for name, value in (("warp", 8), ("line", 1), ("execution", 64)):
        with pytest.raises(LabError):
            setattr(w, name, value)
    assert w.get_state() == state
    with pytest.raises(LabError, match="No line of simt/01_naive reads or writes shared memory"):
        widgets.wavefronts(lab.kernel("simt/01_naive").run(n=64))


def test_words_for_people_without_a_browser(runs):
    w = widgets.wavefronts(runs["02_vectorized_copy"])
    assert "execution 1 of 64 takes 32 wavefronts, ideal 4; all of them 2,048, ideal 256" in str(w)


@pytest.mark.parametrize(
    ("opcode", "kind"),
    [
        ("ld.shared.v4.u32", "load"),
        ("st.volatile.shared.f32", "store"),
        ("ldmatrix.sync.aligned.m8n8.x2.shared.b16", "ldmatrix"),
        ("cp.async.cg.shared.global", "cp.async.cg"),
        ("cp.async.ca.shared.global", "cp.async.ca"),
        ("ld.global.f32", None),
        ("cp.async.wait_all", None),
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", None),
        ("mma.sync.aligned.m16n8k8.row.col.f32", None),
        ("cp.async.commit_group", None),
    ],
)
def test_kinds(opcode, kind):
    assert kind_of(opcode) == kind


@pytest.mark.long
def test_copies_to_padded_rows_add_up_too():
    run = lab.kernel("ampere/03_padded").run(n=256, backend="simulator")
    grid, warps = run.kernel.grid(256, 256, 256), -(-run.compiled.threads // 32)
    copies = [line for line in shared_lines(run) if "cp_async" in line.text]
    for line in copies:
        one = sum(totals(traced(run, line.number, 0, warp))[0] for warp in range(warps))
        assert one * grid[0] * grid[1] == line.wavefronts > line.ideal_wavefronts, line.text
    assert copies


def test_long_traces_are_cut_for_the_browser_and_counted_whole():
    w = widgets.wavefronts(lab.kernel("simt/03_shared_memory_tiles").run(n=160, backend="simulator"))
    assert len(w.accesses) == 256 < w.whole[2] == len(w.trace)
    assert w.whole[0] == sum(access.schedule.count for access in w.trace)
