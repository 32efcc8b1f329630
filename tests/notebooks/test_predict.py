"""Predictions: stored, compared, remembered after a restart; what is no answer is refused."""

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.config import state_dir
from gpu_simulator.errors import ConfigError, LabError


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


def test_what_is_stored_is_believed_only_if_it_answers_the_question():
    ask().answer(8)
    lab.predict("Which?", choices=["a", "b"]).answer("a")
    assert lab.predict("Which?", choices=["b", "c"]).value is None, "the choices have changed"
    assert ask("Which?").value is None and "no answer yet" in repr(ask("Which?"))
    file = state_dir() / "predictions.json"
    file.write_text(file.read_text().replace("8.0", "[8]"))
    assert ask().value is None


def test_without_a_folder_answers_last_as_long_as_the_session(monkeypatch, tmp_path, capsys):
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(nowhere))
    assert ask().answer(8).value == 8.0 and ask("Another?").answer(4).value == 4.0
    assert (ask().value, ask("Another?").value) == (8.0, 4.0)
    said = capsys.readouterr().err
    assert said.count("when this session ends") == 1 and "XDG_STATE_HOME" in said
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert ask().value == 8.0
    ask("A third?").answer(2)
    assert ask("Another?").value == 4.0, "all are stored as soon as they can be"
    assert [path.name for path in state_dir().iterdir()] == ["predictions.json"]


@pytest.mark.parametrize("truth", ["four", [4], 1j])
def test_a_truth_that_is_no_number_is_refused(truth):
    with pytest.raises(ConfigError, match="How many wavefronts.* is compared with a number"):
        ask().answer(8).compare(truth)


def test_choices_that_are_numbers_are_compared_by_their_words():
    prediction = lab.predict("How many?", choices=[1, 16])
    assert prediction.answer(16).compare(16).close and not prediction.compare(np.int64(1)).close
    with pytest.raises(ConfigError, match="choices is a list"):
        lab.predict("How many?", choices="1, 16")


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


@pytest.mark.parametrize(
    "answer, truth, close",
    [(8, 8, True), (8.7, 8, True), (9, 8, False), (1, 8, False), (0, 8, False), (0, 0, True), (-8, 8, False)],
)
def test_close_means_within_ten_percent(answer, truth, close):
    told = ask().answer(answer).compare(truth)
    assert told.close is close
    assert ("right" in repr(told)) is close and "You said" in repr(told)


def test_without_a_prediction_the_answer_is_only_behind_a_fold():
    told = ask().compare(8, why="Eight rows meet.")
    page = told._repr_html_()
    assert told.close is None and "8" not in repr(told) and "Eight" not in repr(told)
    before, _, inside = page.partition("<details")
    assert "8 wavefronts" not in before and "It is 8 wavefronts. Eight rows meet." in inside


def test_a_prediction_hears_the_reason():
    told = ask().answer(4).compare(8, why="Eight rows meet.")
    assert "8 wavefronts" in repr(told) and "Eight rows meet." in repr(told) and "<details" not in told._repr_html_()


def test_a_prediction_that_comes_after_the_reveal_is_compared_at_once():
    question = ask()
    box, note = box_of(question)
    question.compare(8)
    box.value = "8"
    assert "right" in note.value


def test_a_question_of_the_file_has_its_hint_its_answer_and_its_reason_there():
    question = lab.predict("00_verdict")
    told = question.answer("a crash").compare()
    assert "one row wrong" in repr(told) and question.why in repr(told) and question.hint in question._repr_html_()
    with pytest.raises(LabError, match="00_verdict"):
        lab.predict("00_verdikt")
    with pytest.raises(ConfigError, match="give compare the value"):
        lab.predict("00_loop").compare()


def test_a_hint_is_folded():
    page = ask(hint="Count the rows.")._repr_html_()
    assert page.index("<details") < page.index("Count the rows.") and "Count" not in repr(ask(hint="Count the rows."))


@pytest.mark.parametrize(
    "unit, value, told",
    [
        ("wavefronts", 1, "It is 1 wavefront."),
        ("wavefronts", 2, "It is 2 wavefronts."),
        ("warp tiles", 1, "1 warp tile."),
        ("times the ideal", 1, "1 time the ideal."),
        ("TFLOPS", 1, "1 TFLOPS."),
        ("(0 to 7)", 4, "It is 4."),
        ("bytes (minus: backwards)", -16, "It is -16 bytes."),
        ("", 3, "It is 3."),
    ],
)
def test_a_unit_stands_behind_a_number_as_one_writes_it(unit, value, told):
    assert told in lab.predict("How many?", unit=unit).compare(value)._repr_html_()


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
    again = lab.predict("Which unit waits?", choices=["memory", "tensor cores"])
    assert again.value == "memory" and "memory" in note.value


def test_the_question_is_escaped_wherever_it_is_shown():
    prediction = lab.predict("Is a < b?", "<i>")
    assert "&lt; b" in prediction._repr_html_() and "<i>" not in prediction._repr_html_()
    assert "&lt; b" in prediction._widget().children[0].value
