"""The block tile on a roofline: its facts and its choices."""

import pytest

import gemm_lab as lab
from gemm_lab_lessons.ch01.tiling import TILES, TileExplorer, bars, tile_facts
from gemm_results.errors import LabError
from gemm_results.roofline_model import rounded_down
from gpu_simulator.errors import SimulatorError


def test_facts_are_those_of_the_models():
    facts = tile_facts(256, 128, 64, "t4")
    assert facts.intensity == pytest.approx(256 * 128 / (256 + 128))
    assert facts.smem == (256 + 128) * 64 * 2 and facts.fits
    assert facts.attainable["DRAM"] == pytest.approx(facts.intensity * 220 / 1000)
    assert facts.attainable["L2"] == 65.0
    assert "DRAM serves every read: ✗ memory bound" in facts.text and "✓ compute bound" in facts.text


def test_the_depth_changes_the_shared_memory_only():
    shallow, deep = tile_facts(256, 256, 32), tile_facts(256, 256, 128)
    assert shallow.intensity == deep.intensity and shallow.attainable == deep.attainable
    assert shallow.fits and not deep.fits
    assert "one stage in shared memory: ✓ fits" in shallow.text
    assert "one stage in shared memory: ✗ does not fit" in deep.text


@pytest.mark.parametrize(("arguments", "said"), [((0, 128, 32), "more than 0"), ((64, 64, 32, "voodoo2"), "known are")])
def test_what_does_not_exist_is_refused(arguments, said):
    with pytest.raises(SimulatorError, match=said):
        tile_facts(*arguments)


def test_the_sums_count():
    """A tile of 256 × 256 FP32 sums fills every register of an SM, and on a B200 all of its tensor memory."""
    half, full, more = (tile_facts(256, n, 32) for n in (128, 256, 512))
    assert (half.sums, full.sums, full.room_for_sums) == (32_768, 65_536, 65_536)
    assert (half.sums_fit, full.sums_fit, more.sums_fit) == (True, False, False)
    assert "sums in registers: ✓ fits" in half.text and "✗ too many" in more.text
    assert "✗ none is left for the rest of the kernel" in full.text
    blackwell = tile_facts(256, 256, 32, "b200")
    assert blackwell.sums_in == "tensor memory" and blackwell.sums_fit, "registers are free for the rest there"
    assert not tile_facts(256, 512, 32, "b200").sums_fit


def test_the_bars_have_limits_and_marks():
    made = bars(tile_facts(256, 256, 128, "t4"))
    assert [bar.name for bar in made[:2]] == ["sums in registers", "one stage in shared memory"]
    assert [(bar.good, bar.share) for bar in made[:2]] == [(False, 1.0), (False, 2.0)]
    assert made[1].words == "131,072 of 65,536 bytes of a block" and made[1].says == "✗ does not fit"
    assert all(bar.says.startswith("✓ " if bar.good else "✗ ") for bar in made)
    assert made[2].words == "at most 28.2 of 65 TFLOPS" and made[2].says == "✗ memory bound"


def test_a_choice_changes_what_is_drawn():
    explorer = TileExplorer(128, 88, 32, "t4")
    assert 88 in explorer.options["block_n"] and explorer.options["block_m"] == list(TILES)
    explorer.block_n, explorer.gpu = 256, "h200"
    assert explorer.facts.block == (128, 256, 32) and explorer.facts.gpu.key == "h200"
    assert explorer.shown["block"] == [128, 256, 32] and "128 × 256 × 32" in explorer.shown["text"]
    assert explorer.choose(block_m=64, block_k=8).block == (64, 256, 8) and explorer.block_m == 64
    assert "warp_m" not in explorer.options


def test_the_sliders_reach_the_tile_that_the_exercise_asks_for():
    """Those of 01_block_tile are found among the steps of the sliders, as multiples of an mma's sides."""
    options = TileExplorer(256, 128, 64, gpu="t4").options
    assert {192, 208, 224} <= set(options["block_n"]) and options["block_m"] == options["block_n"] == list(TILES)
    assert all(side % 16 == 0 for side in TILES) and all(depth % 8 == 0 for depth in options["block_k"])
    task = lab.exercise("01_block_tile")
    m, n, k = 256, 192, 32
    assert m in options["block_m"] and n in options["block_n"] and k in options["block_k"]
    assert "solved" in repr(task.check(block_m=m, block_n=n, block_k=k))
    with pytest.raises(LabError, match="not yet"):
        task.check(block_m=256, block_n=128, block_k=64)


def test_limits_that_tie_are_both_named():
    explorer = TileExplorer(64, 64, 32, "t4", warp=(32, 32))
    limits = explorer.resources.occupancy.limits
    assert (limits["shared memory"], limits["registers"], limits["threads"]) == (8, 12, 8)
    assert "(limits: shared memory and threads)" in explorer.text


def test_what_it_shows_of_a_tile_never_contradicts_the_check_of_the_exercise():
    shown = TileExplorer(256, 160, 32)
    assert ": 98.46 FLOP for each byte" in shown.text and shown.shown["intensity"].startswith("98.46 FLOP")
    with pytest.raises(LabError, match=r"gives 98.46 FLOP/byte; the balance point is 98.48"):
        lab.exercise("01_block_tile").check(block_m=256, block_n=160, block_k=32)
    assert [rounded_down(value) for value in (98.4999, 0.29, 64.0, 85.3333, 2.5)] == [
        "98.49",
        "0.29",
        "64",
        "85.33",
        "2.5",
    ]


@pytest.mark.long
def test_with_a_warp_tile_it_says_what_binds():
    explorer = TileExplorer(256, 128, 64, "t4", warp=(64, 64))
    assert explorer.resources.binding == "the tensor cores" and "At most 1 block on an SM" in explorer.text
    assert "What binds: the tensor cores, at 65 TFLOPS, if L2 serves 71% of the reads." in explorer.text
    explorer.choose(warp_m=32, warp_n=32)
    assert explorer.resources.warp == (32, 32)
    explorer.stages = 2
    assert "does not start" in explorer.text and not explorer.good


def test_an_impossible_choice_says_why_and_the_last_drawing_stays():
    explorer = TileExplorer(128, 128, 32, "t4", warp=(64, 64))
    facts, drawn = explorer.facts, explorer.shown
    with pytest.raises(SimulatorError, match="do not divide"):
        explorer.block_m = 32
    with pytest.raises(SimulatorError, match="no choice “colour”"):
        explorer.choose(colour=3)
    with pytest.raises(SimulatorError, match="block_m must be a whole number"):
        explorer.block_m = "wide"
    assert explorer.block_m == 128 and explorer.facts is facts and explorer.shown == drawn
    explorer.set_state({"block_m": 32})  # a slider of the view
    assert "do not divide" in explorer.shown["problem"] and explorer.shown["block"] == [128, 128, 32]
    explorer.set_state({"block_m": 64})
    assert explorer.shown["problem"] == "" and explorer.shown["block"] == [64, 128, 32]
    with pytest.raises(SimulatorError, match="do not divide"):
        TileExplorer(128, 128, 32, "t4", warp=(48, 64))
