"""Predicted beside recorded: what the table and the picture show of rungs, blind trials and failures."""

from dataclasses import replace

import pytest

import gemm_lab as lab
from gemm_lab_lessons.ch12 import predictions as room
from gemm_lab_lessons.ch12.predictions import predictions
from gemm_results.blind_trials import trials
from gemm_results.errors import LabError


@pytest.fixture(scope="module")
def found():
    return predictions()


def test_every_rung_and_every_trial_is_counted_once(found):
    rows = found._table().rows
    assert rows[-1][1] == str(len(found.rungs)) and rows[-1][4] == str(len(found.blind))
    assert len(found.blind) + len(predictions("h100").blind) == len(trials())
    for column in (1, 4):
        assert sum(int(row[column] or 0) for row in rows[:-1]) == int(rows[-1][column])


def test_the_words_say_what_was_known(found):
    for text in (repr(found), found._repr_html_()):
        assert "Predicted for an H200" in text and "only the blind trials" in text


def test_the_worst_come_first_whether_too_long_or_too_short(found):
    sizes = [max(one.factor, 1 / one.factor) for one in found.worst]
    assert sizes == sorted(sizes, reverse=True) and len(sizes) == len(found.rungs) + len(found.blind)


def test_the_order_of_blocks_counts_at_16384_and_hardly_changes_the_prediction():
    bands, by_rows = lab.kernel("hopper/05"), lab.kernel("hopper/05", GROUP_M=1)
    recorded, predicted = (
        [cycles(kernel) for kernel in (bands, by_rows)]
        for cycles in (lambda k: k.profile(16384).card["cycles"], lambda k: k.predict(on="h200", n=16384).cycles)
    )
    assert recorded[1] > 1.1 * recorded[0] and predicted[1] == pytest.approx(predicted[0], rel=0.02)


def test_failures_are_named(found):
    broken = replace(found, failed=(("t4/99", "it has no machine code"),))
    for text in (repr(broken), broken._repr_html_()):
        assert "t4/99 has no prediction: it has no machine code" in text


def test_the_picture_has_hollow_marks_of_two_kinds_a_band_and_the_worst_by_name(found):
    (axes,) = found.plot().axes
    marks = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    assert {len(line.get_xdata()) for line in marks} == {len(found.rungs), len(found.blind)}
    assert len({line.get_marker() for line in marks}) == 2
    assert all(line.get_markerfacecolor() == "none" for line in marks)
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(legend) == 2 and all("predicted" in words for words in legend)
    assert axes.collections, "the band"
    assert any(found.worst[0].kernel in text.get_text() for text in axes.texts)


def test_a_gpu_without_predictions_is_refused_with_those_that_have_some():
    with pytest.raises(LabError, match="there are predictions for .*h200"):
        predictions("b200")


def test_a_failed_row_is_no_point(tmp_path, monkeypatch):
    card = "kernel,config,n,gpu,cycles,stall_wait\nt4/x,A=1,512,NVIDIA H200,100,1\nt4/y,A=1,512,NVIDIA H200,100,1\n"
    rows = "kernel,config,n,cycles,top_stall,unit,failed\nt4/x,A=1,512,110,wait,fma,\nt4/y,A=1,512,,,,no machine code\n"
    for folder, name, text in (("predicted", "h200.csv", rows), ("profiles/h200", "cards.csv", card)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text(text)
    monkeypatch.setattr(room, "data_dir", lambda _: tmp_path)
    made = predictions()
    assert [one.kernel for one in made.rungs] == ["t4/x"] and made.failed == (("t4/y", "no machine code"),)
