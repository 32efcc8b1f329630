"""Predictions: stored, compared, remembered after a restart; what is no answer is refused."""

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.catalog import tomllib
from gemm_lab.config import data_dir, state_dir
from gemm_lab.notebook.guess import questions
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def ask(question="How many wavefronts?", **more):
    return lab.guess(question, "wavefronts", **more)


def box_of(prediction):
    """The answer box and the note beside it, as the notebook shows them."""
    row = prediction._widget().children[0].children
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
    lab.guess("Which?", choices=["a", "b"]).answer("a")
    assert lab.guess("Which?", choices=["b", "c"]).value is None, "the choices have changed"
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
    assert {path.name for path in state_dir().iterdir()} == {"predictions.json", "predictions.json.lock"}


@pytest.mark.parametrize("truth", ["four", [4], 1j])
def test_a_truth_that_is_no_number_is_refused(truth):
    with pytest.raises(ConfigError, match="How many wavefronts.* is compared with a number"):
        ask().answer(8).compare(truth)


def test_choices_that_are_numbers_are_compared_by_their_words():
    prediction = lab.guess("How many?", choices=[1, 16])
    assert prediction.answer(16).compare(16).close and not prediction.compare(np.int64(1)).close
    with pytest.raises(ConfigError, match="choices is a list"):
        lab.guess("How many?", choices="1, 16")


@pytest.mark.parametrize("bad", ["many", "", "nan", "inf", float("nan"), [8], {}])
def test_what_is_no_number_is_refused(bad):
    prediction = ask().answer(8)
    with pytest.raises(ConfigError, match="A guess is a number"):
        prediction.answer(bad)
    assert prediction.value == 8.0 and ask().value == 8.0


def test_a_choice_must_be_one_of_the_choices():
    prediction = lab.guess("Which unit waits?", choices=["memory", "tensor cores"])
    with pytest.raises(ConfigError, match="memory, tensor cores"):
        prediction.answer("banks")
    assert prediction.answer("memory").value == "memory"


# ---- Comparisons ----


@pytest.mark.parametrize(
    "answer, truth, close",
    [(8, 8, True), (8.7, 8, True), (9, 8, False), (1, 8, False), (0, 8, False), (0, 0, True), (-8, 8, False)],
)
def test_an_estimate_is_right_within_ten_percent(answer, truth, close):
    told = ask(exact=False).answer(answer).compare(truth)
    assert told.close is close
    assert ("right" in repr(told)) is close or told.near and "You said" in repr(told)


def test_without_a_kind_a_whole_number_is_exact_and_another_is_an_estimate():
    assert not ask().answer(8.7).compare(8).close and not ask().answer(8.7).compare(np.int64(8)).close
    assert ask().answer(8).compare(8).close and ask().answer(8).compare(8.3).close
    assert ask().answer(8).compare(8.0).close and ask(exact=True).answer(0.3).compare(0.1 + 0.2).close


EXACT = {
    "01_swap": 1, "03_sum": 2048, "03_work": 64, "04_apart": 8, "04_shifted": 5, "04_shorter": 4, "04_twelve": 4,
    "05_absolute": 4, "05_step": -16, "05_two": 2, "05_modulo_four": 2, "06_mma": 256, "06_waits": 96,
    "06_degree": 8, "06_blocks": 1, "06_store": 8, "07_rotation": 6, "07_left": 2, "07_third_stage": 1,
    "07_copies": 6, "07_narrow": 8, "08_ninth": 168, "09_loads": 4, "09_blocks": 2,
    "10_strips": 64, "10_rows": 512, "10_start": 168, "10_moved": 240, "10_level": 64, "10_read": 5120, "10_fitted": 112, "11_held": 128,
    "11_row": 9, "11_owner": 2, "11_added": 6, "11_gaps": 15, "11_bytes": 32, "12_bigger": 1024,
    "13_numbers": 7, "13_width": 128,
}  # fmt: skip


def test_the_table_has_the_exact_questions():
    assert set(EXACT) == {name for name, entry in questions().items() if "exact" in entry}
    assert not [name for name, entry in questions().items() if entry.get("unit") == "wavefronts" and "factor" in entry]


def test_every_question_has_a_hint_and_a_reason():
    assert [name for name, entry in questions().items() if not entry.get("hint") or not entry.get("why")] == []


@pytest.mark.parametrize("name", EXACT)
def test_of_an_exact_question_only_the_number_is_right(name):
    truth = EXACT[name]
    question = lab.guess(name)
    assert question.answer(truth).compare(float(truth)).close and "only the exact number" in question._repr_html_()
    for other in (truth + 1, truth - 1, truth + 0.1, truth * 1.03, truth * 1.0001, -truth, 0):
        told = question.answer(other).compare(float(truth))
        assert not told.close and ": right" not in repr(told) and "✓" not in told._repr_html_(), other


@pytest.mark.parametrize("name", [name for name, entry in questions().items() if "factor" in entry])
def test_an_estimate_says_its_tolerance_before_and_after(name):
    question = lab.guess(name)
    assert f"(right {question.tolerance})" in question._repr_html_()
    assert f": right {question.tolerance}." in repr(question.answer(10.01).compare(10.0))
    low = 10 / question.factor if question.factor >= 2 else 10 * (2 - question.factor)
    for far in (10 * question.factor + 0.1, low / 1.05, -10):
        assert not question.answer(far).compare(10.0).close


def test_a_bad_kind_of_a_question_is_refused(monkeypatch):
    def asked(kind: str) -> None:
        entry = tomllib.loads(f'question = "How many?"\n{kind}\n')
        monkeypatch.setattr("gemm_lab.notebook.guess.entries", lambda file: {"00_bad": (None, entry)})
        questions.cache_clear()

    for bad in ("", "exact = false", "factor = 1", "exact = true\nfactor = 1.1", 'exact = true\nchoices = ["a", "b"]'):
        asked(bad)
        with pytest.raises(ConfigError, match="00_bad: needs choices, or exact"):
            questions()
    for bad in ("exact = true\nnear = false", "factor = 2\nnear = true", 'choices = ["a", "b"]\nnear = false'):
        asked(bad)
        with pytest.raises(ConfigError, match="00_bad: near = false belongs to a factor"):
            questions()
    monkeypatch.undo()
    questions.cache_clear()


@pytest.mark.parametrize(
    "name, answer, truth, told",
    [
        ("00_loop", 1, 0.7266, "You said 1 MFLOPS. It is 0.7266 MFLOPS: right within a factor of 2."),
        ("00_loop", 2, 0.7266, "near (2.8 times the truth; right would be within a factor of 2)"),
        ("02_warps", 1.3, 1.153, "It is 1.153 times: near (13 % too much; right would be within 10 %)."),
        ("02_sectors", 14.4, 14.7, "It is 14.7 TB/s: right within 10 %."),
        ("03_sum", 2112, 2048, "You said 2,112. It is 2,048: only the exact number is right."),
        ("05_step", 16, -16, "It is -16 bytes: only the sign is wrong."),
        ("05_step", 15, -16, "the sign is wrong"),
        ("05_step", -15, -16, "It is -16 bytes: only the exact number is right."),
        ("02_order", 8, 15.38, "You said 8 times. It is 15.38 times; your answer was 0.52 times the truth."),
        ("02_order", 14.5, 15.38, "It is 15.38 times: right within 10 %."),
        ("02_order", 12, 15.38, "It is 15.38 times; your answer was 22 % too little."),
        ("05_absolute", 0, 4, "You said 0. It is 4."),
        ("05_absolute", 2, 4, "You said 2. It is 4."),
    ],
)
def test_the_verdict_says_how_far_an_answer_is_from_the_truth(name, answer, truth, told):
    question = lab.guess(name).answer(answer)
    assert told in repr(question.compare(truth, why="-")) + "."
    near = question.comparison._repr_html_()
    assert ("≈" in near) is ("near" in told)


def test_an_answer_that_is_changed_after_the_verdict_is_not_called_the_first():
    question = lab.guess("01_deeper").answer("halves")
    assert "You said “halves”. It is “stays the same”." in repr(question.compare("stays the same"))
    told = repr(lab.guess("01_deeper").answer("stays the same").compare("stays the same"))
    assert "Now you say “stays the same”. It is “stays the same”: right. Your first answer was “halves”." in told
    again = repr(lab.guess("01_deeper").answer("halves").compare("stays the same"))
    assert "You said “halves”" in again and "first answer" not in again
    before = ask("Changed before the reveal?", exact=True).answer(4)
    assert "You said 8 wavefronts" in repr(before.answer(8).compare(8))


def test_an_answer_in_the_box_after_the_reveal_is_the_first_and_the_next_one_is_not():
    question = ask(exact=True)
    box, note = box_of(question)
    question.compare(8)
    box.value = "4"
    assert "You said 4" in note.value
    box.value = "8"
    assert "Now you say 8 wavefronts" in note.value and "first answer was 4 wavefronts" in note.value


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
    question = lab.guess("00_verdict")
    told = question.answer("a crash").compare()
    assert "one row wrong" in repr(told) and question.why in repr(told) and question.hint in question._repr_html_()
    with pytest.raises(LabError, match="00_verdict"):
        lab.guess("00_verdikt")
    with pytest.raises(ConfigError, match="give compare the value"):
        lab.guess("00_loop").compare()


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
    assert told in lab.guess("How many?", unit=unit).compare(value)._repr_html_()


def test_a_wrong_answer_hears_by_how_much():
    assert "4 times" in repr(ask().answer(32).compare(8))
    assert repr(ask().answer(0).compare(8)).count("8 wavefronts") == 1


def test_choices_are_compared_exactly():
    prediction = lab.guess("Which unit waits?", choices=["memory", "tensor cores"]).answer("memory")
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
    assert "A guess is a number" in note.value and prediction.value == 8.0
    box.value = "4"
    assert "stored: 4" in note.value and prediction.value == 4.0


def test_choices_are_buttons():
    prediction = lab.guess("Which unit waits?", choices=["memory", "tensor cores"])
    box, note = box_of(prediction)
    assert box.value is None, "nothing is chosen for the learner"
    box.value = "memory"
    again = lab.guess("Which unit waits?", choices=["memory", "tensor cores"])
    assert again.value == "memory" and "memory" in note.value


def test_the_question_is_escaped_wherever_it_is_shown():
    prediction = lab.guess("Is a < b?", "<i>")
    assert "&lt; b" in prediction._repr_html_() and "<i>" not in prediction._repr_html_()
    assert all("<i>" not in box.value for box in prediction._widget().children[0].children[1:])


def test_the_former_name_answers_in_notebooks_that_were_copied_and_ours_use_the_new_one():
    assert lab.predict is lab.guess and "predict" not in lab.__all__
    books = sorted(data_dir("notebooks").glob("*.ipynb"))
    assert books and [book.name for book in books if "lab.predict" in book.read_text(encoding="utf-8")] == []
