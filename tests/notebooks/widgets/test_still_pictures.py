"""The still pictures of all widgets read well: words on the card, apart, and of 12 pixels where 760 are shown."""

from unittest import mock

import pytest
from picture_laws import problems, without_letters

import gemm_lab as lab
from gemm_lab.notebook import widgets
from gemm_lab.notebook.puzzle import puzzle
from gemm_lab.plots import style
from gemm_lab.plots.style import drawn
from gemm_lab_lessons.ch05.arrangement import arrangement
from gemm_lab_lessons.zoom import zoom, zoom_scene
from gemm_lab_lessons.zoom.zoom_text import LEVELS, TITLES
from gpu_simulator.hardware.mma_layouts import ACCUMULATORS, SHAPES

SHOWN, PIXELS, LEAST = 760, 800, 12  # pixels: of the page, of the picture, of the smallest letters on the page


def wrong(widget):
    return words_and_problems(widget)[1]


def words_and_problems(widget) -> tuple[str, list[str]]:
    """The words on the widget's picture, and what is wrong with it."""
    figure = drawn(widget.card)()
    found = problems(figure, style.FINE)
    return "\n".join(text.get_text() for text in without_letters(figure)), found


def test_the_smallest_letters_are_twelve_pixels_where_they_are_shown():
    assert style.FINE * style.SHOWN_DPI / 72 * SHOWN / PIXELS >= LEAST


@pytest.fixture(scope="module")
def runs():
    """Runs of the kernels that the notebooks zoom into."""
    return {
        "naive": lab.kernel("simt/01_naive").run(n=64, backend="emulator", timed=False),
        "tiles": lab.kernel("simt/03_shared_memory_tiles").run(n=64, backend="emulator", timed=False),
        "fragments": lab.kernel("first_kernels/01_plain_loads").run(16, backend="emulator", timed=False),
        "conflicts": lab.kernel("t4/02_vectorized_copy").run(n=256, backend="emulator", timed=False),
        "swizzled": lab.kernel("t4/03_swizzled").run(n=256, backend="emulator", timed=False),
    }


@pytest.fixture(scope="module", autouse=True)
def scenes(runs):
    """What a run does is recorded once, however many widgets show it."""
    made = {}

    def recorded(run, block, hidden):
        if (id(run), block) not in made:
            made[id(run), block] = zoom_scene.Scene(run, block, hidden)
        return made[id(run), block]

    with mock.patch.object(zoom, "Scene", recorded):
        yield


# ---- The zoom ----

IN_NOTEBOOKS = {"00": ("naive", "dram"), "02": ("tiles", "block"), "03": ("fragments", "fragment"),
                "04": ("conflicts", "bank"), "05": ("swizzled", "bits")}  # fmt: skip


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("number", IN_NOTEBOOKS)
def test_the_zoom_shows_the_level_of_its_notebook_and_the_names_that_the_reader_knows(runs, number):
    run, level = IN_NOTEBOOKS[number]
    widget = lab.zoom(runs[run], level=level)
    seen, found = words_and_problems(widget)
    known = LEVELS[: LEVELS.index(level) + 1]
    assert {name for name in LEVELS if TITLES[name] in seen.split("\n")} == set(known)
    if level not in ("bank", "bits"):
        assert "bank" not in seen and "wavefront" not in seen, "both are explained in notebook 04"
    assert found == []


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("level", "said"), [
    ("dram", "sectors"), ("block", "Block tile: rows 0 to 255"), ("warp", "shared memory"), ("fragment", "Lane 5 of the warp holds"),
    ("bank", "wavefront 1"), ("bits", "without XOR"),
])  # fmt: skip
def test_each_level_draws_its_own_picture(runs, level, said):
    words, found = words_and_problems(lab.zoom(runs["swizzled"], level=level))
    assert said in words and found == []


def test_it_opens_at_a_step_that_the_level_shows(runs):
    assert lab.zoom(runs["fragments"], level="fragment").event.what == "mma"
    assert lab.zoom(runs["swizzled"], level="bits").event.shared is not None
    assert lab.zoom(runs["swizzled"], level="dram").step == 0


def test_a_level_without_a_picture_says_why(runs):
    words, found = words_and_problems(lab.zoom(runs["naive"], level="bank"))
    assert "This kernel uses no shared memory" in words.replace("\n", " ") and found == []


@pytest.mark.long
@pytest.mark.parametrize("run", ["naive", "tiles", "fragments", "conflicts", "swizzled"])
def test_every_level_and_step_of_the_zoom_reads_well(runs, run):
    widget = lab.zoom(runs[run])
    last = len(widget.scene["events"]["what"]) - 1
    for level in LEVELS:
        for step in (0, last // 3, last):
            widget.level, widget.step = level, step
            assert wrong(widget) == [], (level, step)


# ---- The others ----


@pytest.mark.parametrize(("shape", "dtype"), [("m16n8k8", "f16"), ("m16n8k16", "f16")])
def test_the_fragment_map_of_notebook_03(shape, dtype):
    assert wrong(widgets.fragments(shape, dtype, lane=5)) == []


@pytest.mark.long
@pytest.mark.parametrize(("shape", "dtype"), [(shape, dtype) for dtype, shapes in SHAPES.items() for shape in shapes])
def test_every_fragment_map(shape, dtype):
    for accumulator in ACCUMULATORS[dtype]:
        for lane in (0, 31):
            assert wrong(widgets.fragments(shape, dtype, lane=lane, accumulator=accumulator)) == []


def test_the_fragment_map_with_b_stored_by_rows():
    assert wrong(widgets.fragments("m16n8k16", "bf16", stored="row-major")) == []


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", ["conflicts", "swizzled", "tiles"])
def test_the_wavefront_stepper(runs, name):
    assert wrong(widgets.wavefronts(runs[name])) == []


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("choices", [
    dict(rows=4, row_bytes=16, element="f32", banks=4, access="column load"),
    dict(rows=64, row_bytes=128),
    dict(rows=64, row_bytes=128, layout="xor"),
    dict(rows=128, row_bytes=128, layout="padded", access="column load", element="f32", step=20),
    dict(rows=16, row_bytes=1024, layout="tma128", access="cp.async"),
    dict(rows=64, row_bytes=256, layout="xor", access="float4 store"),
    dict(rows=64, row_bytes=128, predict=True),
])  # fmt: skip
def test_the_swizzle_explorer(choices):
    assert wrong(lab.swizzle(**choices)) == []


@pytest.mark.parametrize("name", ["toy", "no_padding"])
def test_the_swizzle_puzzle(name):
    assert wrong(lab.swizzle_puzzle(name)) == []


@pytest.mark.parametrize(("name", "arguments"), [
    ("02_naive", ()), ("02_block_tiles", (8, 16, 4)), ("02_nine_loops", ((8, 16, 4), (4, 8, 2), (2, 4))),
])  # fmt: skip
def test_the_tile_walk(name, arguments):
    assert wrong(widgets.tile_walk(puzzle(name).solution(), 16, 32, 8, *arguments)) == []


def test_the_tile_explorer_and_the_barrier():
    assert wrong(widgets.TileExplorer(256, 192, 32, "t4")) == []
    assert wrong(widgets.mbarrier()) == []


def test_the_arrangement_of_a_learners_layout():
    for chunks in (4, 8):
        figure = drawn(arrangement(lambda row, chunk: chunk ^ row % 4, rows=8, chunks=chunks)._picture)()
        assert problems(figure) == []


def test_small_letters_are_seen(monkeypatch):
    monkeypatch.setattr(style, "FINE", 8.0)
    found = problems(drawn(widgets.fragments("m16n8k8", "f16").card)(), 9.2)
    assert any("smaller than" in problem for problem in found)
