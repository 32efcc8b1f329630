"""Which order of kernels the predictions give: directions of changes and rankings, on rows made for these tests."""

import pytest

from gemm_results.blind_trials import Order, Trial, direction, ranking, recorded_rungs


def trial(predicted, recorded, kernel="t4/x", n=512, gpu="G"):
    return Trial("7", kernel, "A=1", n, "", gpu, predicted, recorded, ("wait", "wait"))


def test_a_direction_is_right_if_both_times_move_the_same_way():
    slow, fast, misjudged = trial(200, 220), trial(100, 110), trial(300, 50)
    assert direction([slow, fast]) == Order(1, 1)
    assert direction([slow, misjudged]) == Order(0, 1)
    assert direction([slow, fast, misjudged]) == Order(1, 3)


def test_the_order_of_the_rows_does_not_matter():
    rows = [trial(100, 130), trial(120, 100), trial(90, 160), trial(150, 170)]
    assert direction(rows) == direction(rows[::-1])
    assert ranking(rows) == ranking(rows[::-1])


def test_small_changes_ask_for_no_direction_but_count_in_a_ranking():
    near = [trial(100, 100), trial(90, 107)]
    assert direction(near) == Order(0, 0)
    assert ranking(near) == Order(0, 1)


@pytest.mark.parametrize("other", [{"n": 1024}, {"gpu": "H"}, {"kernel": "simt/x"}])
def test_only_like_is_compared_with_like(other):
    rows = [trial(100, 100), trial(200, 200, **other)]
    assert direction(rows).pairs == ranking(rows).pairs == 0


def test_a_ranking_compares_kernels_of_a_ladder_and_a_direction_does_not():
    rows = [trial(100, 100, "t4/x"), trial(200, 200, "t4/y")]
    assert ranking(rows) == Order(1, 1)
    assert direction(rows) == Order(0, 0)


def test_equal_predictions_order_nothing():
    assert direction([trial(100, 100), trial(100, 200)]) == Order(0, 1)


def test_a_variant_is_compared_with_its_recorded_rung_and_rungs_not_with_one_another():
    rungs = [trial(100, 100), trial(90, 300)]
    assert direction([trial(150, 200)], rungs) == Order(1, 2)
    assert direction([], rungs) == Order(0, 0)


def test_no_pairs_have_no_share():
    assert str(Order(0, 0)) == "0 of 0 pairs"
    assert str(Order(3, 4)) == "3 of 4 pairs (75%)"


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
