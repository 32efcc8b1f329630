"""The block tile on a roofline: its facts, its controls and its still picture."""

import pytest

from gemm_lab.notebook.widgets.tiling import TileExplorer, tile_facts, tile_picture
from gpu_simulator.errors import LabError


def test_facts_are_those_of_the_models():
    facts = tile_facts(256, 128, 64, "t4")
    assert facts.intensity == pytest.approx(256 * 128 / (256 + 128))
    assert facts.smem == (256 + 128) * 64 * 2 and facts.fits
    assert facts.attainable["DRAM"] == pytest.approx(facts.intensity * 220 / 1000)
    assert facts.attainable["L2"] == 65.0
    assert "memory bound" in facts.text and "compute bound" in facts.text


def test_the_depth_changes_the_shared_memory_only():
    shallow, deep = tile_facts(256, 256, 32), tile_facts(256, 256, 128)
    assert shallow.intensity == deep.intensity and shallow.attainable == deep.attainable
    assert shallow.fits and not deep.fits
    assert shallow.text.endswith(": it fits in shared memory.") and deep.text.endswith(
        ": it does not fit in shared memory."
    )


@pytest.mark.parametrize(("arguments", "said"), [((0, 128, 32), "more than 0"), ((64, 64, 32, "voodoo2"), "known are")])
def test_what_does_not_exist_is_refused(arguments, said):
    with pytest.raises(LabError, match=said):
        tile_facts(*arguments)


def test_turning_a_control_moves_the_tile():
    explorer = TileExplorer(128, 96, 32, "t4")
    controls = explorer._widget()
    sliders, others = controls.children[0].children, controls.children[1].children
    words, picture = controls.children[2], controls.children[3]
    before = picture.value
    assert sliders[1].value == 96
    sliders[1].value = 256
    others[1].value = "h200"
    assert explorer.facts.block == (128, 256, 32) and explorer.facts.gpu.key == "h200"
    assert "128 × 256 × 32" in words.value and picture.value != before


def test_the_still_picture_is_small_and_repeatable():
    facts = tile_facts(128, 128, 32)
    assert tile_picture(facts) == tile_picture(facts)
    assert len(TileExplorer()._repr_html_()) < 40_000


@pytest.mark.long
def test_with_a_warp_tile_it_says_what_binds():
    explorer = TileExplorer(256, 128, 64, "t4", warp=(64, 64))
    assert explorer.resources.binding == "the tensor cores" and "At most 1 block on an SM" in explorer.text
    assert "What binds: the tensor cores, at 65 TFLOPS, if L2 serves 71% of the reads." in explorer.text
    controls = explorer._widget()
    warp_m, warp_n, stages = controls.children[2].children
    words, picture = controls.children[3], controls.children[4]
    before = picture.value
    warp_m.value = warp_n.value = 32
    assert explorer.resources.warp == (32, 32) and picture.value != before
    stages.value = 2
    assert "does not start" in words.value and not explorer.good


def test_an_impossible_choice_says_why_and_the_last_picture_stays():
    explorer = TileExplorer(128, 128, 32, "t4", warp=(64, 64))
    controls = explorer._widget()
    words, picture = controls.children[3], controls.children[4]
    before, facts = picture.value, explorer.facts
    controls.children[0].children[0].value = 32
    assert "do not divide" in words.value and "last valid" in words.value
    assert picture.value == before and explorer.facts is facts
    with pytest.raises(LabError, match="do not divide"):
        TileExplorer(128, 128, 32, "t4", warp=(48, 64))
