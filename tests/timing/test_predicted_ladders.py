"""`Ladder.predict`: a row for every rung and size, reasons instead of errors, and marks that nobody takes for measured."""

import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.lab.actions import predicting
from gemm_lab.lab.actions.predicted_ladder import PredictedLadder, recorded_speeds
from gemm_lab.lab.tuning import current
from gemm_results.cards.predicted_card import Predicted
from gemm_results.errors import LabError
from gemm_results.results import recorded
from gpu_simulator.errors import SimulatorError, SizeError

H200 = lab.gpu("h200")


@pytest.fixture(scope="module")
def few():
    return lab.ladder("first_kernels").predict(sizes=[128, 256])


def test_there_is_a_row_for_every_rung_and_size(few):
    names = [rung.name for rung in catalog.ladder("first_kernels").kernels]
    assert [(name, n) for name, n, _ in few.rows] == [(name, n) for name in names for n in (128, 256)]
    assert few.sizes == [128, 256] and all(isinstance(one, Predicted) for *_, one in few.rows)


def test_a_row_is_what_the_kernel_itself_predicts(few):
    name, n, found = few.rows[0]
    assert found.cycles == lab.kernel(name).predict(n=n).cycles


def test_the_table_is_no_measurement(few):
    for text in (repr(few), few._repr_html_()):
        assert "predicted TFLOPS" in text and "not measured" in text and "blind trials" in text


def test_rungs_that_cannot_be_predicted_are_rows_with_their_reason():
    found = lab.ladder("b200").predict(progress=False)
    assert len(found.rows) == len(lab.ladder("b200"))
    assert all("There is no prediction" in one for *_, one in found.rows)
    assert "sm_100a" in repr(found)
    with pytest.raises(LabError, match="No rung of b200"):
        found.plot()


def test_a_failure_of_the_model_is_one_row_too(monkeypatch):
    def fail(*_):
        raise IndexError("out of range")

    monkeypatch.setattr(predicting, "predicted", fail)
    found = lab.ladder("first_kernels").predict(sizes=1024)
    assert all("the time model failed" in one and "out of range" in one for *_, one in found.rows)


@pytest.mark.parametrize("wrong, error", [({"on": "gtx480"}, SimulatorError), ({"sizes": "big"}, SizeError)])
def test_unknown_gpus_and_sizes_are_refused(wrong, error):
    with pytest.raises(error, match="h200|whole numbers"):
        lab.ladder("first_kernels").predict(**wrong)


def test_a_size_without_a_prediction_cannot_be_plotted(few):
    with pytest.raises(LabError, match="128, 256"):
        few.plot(4096)


def test_predictions_are_hollow_and_every_kind_has_a_legend_entry():
    ladder = catalog.ladder("ampere")
    found = lab.kernel("ampere/04_swizzled").predict(n=1024)
    figure = PredictedLadder(ladder, H200, (("ampere/04_swizzled", 4096, found),)).plot()
    (axes,) = figure.axes
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert sum("predicted" in words for words in legend) == 1 and len(legend) == 3
    marks = {line.get_label(): line for line in axes.lines if line.get_marker() not in ("None", "")}
    assert len({line.get_marker() for line in marks.values()}) == len(marks) == 3
    (hollow,) = [line for line in marks.values() if line.get_markerfacecolor() == "none"]
    assert hollow.get_ydata()[0] == pytest.approx(found.tflops)


def test_recorded_speeds_are_those_of_this_gpu_and_size():
    found = recorded_speeds(catalog.ladder("ampere"), H200, 4096)
    every = [r for r in recorded("h200") if r.n == 4096 and r.regime == "burst"]
    rows = {r.kernel: r.tflops for r in current(every, "h200")[0]}
    assert found["measured"] and all(rows[name] == speed for name, speed in found["measured"])
    names = [name for name, _ in found["measured"]]
    assert len(set(names)) == len(names), "a tuned tile is no second speed of its rung"
    assert "ampere/04_swizzled" in dict(found["profiled"])
    assert not found["published"], "the article's kernels ran on another GPU"
    printed = recorded_speeds(catalog.ladder("t4"), lab.gpu("t4"), 8192)
    assert "t4/06_double_buffered" in dict(printed["published"]) and not printed["measured"]
    assert not any(recorded_speeds(catalog.ladder("b200"), H200, 4096).values())
