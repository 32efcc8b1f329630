"""Predictions: stored, compared, remembered after a restart; what is no answer is refused."""

import pytest

import gemm_lab as lab
from gemm_lab.config import state_dir
from gemm_lab.errors import ConfigError


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def ask(question="How many wavefronts?", **more):
    return lab.predict(question, "wavefronts", **more)


def box_of(prediction):
    """The answer box and the note beside it, as the notebook shows them."""
    row = prediction._widget().children[1].children
    return row[0], row[-1]


# ---- Answers ----


def test_an_answer_is_remembered_by_the_next_session():
    assert ask().value is None
    ask().answer("8")
    assert ask().value == 8.0
    assert ask("Another question?").value is None, "each question has its own answer"
    ask().answer(4)
    assert ask().value == 4.0
    ask().answer(None)
    assert ask().value is None


def test_a_damaged_file_costs_the_answers_not_the_notebook():
    ask().answer(8)
    for text in ("", "{", "[1, 2]"):
        (state_dir() / "predictions.json").write_text(text)
        assert ask().value is None
    assert ask().answer(2).value == 2.0 and ask().value == 2.0


@pytest.mark.parametrize("bad", ["many", "", "nan", "inf", float("nan"), [8], {}])
def test_what_is_no_number_is_refused(bad):
    prediction = ask().answer(8)
    with pytest.raises(ConfigError, match="A prediction is a number"):
        prediction.answer(bad)
    assert prediction.value == 8.0 and ask().value == 8.0


def test_a_choice_must_be_one_of_the_choices():
    prediction = lab.predict("Which unit waits?", choices=["memory", "tensor cores"])
    with pytest.raises(ConfigError, match="memory, tensor cores"):
        prediction.answer("banks")
    assert prediction.answer("memory").value == "memory"


# ---- Comparisons ----


@pytest.mark.parametrize("answer, truth, close", [(8, 8, True), (8.7, 8, True), (9, 8, False), (1, 8, False),
                                                  (0, 8, False), (0, 0, True), (-8, 8, False)])
def test_close_means_within_ten_percent(answer, truth, close):
    told = ask().answer(answer).compare(truth)
    assert told.close is close
    assert ("right" in repr(told)) is close and "You said" in repr(told)


def test_the_truth_is_told_with_its_unit_also_without_an_answer():
    told = ask().compare(8)
    assert told.close is None and "8 wavefronts" in repr(told) and "You said" not in repr(told)


@pytest.mark.parametrize("unit, value, told", [
    ("wavefronts", 1, "It is 1 wavefront."), ("wavefronts", 2, "It is 2 wavefronts."), ("warp tiles", 1, "1 warp tile."),
    ("times the ideal", 1, "1 time the ideal."), ("TFLOPS", 1, "1 TFLOPS."), ("(0 to 7)", 4, "It is 4."),
    ("bytes (minus: backwards)", -16, "It is -16 bytes."), ("", 3, "It is 3."),
])
def test_a_unit_stands_behind_a_number_as_one_writes_it(unit, value, told):
    assert told in repr(lab.predict("How many?", unit=unit).compare(value)) + "."


def test_a_wrong_answer_hears_by_how_much():
    assert "4 times" in repr(ask().answer(32).compare(8))
    assert repr(ask().answer(0).compare(8)).count("8 wavefronts") == 1


def test_choices_are_compared_exactly():
    prediction = lab.predict("Which unit waits?", choices=["memory", "tensor cores"]).answer("memory")
    assert prediction.compare("memory").close is True
    told = prediction.compare("tensor cores")
    assert told.close is False and "memory" in repr(told) and "tensor cores" in repr(told)


# ---- The box ----


def test_the_box_stores_what_is_typed():
    prediction = ask()
    box, note = box_of(prediction)
    box.value = "8"
    assert prediction.value == 8.0 and ask().value == 8.0 and "stored: 8" in note.value


def test_the_box_says_what_is_wrong_and_keeps_the_old_answer():
    prediction = ask().answer(8)
    box, note = box_of(prediction)
    assert box.value == "8"
    box.value = "eight"
    assert "A prediction is a number" in note.value and prediction.value == 8.0
    box.value = "4"
    assert "stored: 4" in note.value and prediction.value == 4.0


def test_choices_are_buttons():
    prediction = lab.predict("Which unit waits?", choices=["memory", "tensor cores"])
    box, note = box_of(prediction)
    assert box.value is None, "nothing is chosen for the learner"
    box.value = "memory"
    assert ask("Which unit waits?").value == "memory" and "memory" in note.value


def test_the_question_is_escaped_wherever_it_is_shown():
    prediction = lab.predict("Is a < b?", "<i>")
    assert "&lt; b" in prediction._repr_html_() and "<i>" not in prediction._repr_html_()
    assert "&lt; b" in prediction._widget().children[0].value
