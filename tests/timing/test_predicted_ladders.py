"""`Ladder.predict`: a row for every rung and size, reasons instead of errors, and marks that nobody takes for measured."""

import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.lab.actions import predicting
from gemm_results.cards.predicted_card import Predicted
from gpu_simulator.errors import SimulatorError, SizeError


@pytest.fixture(scope="module")
def few():
    return lab.ladder("first_kernels").predict(sizes=[128, 256])


def test_there_is_a_row_for_every_rung_and_size(few):
    names = [rung.name for rung in catalog.ladder("first_kernels").kernels]
    assert [(name, n) for name, n, _ in few.rows] == [(name, n) for name in names for n in (128, 256)]
    assert all(isinstance(one, Predicted) for *_, one in few.rows)


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
