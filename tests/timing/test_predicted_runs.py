"""The predicted speed on the card of a run: when there is one, and that no verdict is lost because of it."""

from importlib import import_module

import pytest

import gemm_lab as lab
from gemm_lab.lab.actions import predicting, running
from gemm_lab.lab.here import Here
from gemm_results.errors import LabError

NAME = "t4/03_swizzled"


def run(kernel=None, **options):
    return (kernel or lab.kernel(NAME)).run(256, **options)


@pytest.fixture(autouse=True)
def simulated(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_BACKEND", "simulator")


def notebook(monkeypatch, gpu=False):
    monkeypatch.setattr(running, "in_notebook", lambda: True)
    found = Here(None, gpu, "" if gpu else "No GPU was found.")
    monkeypatch.setattr(import_module("gemm_lab.lab.kernel"), "here", lambda: found)


def test_the_card_says_what_is_predicted_and_how_it_was_tested():
    found = run(predict=True)
    for text in (repr(found), found._repr_html_()):
        assert "PASS" in text and "○ predicted for" in text and "times as fast as t4/02" in text
        assert "published steps" in text and "not measured" in text
    assert "TFLOPS" not in found.predicted.line, "no T4 was ever here"
    assert found.tflops is None, "a prediction is no speed"


def test_scripts_and_tests_predict_nothing_unless_they_ask():
    assert run().predicted is None


@pytest.mark.parametrize("gpu, wanted, predicts", [(False, None, True), (True, None, False), (False, False, False)])
def test_a_notebook_without_a_gpu_predicts(monkeypatch, gpu, wanted, predicts):
    notebook(monkeypatch, gpu)
    monkeypatch.setattr(predicting, "expected", lambda kernel: "a sentence")
    assert run(predict=wanted).predicted == ("a sentence" if predicts else None)


@pytest.mark.parametrize("counts_only", [{"backend": "simulator"}, {"timed": False}])
def test_whoever_asks_for_counts_waits_for_no_prediction(monkeypatch, counts_only):
    notebook(monkeypatch)
    assert run(**counts_only).predicted is None


def test_a_wrong_kernel_has_no_speed():
    kernel = lab.kernel(NAME)
    wrong = kernel.rewrite(kernel.source.replace("int k_tile = 0", "int k_tile = BLOCK_K"))
    found = run(wrong, predict=True)
    assert not found.passed and found.predicted is None and "predicted" not in found._repr_html_()


@pytest.mark.parametrize("error", [LabError("no constants."), KeyboardInterrupt(), ZeroDivisionError("division")])
def test_no_failure_of_a_prediction_loses_the_verdict(monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(predicting, "predicted", fail)
    found = run(predict=True)
    assert found.passed
    for text in (repr(found), found._repr_html_()):
        assert text.count("There is no prediction") == 1 and "PASS" in text and "Traceback" not in text


def test_a_size_that_cannot_be_predicted_is_a_sentence():
    kernel = lab.kernel(NAME)(BLOCK_M=192, NUM_WARPS_M=3)
    assert "multiple" in predicting.expected(kernel)


def test_a_kernel_for_another_gpu_is_a_sentence(monkeypatch):
    monkeypatch.setattr(predicting, "known", lambda: ["h200"])
    assert "There is no prediction: b200" in predicting.expected(lab.kernel("b200/01"))


def test_the_ladders_own_gpu_is_predicted_once_it_has_constants(monkeypatch):
    kernel = lab.kernel(NAME)
    for keys, key in ((["h200"], "h200"), (["h200", "t4"], "t4")):
        monkeypatch.setattr(predicting, "known", lambda keys=keys: keys)
        assert predicting.reference(kernel) == key


def test_the_same_machine_code_is_predicted_once(monkeypatch):
    made, predict = [], predicting.predict
    monkeypatch.setattr(predicting, "predict", lambda *facts: made.append(facts) or predict(*facts))
    predicting._found.cache_clear()
    first, again = lab.kernel(NAME).predict(n=2048), lab.kernel(NAME).predict(n=2048)
    assert len(made) == 1 and again.cycles == first.cycles
    assert lab.kernel(NAME).predict(n=4096).cycles > first.cycles and len(made) == 2
    lab.kernel(NAME)(BLOCK_M=128).predict(n=2048)
    assert len(made) == 3
