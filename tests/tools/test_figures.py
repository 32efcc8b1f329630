"""The pictures and plots: each draws, reads well, and is the one stored in images/."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from picture_laws import problems
from PIL import Image

from gemm_lab import config
from gemm_lab_lessons.ch08.mbarrier_phases import stage_and_parities
from gemm_look import style
from gemm_results import plots, results
from gemm_results import roofline_model as model
from gemm_results.errors import LabError
from gemm_results.plots.bench import published_rows
from gemm_results.published import Published
from gemm_results.results import Measurement
from gpu_simulator.hardware import data_sheets as hardware
from tools import figures
from tools.figures import (
    banks,
    fragments,
    locality,
    persistent,
    png,
    ring,
    tensor_memory,
    tma,
)

ROOT = Path(__file__).resolve().parents[2]


# ---- Laws that hold for every picture ----
@pytest.mark.sampled(every=60)
@pytest.mark.parametrize("name", figures.names())
def test_picture_reads_well(name):
    assert problems(figures.draw(name)) == []


@pytest.mark.sampled(every=54, first=3)
@pytest.mark.parametrize("name", figures.names())
def test_stored_picture_is_the_drawn_one(name):
    path = config.data_dir("images") / f"{name}.png"
    assert path.is_file(), "run python -m tools.figures"
    assert path.stat().st_size < 90_000
    fig = figures.draw(name)
    assert png.read_description(path) == png.description(fig, name), "run python -m tools.figures"
    with Image.open(path) as image:
        assert image.size == tuple(int(inches * style.DPI) for inches in fig.get_size_inches())


@pytest.mark.parametrize("name", png.FROM_RESULTS)
def test_a_picture_of_results_shows_the_results_of_today(name):
    stored = png.read_description(config.data_dir("images") / f"{name}.png")
    assert stored == png.description(figures.draw(name), name), "the results have changed: python -m tools.figures"


@pytest.mark.parametrize("share", [1.02, 0.8])
def test_another_result_makes_the_picture_stale(monkeypatch, share):
    """Also that of a kernel which no word of the picture is about: only its dot moves."""
    before = png.description(figures.draw("scoreboard"), "scoreboard")
    read = results.read

    def changed(path):
        return [
            replace(row, tflops=share * row.tflops) if row.kernel == "simt/04_register_tiles" else row
            for row in read(path)
        ]

    monkeypatch.setattr(results, "read", changed)
    after = png.description(figures.draw("scoreboard"), "scoreboard")
    assert after["texts"] == before["texts"] and after["points"] != before["points"]


def test_the_pictures_of_results_are_known():
    """A module of tools.figures that imports what reads results draws one of `png.FROM_RESULTS`."""
    readers = re.compile(r"^from gemm_lab(?:\.measure|\.published|\.notebook\.scoreboard|\.lab\.recording)\b", re.M)
    modules = [path for path in (ROOT / "tools" / "figures").glob("*.py") if readers.search(path.read_text())]
    drawn = {name for name in figures.names() for path in modules if f"def {name}(" in path.read_text()}
    assert drawn == set(png.FROM_RESULTS)


def test_images_holds_no_picture_without_a_name():
    described = {}
    for path in config.data_dir("images").glob("*.png"):
        with Image.open(path) as image:
            if "Description" in getattr(image, "text", {}):
                described[path.stem] = json.loads(image.text["Description"])["name"]
    assert set(described) == set(figures.names())
    assert all(stem == name for stem, name in described.items())


def unused(names, texts) -> list[str]:
    """The pictures that no text shows, neither as a file nor with `lab.figure`."""
    shown = {
        name for text in texts for name in re.findall(r"images/(\w+)\.png|figure\(\\*[\"'](\w+)", text) for name in name
    }
    return sorted(set(names) - shown)


def test_every_picture_is_shown_by_a_notebook_or_a_document():
    paths = [
        *(ROOT / "notebooks").rglob("*.ipynb"),
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *(ROOT / "notebooks").glob("*.toml"),
    ]
    texts = [path.read_text(encoding="utf-8") for path in paths if ".ipynb_checkpoints" not in path.parts]
    assert unused(figures.names(), texts) == [], "delete the function, its entry in tools/figures and its file"
    assert unused(["roofline_idea", "journey", "spare"], texts) == ["spare"], "one that nothing shows is found"


def test_the_laws_reject_bad_pictures():
    fig = style.figure(4, 2)
    fig.text(0.99, 0.5, "runs out of the card")
    fig.text(0.3, 0.8, "one")
    fig.text(0.3, 0.8, "two")
    fig.text(0.3, 0.3, "tiny", fontsize=8)
    fig.text(0.6, 0.3, "pale", color=style.YELLOW)
    found = "\n".join(problems(fig))
    for words in ("leaves the card", "overlap", "smaller than", "hard to read"):
        assert words in found


@pytest.mark.long
def test_writing_twice_gives_the_same_bytes(tmp_path):
    first, second = (
        png.write_png(figures.draw("swizzle_xor"), "swizzle_xor", tmp_path / name) for name in ("a.png", "b.png")
    )
    assert first.read_bytes() == second.read_bytes()


def test_stored_picture_keeps_round_corners_and_a_white_card(tmp_path):
    path = png.write_png(figures.draw("journey"), "journey", tmp_path / "journey.png")
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGBA"))
    assert pixels[0, 0, 3] == 0
    assert tuple(pixels[30, 30]) == (255, 255, 255, 255)


def test_a_changed_word_makes_a_stored_picture_stale(tmp_path):
    path = png.write_png(figures.draw("roofline_idea"), "roofline_idea", tmp_path / "p.png")
    changed = figures.draw("roofline_idea")
    png.texts(changed)[0].set_text("another word")
    assert png.read_description(path) != png.description(changed, "roofline_idea")


def test_style_does_not_leak_and_is_not_disturbed():
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "text.color": "red"}):
        assert problems(figures.draw("t4_roofline_units")) == []
        assert matplotlib.rcParams["font.size"] == 30


def test_unknown_picture_is_refused_by_name():
    with pytest.raises(LabError, match="no picture called 'banks'.*banks_and_wavefronts"):
        figures.draw("banks")


# ---- What the pictures show is right ----
def test_toy_wavefronts():
    assert len(banks.wavefronts([0, 1, 2, 3], banks=4)) == 1
    assert banks.wavefronts([0, 4, 2, 3], banks=4) == [[0, 2, 3], [1]]
    assert len(banks.wavefronts([0, 4, 8, 12], banks=4)) == 4
    assert len(banks.wavefronts([7, 7, 7, 7], banks=4)) == 1, "lanes that want one word share it"


def test_ldmatrix_rows():
    rows = [[row * 32 + word for word in range(4)] for row in range(8)]
    swizzled = [[row * 32 + (row * 4) + word for word in range(4)] for row in range(8)]
    assert len(banks.wavefronts(sum(rows, []))) == 8
    assert len(banks.wavefronts(sum(swizzled, []))) == 1


@pytest.mark.parametrize(
    ("holder", "shape", "each"),
    [(fragments.holder_a, (16, 8), 4), (fragments.holder_b, (8, 8), 2), (fragments.holder_c, (16, 8), 4)],
)
def test_fragments_give_each_lane_its_elements_once(holder, shape, each):
    held = [holder(row, col) for row in range(shape[0]) for col in range(shape[1])]
    assert sorted(held) == [(lane, element) for lane in range(32) for element in range(each)]


def test_fragment_corners():
    assert fragments.holder_a(0, 1) == (0, 1)
    assert fragments.holder_a(8, 0) == (0, 2)
    assert fragments.holder_b(7, 0) == (3, 1), "B pairs run down a column"
    assert fragments.holder_c(15, 7) == (31, 3)


def test_grouped_order_touches_fewer_strips():
    row, grouped = (locality.first_wave(order) for order in ("row", "grouped"))
    assert (row.rows + row.columns, grouped.rows + grouped.columns) == (13, 7)
    assert row.blocks == grouped.blocks and row.read_bytes == grouped.read_bytes
    assert locality.full_size_bytes("grouped") < locality.full_size_bytes("row") / 2


def test_persistent_blocks_share_out_every_tile_once():
    assert sorted(sum((persistent.tiles_of(block) for block in range(persistent.SMS)), [])) == list(
        range(persistent.TILES)
    )


def test_parities_of_the_ring_are_those_of_counted_phases():
    """Waits by parity return in the order of the text: the producer is at most one round ahead of the consumer."""
    full, empty = [0] * ring.NUM_STAGES, [0] * ring.NUM_STAGES  # phases completed so far

    def passes(completed, parity):  # mbarrier.test_wait.parity: the phase just before the current one has that parity
        return (completed + 1) % 2 == parity

    for k_tile in range(20):
        stage, consumer, producer = stage_and_parities(k_tile, ring.NUM_STAGES)
        assert passes(empty[stage], producer) and not passes(full[stage], consumer)
        full[stage] += 1
        assert passes(full[stage], consumer)
        assert not passes(empty[stage], stage_and_parities(k_tile + ring.NUM_STAGES, ring.NUM_STAGES)[2]), (
            "still being read"
        )
        empty[stage] += 1


def test_the_box_lies_as_the_128_byte_swizzle_puts_it():
    table = [[tma.chunk_at(row, place) for place in range(8)] for row in range(8)]
    assert all(table[row][chunk ^ row] == chunk for row in range(8) for chunk in range(8))


def test_four_warps_read_all_lanes_of_tensor_memory():
    assert sorted(sum((list(tensor_memory.lanes_of(warp)) for warp in range(4)), [])) == list(range(128))
    assert tensor_memory.lanes_of(6) == range(64, 96)


def test_roofline_pictures_show_the_balance_points():
    shown = " ".join(png.description(figures.draw("t4_roofline_memories"), "")["texts"])
    for number in ("295.5", "50.8", "17.7", "65"):
        assert number in shown
    shown = " ".join(png.description(figures.draw("t4_roofline_units"), "")["texts"])
    for number in ("295.5", "36.8", "8.1", "220"):
        assert number in shown


# ---- Colours ----
def test_one_meaning_one_colour():
    meanings = [style.A, style.B, style.C, style.LIT, style.UNLIT, style.WAVEFRONT, style.CONFLICT]
    meanings += style.MEMORY.values()
    assert len(set(meanings)) == len(meanings)


@pytest.mark.parametrize("colour", [*style.GROUPS, *style.MEMORY.values(), style.MUTED, style.INK])
def test_ink_reads_on_the_card(colour):
    assert style.contrast(style.ink(colour)) >= 4.5
    assert style.contrast(style.text_on(colour), colour) >= 3.5


def test_contrast_knows_its_ends():
    assert style.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert style.contrast(style.YELLOW, style.YELLOW) == 1


# ---- Plots ----
def row(kernel, tflops, n=1024, **columns):
    """A made-up measurement."""
    size = {"m": n, "n": n, "k": n}
    known = {
        "gpu": "A made-up GPU",
        "driver": "1.2",
        "cuda": "13.0",
        "commit": "0123456789abcdef",
        "date": "2026-01-02",
    }
    speeds = {"tflops_low": 0.95 * tflops, "tflops": tflops, "tflops_high": 1.02 * tflops}
    others = dict.fromkeys(("cublas_tflops", "ratio_cublas", "cublaslt_tflops", "ratio_cublaslt", "ceiling_tflops"))
    values = {"kernel": kernel, "ladder": "t4", "config": "", "regime": "sustained", "dtype": "f16", "rounds": 9}
    values |= {"sm_clock_mhz": 1000.0, "power_w": 100.0, "ratio_ceiling": None}
    return Measurement(**{**values, **size, **known, **speeds, **others, **columns})


@pytest.fixture
def ladder_rows():
    names = ["t4/01_tiled", "t4/02_vectorized", "t4/03_swizzled"]
    return [
        row(name, 10.0 * (k + 1) * n / 1024, n, cublas_tflops=40.0 * n / 1024, ceiling_tflops=47.5 * n / 1024)
        for n in (1024, 2048)
        for k, name in enumerate(names)
    ]


def share(kernel, percent):
    """A row of results/published.csv, as `published_rows` names it after a rung."""
    return Published(kernel, "t4", None, "f16", None, None, percent, "text", "")


def words(fig):
    return " | ".join(t.get_text() for t in png.texts(fig))


def test_ladder_tells_all(ladder_rows):
    shares = [share("t4/01_tiled", 8), share("t4/02_vectorized", None), share("t4/03_swizzled", 50)]
    fig = plots.ladder(ladder_rows, lit="t4/03_swizzled", published=shares)
    assert problems(fig) == []
    shown = words(plots.ladder(ladder_rows, lit="03_swizzled", published=shares))
    conditions = ("A made-up GPU", "1000 MHz", "sustained", "driver 1.2", "CUDA 13.0", "commit 0123456789ab")
    for part in ("cuBLAS 80", "ceiling 95", "published (T4)", "2048 × 2048 × 2048", *conditions):
        assert part in shown, part
    marks = [line for line in fig.axes[0].lines if line.get_marker() == "D"]
    assert [float(y) for y in marks[0].get_ydata()] == [pytest.approx(0.08 * 80), 0.5 * 80]


def test_ladder_lights_one_rung(ladder_rows):
    fig = plots.ladder(ladder_rows, lit="t4/02_vectorized")
    fills = [matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in fig.axes[0].patches]
    assert fills == [style.UNLIT, style.LIT, style.UNLIT]


def test_what_was_not_measured_is_left_out():
    unknown = row("x/01_a", 3.5, sm_clock_mhz=math.nan, power_w=math.nan, driver="", commit="")
    fig = plots.ladder([unknown])
    assert problems(fig) == [] and "CUDA 13.0" in words(fig)
    assert not [part for part in ("MHz", " W", "driver", "commit", "cuBLAS", "ceiling", "nan") if part in words(fig)]


def test_ladder_of_many_rungs_keeps_its_names_on_the_card():
    rows = [row(f"wmma/{k:02d}_a_rather_long_name", 5 + k) for k in range(20)]
    assert problems(plots.ladder(rows)) == []


def test_bench_of_the_api():
    rungs = [
        SimpleNamespace(name="t4/01_tiled", published="kernel1"),
        SimpleNamespace(name="t4/02_vectorized"),
        SimpleNamespace(name="t4/03_swizzled", published="kernel3"),
    ]
    spec = SimpleNamespace(kernels=rungs, gpu="t4")
    rows = [row(rung.name, 10.0 + n / 64, n) for n in (1024, 8192) for rung in rungs]
    rows += [row("cublas_f16", 60.0, 8192), row("ceilings/mma_m16n8k8_f16", 80.0, 8192)]
    made = SimpleNamespace(rows=rows, ladder=SimpleNamespace(spec=spec))
    fig = plots.bench(made)
    assert "published (T4)" in words(fig) and "cuBLAS 60" in words(fig) and "mma" not in words(fig)
    (marks,) = [line for line in fig.axes[0].lines if line.get_marker() == "D"]
    assert list(marks.get_ydata()) == [pytest.approx(0.08 * 60), pytest.approx(0.5 * 60)]
    assert "published" not in words(plots.bench(made, published=False))
    assert [r.kernel for r in published_rows(spec, 1024)] == ["t4/03_swizzled"]
    with pytest.raises(LabError, match="nothing to plot at 77; the measured sizes are 1024, 8192"):
        plots.bench(made, n=77)


def test_later_row_replaces_the_earlier_and_burst_yields_to_sustained():
    rows = [row("x/01_a", 1.0), row("x/01_a", 2.0), row("x/01_a", 9.0, regime="burst")]
    fig = plots.ladder(rows)
    assert [bar.get_height() for bar in fig.axes[0].patches] == [2.0]


@pytest.mark.parametrize("plot", [plots.ladder, plots.sizes])
def test_no_measurement_is_refused_with_a_sentence(plot):
    with pytest.raises(LabError, match=r"nothing to plot: .* needs at least one measurement .*\.$"):
        plot([])


def test_ladder_refuses_an_unknown_rung_and_only_baselines(ladder_rows):
    with pytest.raises(LabError, match="'09_none' is not among the measurements; they have 01_tiled"):
        plots.ladder(ladder_rows, lit="t4/09_none")
    with pytest.raises(LabError, match="none is a rung"):
        plots.ladder([row("cublas", 3.0)])


def test_sizes(ladder_rows):
    rows = [*ladder_rows, row("cublas", 40.0), row("cublas", 80.0, 2048)]
    shown = words(plots.sizes(rows, lit="03_swizzled"))
    assert problems(plots.sizes(rows)) == []
    for part in ("01_tiled", "03_swizzled", "cuBLAS", "matrix size N", "TFLOPS"):
        assert part in shown
    assert problems(plots.sizes([row("x/01_a", 3.0)])) == []


def test_roofline_of_a_gpu_of_a_model_and_of_numbers():
    t4 = hardware.gpu("t4")
    assert "DRAM 220 GB/s" in words(plots.roofline(t4))
    assert "peak 65 TFLOPS" in words(plots.roofline(model.roofline(t4)))
    shown = words(plots.roofline({"DRAM": 100}, [("mine", 3.0, 0.2)], log=False, ceilings={"FMA": 2}))
    assert "mine" in shown and "20.0 FLOP/byte" in shown.replace("\n", " ")
    for gpu in hardware.GPUS.values():
        assert problems(plots.roofline(gpu)) == []
    with pytest.raises(LabError, match="at least one memory level"):
        plots.roofline({})


def test_a_card_shows_itself_at_100_pixels_an_inch():
    data, size = style.figure(8, 2)._repr_png_()
    assert data.startswith(b"\x89PNG") and size == {"width": 800, "height": 200}
