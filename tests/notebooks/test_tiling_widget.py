"""The block tile on a roofline: its facts, its controls and its still picture."""

import pytest

from gemm_lab.errors import LabError
from gemm_lab.notebook.widgets.tiling import TileExplorer, tile_facts, tile_picture


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
    assert "does not fit" in deep.text


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
