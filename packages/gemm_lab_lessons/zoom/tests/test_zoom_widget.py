"""The zoom's Python side: its events are what the simulator counts, it names elements, refuses in words, keeps a limit."""

import json

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.notebook import exercise_kernel, unbound
from gemm_lab.notebook.remembered import solved
from gemm_lab.notebook.remembered.kept import Kept
from gemm_lab_lessons.zoom import zoom_scene
from gemm_lab_lessons.zoom.zoom_events import recorded
from gemm_lab_lessons.zoom.zoom_layout import layout_of
from gemm_lab_lessons.zoom.zoom_text import LEVELS, different_bytes
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError

# (kernel, settings, (n, m, k)): at these sizes the grid has one block, so that its events are the whole launch.
SMALL = {
    "simt/03_shared_memory_tiles": ({}, (32, 32, 64)),
    "first_kernels/02_ldmatrix": ({}, (8, 16, 32)),
    "t4/02_vectorized_copy": (dict(BLOCK_M=64, BLOCK_N=64, NUM_WARPS_M=2), (64, 64, 128)),
    "t4/03_swizzled": (dict(BLOCK_M=64, BLOCK_N=64, NUM_WARPS_M=2), (64, 64, 128)),
    "ampere/04_swizzled": ({}, (128, 128, 64)),
    "rtx5090/02_producer_warp": ({}, (128, 128, 64)),
    "hopper/02_tma": ({}, (128, 128, 64)),
}
MORE = {
    "simt/01_naive": ({}, (32, 32, 32)),
    "first_kernels/01_plain_loads": ({}, (8, 16, 32)),
    "first_kernels/03_wmma": ({}, (16, 16, 32)),
    "wmma/wmma_bf16": ({}, (64, 64, 32)),
    "ampere/03_padded": ({}, (128, 128, 64)),
    "ampere/11_any_size": ({}, (256, 128, 40)),
    "t4/07_staged_epilogue": ({}, (256, 256, 32)),
    "hopper/01_wgmma": ({}, (128, 128, 64)),
    "hopper/08_ping_pong": ({}, (128, 128, 64)),
    "b200/01_synchronous": ({}, (256, 128, 64)),
}
QUICK = ("simt/03_shared_memory_tiles", "t4/03_swizzled", "rtx5090/02_producer_warp", "hopper/02_tma")
EVERY = [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in SMALL | MORE if name not in QUICK)]


@pytest.fixture(scope="module")
def made():
    """A function of a kernel's name that gives (run, zoom), made once."""
    kept = {}

    def of(name):
        if name not in kept:
            settings, (n, m, k) = (SMALL | MORE)[name]
            run = lab.kernel(name, **settings).run(n, m, k, backend="simulator", timed=False)
            kept[name] = run, lab.zoom(run)
        return kept[name]

    return of


def events_of(widget):
    return widget._recorded(widget.block).log.events


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", EVERY)
def test_every_instruction_adds_up_to_what_the_simulator_counted(made, name):
    run, widget = made(name)
    found = {}
    for event in events_of(widget):
        waves, sectors, ideal = found.get(event.site, (0, 0, 0))
        found[event.site] = waves + event.waves, sectors + event.sectors, ideal + event.ideal
    for number, site in enumerate(run.report.sites):
        if site.wavefronts or site.sectors:
            assert found[number] == (site.wavefronts, site.sectors, site.ideal_wavefronts), site
    assert sum(waves for waves, _, _ in found.values()) == run.wavefronts
    assert json.dumps(widget.scene) and len(json.dumps(widget.scene)) <= 2_000_000


@pytest.mark.long
@pytest.mark.parametrize("name", EVERY)
def test_every_level_and_every_warp_has_words(made, name):
    _, widget = made(name)
    for level in LEVELS:
        widget.level = level
        assert f"level “{level}”" in widget.text
    for warp in range(-1, min(widget.warps, 3)):
        widget.warp = warp
        widget.step = len(widget.scene["events"]["what"]) - 1
        assert widget.sentence.startswith("Step ")
    widget.warp, widget.level = 0, "block"


def test_it_knows_which_elements_the_lanes_hold(made):
    _, widget = made("t4/03_swizzled")
    scene = widget._recorded(0)
    pairs = set()
    for event in scene.log.events:
        if event.what == "mma":
            row, along, other, column = scene.corner(event)
            assert along == other and row % 16 == 0 and column % 8 == 0 and along % 8 == 0
            pairs.add((event.warp, row, column, along))
    # Every product of 16 × 8 × 8 is computed once: 4 rows, 8 columns and 16 steps of k, by four warps.
    assert len(pairs) == 4 * 8 * 16 and {row // 32 * 2 + column // 32 for _, row, column, _ in pairs} == {0, 1, 2, 3}
    for warp, row, column, _ in pairs:
        assert warp == row // 32 * 2 + column // 32


@pytest.mark.parametrize("name", ["t4/02_vectorized_copy", "ampere/04_swizzled", "hopper/02_tma"])
def test_shared_memory_holds_the_elements_that_the_zoom_names(made, name):
    """Wherever a word of shared memory is named, its value is that of the element in global memory."""
    _, recorder = recorded(made(name)[0].report, 0)
    home, resident = recorder.origins.home, recorder.resident
    cells = np.flatnonzero(home >= 0)
    assert len(cells) >= 64 * 64
    assert np.array_equal(resident.shared.views[2][cells], resident.memory.views[2][home[cells] // 2])


@pytest.mark.parametrize(
    ("name", "matrix", "xor"),
    [
        ("t4/02_vectorized_copy", "A", []),
        ("t4/03_swizzled", "A", [[7, 4], [8, 5], [9, 6]]),
        ("ampere/04_swizzled", "B", [[7, 4], [8, 5], [9, 6]]),
        ("hopper/02_tma", "A", [[7, 4], [8, 5], [9, 6]]),
    ],
)
def test_the_swizzle_is_derived_from_the_addresses(made, name, matrix, xor):
    layout = made(name)[1].scene["shared"]["layouts"][matrix]
    assert layout["xor"] == xor and layout["stride"] == 128


def test_padding_is_a_stride_and_disorder_is_no_rule():
    rows, bytes_ = (part.reshape(-1) for part in np.meshgrid(np.arange(16), np.arange(0, 64, 16), indexing="ij"))
    padded = layout_of(4096 + rows * 80 + bytes_, rows, bytes_)
    assert padded == {"base": 4096, "stride": 80, "xor": []}
    swizzled = rows * 64 + (bytes_ ^ (rows // 2 % 4) * 16)
    assert layout_of(swizzled, rows, bytes_) == {"base": 0, "stride": 64, "xor": [[7, 4], [8, 5]]}
    spoilt = swizzled.copy()
    spoilt[[5, 9]] = spoilt[[9, 5]]
    assert layout_of(spoilt, rows, bytes_) is None
    assert layout_of(np.zeros(0, int), rows[:0], bytes_[:0]) is None


def test_a_line_begins_where_it_first_runs(made):
    run, _ = made("t4/03_swizzled")
    number = next(n for n, text in enumerate(run.kernel.source.split("\n"), 1) if "ldmatrix_x4_trans(frag_b" in text)
    widget = lab.zoom(run, "bank", line=number)
    assert widget.level == "bank" and f"line {number}: warp 0 reads 128 words of B’s tile" in widget.sentence
    assert widget.event.waves == 4


def test_an_edited_kernel_is_replayed(made):
    run, _ = made("t4/03_swizzled")
    kernel = run.kernel.edit(layout=run.kernel.regions["layout"].replace("^ row % 8", "^ 0"))
    edited = lab.zoom(kernel.run(64, 64, 128, backend="simulator", timed=False))
    assert edited.scene["shared"]["layouts"]["A"]["xor"] == [] and "edited" in edited.title
    worst = max(events_of(edited), key=lambda event: event.waves)
    assert worst.waves > worst.ideal
    lines = edited.scene["lines"]
    assert [own for _, text, own in lines if "^ 0" in text] == [1, 1]
    assert sum(own for *_, own in lines) == len(run.kernel.regions["layout"].split("\n"))
    unedited = [own for *_, own in made("t4/03_swizzled")[1].scene["lines"]]
    assert not any(unedited), "only lines of a cell are marked, whose numbers are those of the cell"


def test_a_step_in_the_learners_lines_says_so():
    naive = lab.kernel("simt/01_naive")
    made = naive.edit(first_line=2, multiply=naive.regions["multiply"])
    widget = lab.zoom(made.run(32, backend="simulator", timed=False))
    assert ", line 4 of your cell: warp 0 reads" in widget.sentence
    elsewhere = lab.zoom(naive.run(32, backend="simulator", timed=False))
    assert "of your cell" not in elsewhere.sentence


# ---- Solutions of exercises ----


@pytest.fixture
def reading(monkeypatch, tmp_path):
    """A function of a notebook's number: from then on the session runs cells of this notebook; nothing is solved yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(solved, "_kept", Kept("solved.json"))
    return lambda number: monkeypatch.setattr(exercise_kernel, "session_notebook", lambda: number)


TILES, LINE = "simt/03_shared_memory_tiles", "acc += smem_a[thread_m][k]"


def text_of(widget):
    return "\n".join(text for _, text, _ in widget.scene["lines"])


@pytest.mark.parametrize(("number", "hidden"), [("", False), ("01", True), ("02", True), ("03", False)])
def test_the_solution_of_an_exercise_that_lies_ahead_is_left_out(made, reading, number, hidden):
    reading(number)
    run, _ = made(TILES)
    text = text_of(lab.zoom(run))
    assert (LINE not in text) is hidden and "smem_b[" in text
    assert text.count("the exercise 02_inner_product asks for these lines") == int(hidden)


def test_a_step_in_a_left_out_line_lights_what_stands_in_its_place(made, reading):
    run, open_ = made(TILES)  # before a notebook is read, as nothing is left out of the widget to compare with
    reading("02")
    widget = lab.zoom(run)
    events, lines = widget.scene["events"], widget.scene["lines"]
    assert [op for op in events["op"]] == open_.scene["events"]["op"] and len(lines) < len(open_.scene["lines"])
    lit = {lines[at][1].strip() for at in events["line"]}
    assert "// … the exercise 02_inner_product asks for these lines" in lit and not any(
        "acc +=" in text for text in lit
    )
    widget.step = next(n for n, at in enumerate(events["line"]) if "asks for" in lines[at][1])
    assert ", line 3" in widget.sentence
    asked = next(number for number, text in enumerate(run.kernel.source.split("\n"), 1) if LINE in text)
    assert lab.zoom(run, line=asked).step == widget.step, "a line that is left out can be asked for"


def test_a_solved_exercise_hides_nothing_and_neither_does_the_learners_own_text(made, reading):
    reading("02")
    run, _ = made(TILES)
    own = run.kernel.edit(first_line=2, multiply=run.kernel.regions["multiply"])
    assert LINE in text_of(lab.zoom(own.run(32, 32, 64, backend="simulator", timed=False)))
    used = lab.exercise("02_inner_product")
    with pytest.raises(LabError):
        used.check(own.edit(multiply="    acc = 0;"))
    assert "02_inner_product" not in solved.solved_so_far()
    used.check(own)
    assert LINE in text_of(lab.zoom(run))


def test_what_is_handed_out_as_it_is_in_the_file_is_no_solution(made, reading):
    reading("00")
    assert "threadIdx.x % BLOCK_M" in text_of(lab.zoom(made("simt/01_naive")[0]))
    reading("03")
    text = text_of(lab.zoom(made("first_kernels/01_plain_loads")[0]))
    assert "__halves2half2" not in text and "mma.sync" not in text and "03_inline_ptx asks" in text
    solved.remember("03_fragments")
    text = text_of(lab.zoom(made("first_kernels/01_plain_loads")[0]))
    assert "__halves2half2" in text and "mma.sync" not in text


@pytest.mark.parametrize(
    ("ran", "number"),
    [
        ([], ""),
        (["1 + 1"], ""),
        (['task = lab.exercise("01_block_tile")\ntask', "x = 1"], "01"),
        (
            [
                'swap = lab.guess("01_swap")\nswap',
                'verdict = lab.guess("00_verdict")\nverdict',
                "import gemm_lab as lab",
            ],
            "00",
        ),
    ],
)
def test_the_cells_of_a_session_say_which_notebook_it_runs(ran, number):
    assert unbound._last_number(ran) == number
    assert unbound.session_notebook() == "", "there is no notebook here"


def test_the_default_is_a_small_product_with_several_blocks_and_warps():
    widget = lab.zoom()
    assert (widget.blocks, widget.warps, widget.level) == (4, 4, "block") and widget.scene["total"] == 224
    widget.block = 3
    assert widget.scene["tiles"] == [[64, 64]]
    widget.warp = -1
    assert len(widget.scene["events"]["what"]) == 4 * 224


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"level": "attic"}, "dram, block, warp, fragment, bank, bits"),
        ({"level": 3}, "level"),
        ({"line": 2}, "nearest line with one is"),
        ({"line": "load"}, "line"),
        ({"block": 1}, "no block 1; the grid is 1 × 1 × 1"),
        ({"block": -1}, "no block -1"),
        ({"warp": 4}, "a block has 4"),
        ({"warp": -2}, "no warp -2"),
        ({"run": "t4/03"}, "run"),
    ],
)
def test_what_does_not_exist_is_refused(made, arguments, said):
    with pytest.raises(SimulatorError, match=said):
        lab.zoom(**{"run": made("t4/03_swizzled")[0], **arguments})


def test_a_bad_attribute_changes_nothing(made):
    widget = lab.zoom(made("t4/03_swizzled")[0])
    state = widget.get_state()
    for name, value in (("level", "attic"), ("step", 10_000), ("step", -1), ("block", 7), ("warp", 4), ("lane", 32)):
        with pytest.raises(SimulatorError):
            setattr(widget, name, value)
    assert widget.get_state() == state


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [
        ("simt/03_shared_memory_tiles", "fragment", "no mma"),
        ("hopper/02_tma", "bank", "TMA fills it"),
        pytest.param("simt/01_naive", "bank", "no shared memory", marks=pytest.mark.long),
        pytest.param("first_kernels/03_wmma", "fragment", "wmma", marks=pytest.mark.long),
        pytest.param("b200/01_synchronous", "fragment", "tensor memory", marks=pytest.mark.long),
    ],
)
def test_an_empty_level_says_why(made, name, level, said):
    widget = made(name)[1]
    assert said in widget.scene["why"][level]
    widget.level = level
    assert said in str(widget)
    widget.level = "block"


def test_a_warp_that_only_asks_for_copies_says_so(made):
    widget = lab.zoom(made("rtx5090/02_producer_warp")[0])
    producer = next(event.warp for event in events_of(widget) if event.what == "bulk")
    widget.warp = producer
    assert "choose another warp" in widget.scene["why"]["bank"]
    assert "asks TMA to copy" in widget.sentence


def test_what_is_too_much_is_cut_and_said(made, monkeypatch):
    run, _ = made("t4/03_swizzled")
    monkeypatch.setattr(zoom_scene, "MOST_SENT", 50)
    widget = lab.zoom(run)
    total = widget.scene["total"]
    assert len(widget.scene["events"]["what"]) == 50 < total
    assert f"Step 1 of 50 (the first 50 of {total} are shown)" in widget.sentence
    monkeypatch.setattr(zoom_scene, "MOST_SENT", 4000)
    monkeypatch.setattr(zoom_scene, "MOST_BYTES", 30_000)
    widget = lab.zoom(run)
    assert len(json.dumps(widget.scene)) <= 30_000 and len(widget.scene["events"]["what"]) < total


def test_a_number_that_all_lanes_read_is_four_bytes_and_not_four_for_each_lane(made):
    _, widget = made("simt/01_naive")
    b, a = widget.scene["says"][:2]
    assert b == "warp 0 reads 4 bytes of B, row 0, column 0, the same for 32 lanes: 1 sector"
    assert a == "warp 0 reads 128 bytes of A, rows 0 to 31, column 0: 32 sectors"
    assert {different_bytes(event) for event in events_of(widget)} == {4, 128}
