"""The recorded rungs of a campaign, beside which its trials are read."""

import pytest

from gemm_results.blind_trials import recorded_rungs


def test_rungs_are_read_from_the_campaign_and_the_cards(tmp_path):
    (tmp_path / "base.csv").write_text(
        "kernel,config,n,idea,edit,cycles,top_stall\nt4/x,A=1,512,,,110,wait\nt4/y,A=1,512,,,,\n"
    )
    card = {"kernel": "t4/x", "config": "A=1", "n": "512", "gpu": "G", "cycles": "100", "stall_wait": "2"}
    (rung,) = recorded_rungs(tmp_path / "base.csv", [card])
    assert rung.error == pytest.approx(0.1) and rung.stall == ("wait", "wait")
    assert recorded_rungs(tmp_path / "other.csv", [card]) == ()


def test_a_rung_without_its_card_is_an_error(tmp_path):
    (tmp_path / "base.csv").write_text("kernel,config,n,idea,edit,cycles,top_stall\nt4/x,A=1,512,,,110,wait\n")
    with pytest.raises(KeyError):
        recorded_rungs(tmp_path / "base.csv", [])
