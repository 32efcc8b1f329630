"""Notebook 10c: the rungs of kernels/decode in both timings, the two criteria, and the counts of the shared work."""

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.catalog import tomllib
from gemm_lab.config import data_dir
from gemm_lab.lab.on_simulator import launch
from gemm_lab.measure.check import make_inputs, reference, verdict
from gemm_lab.notebook.exercises import WrongAnswer
from gemm_lab_lessons.ch10 import small_products
from gemm_results.errors import LabError
from tools.recording.cards import config_text
from tools.recording.decode import ROWS, kernels

RUNGS = [kernel.name for kernel in lab.ladder("decode")]
ANSWERS = data_dir("kernels").parent / "packages/gemm_lab_lessons/ch10"


def once(kernel, size, timing="early", **options):
    """(whether D is exact, hazards) of one launch."""
    inputs = make_inputs(kernel.problem, *size)
    compiled = kernel.compile("sm_90a")
    arrays, report = launch(
        compiled, kernel.grid(*size), inputs.arguments(), kernel.spec.clustered(kernel.config).cluster,
        observers=("hazards",), timing=timing, **options,
    )  # fmt: skip
    out = arrays[kernel.problem.arrays.index("d")]
    return bool(verdict(out, reference(inputs), "integers", kernel.problem, size[2])), report.hazards


@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("name", RUNGS)
def test_rungs_are_exact_at_sizes_that_nothing_divides_in_both_timings(name, timing):
    kernel = lab.kernel(name)
    for size, settings in (((40, 136, 328), {}), ((16, 64, 72), {"BLOCK_M": 16}), ((72, 72, 520), {"BLOCK_M": 32})):
        assert once(kernel(**settings), size, timing) == (True, [])


@pytest.mark.parametrize("split", [1, 3, 5])
def test_any_number_of_parts_is_exact_also_where_k_has_fewer_tiles(split):
    for name in ("decode/02", "decode/03", "decode/04"):
        for size in ((24, 72, 128), (24, 72, 456)):
            assert once(lab.kernel(name)(SPLIT=split), size) == (True, []), (name, size)


def test_there_are_never_more_parts_than_slots():
    kernel = lab.kernel("decode/02")(SPLIT=4, SLOTS=3)
    assert kernel.grid(64, 128, 512) == (2, 1, 1) and kernel(SLOTS=4).grid(64, 128, 512) == (2, 1, 2)
    assert once(kernel(SLOTS=4), (64, 128, 512)) == (True, [])


def test_a_second_launch_finds_the_count_at_zero():
    arrived = np.zeros(1024, np.uint32)
    assert once(lab.kernel("decode/02"), (64, 128, 512), symbols={"arrived": arrived}) == (True, [])
    assert not arrived.any()


def answer(exercise, **changes):
    """The solution of an exercise with changes, as `check` takes it."""
    wanted = tomllib.loads((ANSWERS / "exercises.toml").read_text(encoding="utf-8"))[exercise]
    text = (ANSWERS / f"solutions/{exercise}.cu").read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return lab.kernel(wanted["kernel"]).edit(**{wanted["region"]: text})


def test_a_count_that_stays_is_right_once_and_refused():
    stays = answer("10_last_block", **{"atomicInc(&arrived[tile], splits - 1)": "atomicAdd(&arrived[tile], 1)"})
    assert once(stays, (64, 128, 512)) == (True, [])
    with pytest.raises(WrongAnswer, match="a first launch is right and a second one is wrong"):
        lab.exercise("10_last_block").check(stays)


@pytest.mark.parametrize(("exercise", "text"), [("10_last_block", ""), ("10_range", "  const int k_tiles = 0, splits = "
                         "gridDim.z, split = blockIdx.z, first = 0, last = 0;\n")])  # fmt: skip
def test_a_kernel_that_gives_zeros_or_parts_is_refused(exercise, text):
    region = {"10_last_block": "reduce", "10_range": "range"}[exercise]
    with pytest.raises(WrongAnswer):
        lab.exercise(exercise).check(lab.kernel("decode/02").edit(**{region: text}))


def test_the_work_of_whole_parts_and_of_stream_k():
    two, four = (small_products.shares(64, 4096, 4096, (64, 64, 64), parts, 132) for parts in (2, 4))
    assert (two.blocks, two.rounds, two.longest) == (128, 1, 32) and (four.blocks, four.rounds) == (256, 2)
    assert four.longest == 32 and two.used == four.used == pytest.approx(64 * 64 / (32 * 132))
    for tiles, k_tiles, blocks in ((64, 64, 132), (3, 10, 5), (140, 64, 132), (2, 3, 7)):
        pieces = [piece for block in range(blocks) for piece in small_products.stream_k(block, blocks, tiles, k_tiles)]
        units = [(tile, unit) for tile, first, last in pieces for unit in range(first, last)]
        assert units == [(tile, unit) for tile in range(tiles) for unit in range(k_tiles)]


def test_pictures_are_drawn_and_what_is_not_recorded_is_a_sentence():
    assert "after 6 k tiles" in repr(small_products.plot_work(3, 10, 5, 2))
    with pytest.raises(LabError, match="48 rows of A"):
        small_products.recorded(48)
    with pytest.raises(LabError, match="tools.recording decode"):
        small_products.recorded(64, "a100")


# ---- What was recorded ----

REGIMES = ("sustained", "burst")


@pytest.mark.parametrize("regime", REGIMES)
def test_the_recorded_rows_are_the_kernels_that_the_recorder_times(regime):
    for m in ROWS:
        recorded = [(row.kernel, row.config) for row in small_products.recorded(m, regime=regime).rows]
        timed = [(one.name, config_text(one.config)) for one in kernels(m)]
        assert recorded == [("cublas", ""), ("cublaslt_best", recorded[1][1]), *timed]


@pytest.mark.parametrize("regime", REGIMES)
def test_what_the_notebook_says_about_the_parts(regime):
    times = {
        m: {parts: small_products.recorded(m, regime=regime).split(parts).dram_us for parts in small_products.SPLITS}
        for m in ROWS
    }
    for m in (16, 32):
        assert min(times[m], key=times[m].get) == 2 and times[m][4] < 1.05 * times[m][2]
    assert sorted(times[64], key=times[64].get) == [4, 2, 3, 8, 1, 16]
    assert all(times[m][8] > 1.2 * times[m][2] for m in ROWS)
    one = [small_products.recorded(m, regime=regime).of("01_one_tile").dram_us / times[m][1] for m in ROWS]
    assert 1.09 < one[0] < 1.12 and 1.25 < one[1] < 1.3 and 0.99 < one[2] < 1.01


@pytest.mark.parametrize("regime", REGIMES)
def test_what_the_notebook_says_about_the_rungs_and_cublas(regime):
    for m in ROWS:
        found = small_products.recorded(m, regime=regime)
        ratio = found.of("cublas").dram_us / found.of("04_wgmma").dram_us
        assert 1.17 < ratio < 1.22 if m < 64 else 0.99 <= ratio < 1.01
        assert 0.999 < found.of("cublas").dram_us / found.of("cublaslt_best").dram_us < 1.005
        assert found.of("04_wgmma").dram_us < found.of("03_cluster").dram_us < found.split(2).dram_us
        assert all(row.dram_us > row.l2_us for row in found.rows)
        assert m == 64 or found.of("cublas").dram_us > small_products.recorded(64, regime=regime).of("cublas").dram_us
    few = small_products.recorded(64, regime=regime)
    assert all(few.split(parts).dram_us < 1.14 * few.split(parts).l2_us for parts in (2, 4, 8))
    assert few.of("03_cluster").dram_us < 1.14 * few.of("03_cluster").l2_us
    assert few.of("cublas").l2_us < 9.2 and 13.5 < 64 * 4096 * 4096 / (192 * 768 * 512) < 14.5, "said in 11b"
    names = [(m, "splitK" in name) for m, name, _ in small_products.library_kernels()]
    assert names == [(16, True), (16, True), (32, True), (32, True), (64, False)]


def test_both_regimes_are_alike_at_one_clock():
    for m in ROWS:
        lasting, short = (small_products.recorded(m, regime=regime).rows for regime in REGIMES)
        for one, other in zip(lasting, short, strict=True):
            assert one.sm_clock_mhz == other.sm_clock_mhz == 1980 and max(one.power_w, other.power_w) < 700
            assert one.dram_us == pytest.approx(other.dram_us, rel=0.01)
    with pytest.raises(LabError, match="idle"):
        small_products.recorded(64, regime="idle")
