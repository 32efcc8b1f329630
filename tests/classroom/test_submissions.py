"""Notebooks as they come back: copied, split, edited and broken cells, and files that are no notebooks.

Each gets a grade for what can be graded and a sentence for the rest; none stops nbgrader, or another student's grade.
"""

import copy
import io
import json
import random

import nbformat
import pytest
from tqdm import tqdm

pytest.importorskip("nbgrader", reason="needs the extra course")

from small_course import (  # noqa: E402
    BAD,
    CHOICE,
    FIRST,
    GOOD,
    KERNEL,
    NAME,
    Course,
    answer,
    by_a_word,
    check,
    marked,
    nbgrader_steps,  # noqa: E402
)

from gemm_lab_classroom.submission import notebook_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("graded_by_a_word")
ALL, NONE = {KERNEL: 10, CHOICE: 10}, {KERNEL: 0, CHOICE: 0}


def insert_copy(book, name, text, after=0):
    """A copy of a marked cell with another text, `after` cells below it (negative: above it)."""
    number = marked(book, name)
    other = copy.deepcopy(book["cells"][number])
    other["source"] = text
    other["id"] = f"copy-{len(book['cells'])}"
    book["cells"].insert(number + 1 + after if after >= 0 else number + after + 1, other)


def copy_below(book):
    answer(book, KERNEL)["source"] = f"{FIRST}\nan attempt"
    insert_copy(book, f"answer_{KERNEL}", GOOD)


def copy_above(book):
    insert_copy(book, f"answer_{KERNEL}", f"{FIRST}\nan attempt", -1)


def copy_that_was_not_filled_in(book):
    insert_copy(book, f"answer_{KERNEL}", book["handed out"])


def split(book):
    insert_copy(book, f"answer_{KERNEL}", "the lower half")


def same_ids(book):
    insert_copy(book, f"answer_{KERNEL}", GOOD)
    for cell in book["cells"]:
        cell["id"] = "the-same"


def renamed(book):
    answer(book, KERNEL)["metadata"]["nbgrader"]["grade_id"] = "my_answer"


def no_grade_id(book):
    del answer(book, KERNEL)["metadata"]["nbgrader"]["grade_id"]


def odd_marks(book):
    for cell in book["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"] = {
                "grade_id": cell["metadata"]["nbgrader"]["grade_id"],
                "schema_version": 99,
                "points": "many",
                "grade": [],
                "locked": {},
                "solution": None,
            }


def as_markdown(book):
    cell = answer(book, KERNEL)
    cell["cell_type"], cell["attachments"] = "markdown", {"x.png": {"image/png": "AAAA"}}
    cell.pop("outputs"), cell.pop("execution_count")


def of_no_known_type(book):
    answer(book, KERNEL)["cell_type"] = "sql"


def no_answer(book):
    del book["cells"][marked(book, f"answer_{KERNEL}")]


def nothing_left(book):
    book["cells"] = []


def no_ids(book):
    for cell in book["cells"]:
        cell.pop("id", None)


def sources_of_odd_types(book):
    book["cells"][0]["source"] = {"a": 1}
    book["cells"].append({"cell_type": "code"})
    book["cells"] += [None, 3, "cell", {"cell_type": "markdown", "source": None, "metadata": 5}, {}]


def half_a_character(book):
    book["cells"][0]["source"] = "\ud800 alone"
    answer(book, KERNEL)["source"] = GOOD + "\n// \udfff \0"


def large_outputs(book):
    answer(book, KERNEL)["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 3_000_000}] * 3
    check(book, KERNEL)["outputs"] = [{"output_type": "nonsense"}, 5]


def a_later_format(book):
    book["nbformat"], book["nbformat_minor"] = 9, 100


CHANGES = [
    (copy_below, ALL, "2 cells with the answer to 02_inner_product. Only the lower one was judged"),
    (copy_above, ALL, "Only the lower one was judged"),
    (copy_that_was_not_filled_in, ALL, "Only the upper one was judged"),
    (split, ALL, "Only the upper one was judged"),
    (same_ids, ALL, "Only the lower one"),
    (renamed, {KERNEL: 0, CHOICE: 10}, "There is no cell with the answer"),
    (no_grade_id, {KERNEL: 0, CHOICE: 10}, "There is no cell with the answer"),
    (odd_marks, ALL, ""),
    (as_markdown, ALL, "was handed in as a Markdown cell"),
    (of_no_known_type, ALL, "was handed in as a raw cell"),
    (no_answer, {KERNEL: 0, CHOICE: 10}, "There is no cell with the answer"),
    (nothing_left, NONE, "was missing"),
    (no_ids, ALL, ""),
    (sources_of_odd_types, ALL, ""),
    (half_a_character, ALL, ""),
    (large_outputs, ALL, ""),
    (a_later_format, ALL, ""),
]


@pytest.mark.sampled(every=9)
@pytest.mark.parametrize(("change", "scores", "says"), CHANGES, ids=[change[0].__name__ for change in CHANGES])
def test_a_changed_notebook_is_graded_as_far_as_it_can_be(change, scores, says, classroom):
    book, student = classroom.solved(), change.__name__
    book["handed out"] = "".join(answer(classroom.released(), KERNEL)["source"])
    change(book)
    book.pop("handed out")
    classroom.hand_in(student, book)
    classroom.grade(student)
    assert classroom.scores(student) == scores, classroom.messages(student)
    assert says in classroom.messages(student) and "Score:" in classroom.page(student)
    if "with the answer" in says or "Only" in says:
        assert says in classroom.page(student)


def old_format(classroom):
    book = nbformat.reads(json.dumps(classroom.solved()), as_version=4)
    return nbformat.writes(book, version=3).encode()


FILES = {
    "empty": (lambda room: b"", "it is empty"),
    "no_json": (lambda room: b"{'cells': []}", "it is not valid JSON"),
    "half": (lambda room: json.dumps(room.solved()).encode()[:2000], "it is not valid JSON"),
    "a_list": (lambda room: b"[1, 2]", "it holds no list of cells"),
    "a_number": (lambda room: b"1e999", "it holds no list of cells"),
    "no_cells": (lambda room: b'{"nbformat": 4, "metadata": {}}', "it holds no list of cells"),
    "deep": (lambda room: b"[" * 100_000, "it is not valid JSON"),
    "binary": (lambda room: bytes(range(256)) * 99, "it is not valid JSON"),
    "conflict": (lambda room: b"<<<<<<< HEAD\n" + json.dumps(room.solved()).encode(), "it is not valid JSON"),
    "version_2": (lambda room: b'{"nbformat": 2, "worksheets": 5}', "it has an old format"),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_notebook_gets_a_sentence(name, classroom):
    data, says = FILES[name]
    classroom.hand_in(name, data(classroom))
    classroom.grade(name)
    assert classroom.scores(name) == NONE and f"could not be read as a notebook: {says}" in classroom.messages(name)
    assert says in classroom.page(name)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("version_3", old_format),
        ("utf_16", lambda room: json.dumps(room.solved(), ensure_ascii=False).encode("utf-16")),
        ("with_a_mark", lambda room: b"\xef\xbb\xbf" + json.dumps(room.solved()).encode()),
        (
            "latin",
            lambda room: json.dumps(room.solved() | {"x": "\xe9"}, ensure_ascii=False).encode("latin-1", "replace"),
        ),
    ],
)
def test_other_encodings_and_the_format_before_are_read(name, data, classroom):
    classroom.hand_in(name, data(classroom))
    classroom.grade(name)
    assert classroom.scores(name) == ALL


@pytest.mark.long
def test_a_broken_notebook_among_others_stops_none_of_them(tmp_path):
    room = Course(tmp_path)
    room.hand_in("anna", room.solved())
    room.hand_in("ben", b"{")
    room.hand_in("carla", room.solved())
    room.must(room.api.autograde(NAME, "*", force=True))
    assert room.scores("anna") == room.scores("carla") == ALL and room.scores("ben") == NONE


@pytest.mark.long
def test_what_was_not_judged_is_no_zero_and_can_be_repeated(tmp_path, monkeypatch):
    """It has no score, waits for a grade, is empty in the table, and has its points after a repetition."""
    from nbgrader.apps import ExportApp  # noqa: F401  (the table is written by its plugin)

    room = Course(tmp_path)
    book = room.solved()
    answer(book, KERNEL)["source"] = f"{FIRST}\nRIGHT and ILL"
    room.hand_in("anna", book)
    room.hand_in("ben", room.solved())
    for student in ("anna", "ben"):
        room.grade(student)
    assert room.scores("anna") == {KERNEL: None, CHOICE: 10} and room.scores("ben") == ALL
    assert "Not judged: Read: RIGHT and ILL" in room.page("anna")

    def table():
        plugin = nbgrader_steps.ExportVerdicts()
        plugin.to = str(tmp_path / "grades.csv")
        with room.book() as grades:
            assert [one.needs_manual_grade for one in grades.find_submission_notebook(NAME, NAME, "anna").grades].count(
                True
            ) == len(nbgrader_steps.not_judged(grades))
            plugin.export(grades)
        header, *rows = [line.split(",") for line in (tmp_path / "grades.csv").read_text().splitlines()]
        return {
            row[header.index("student_id")]: (row[header.index("raw_score")], row[header.index("score")])
            for row in rows
        }

    assert table() == {"anna": ("", ""), "ben": ("20.0", "20.0")}
    monkeypatch.setattr(nbgrader_steps, "grade", lambda name, text, **options: by_a_word(name, text.replace("ILL", "")))
    room.grade("anna")
    assert room.scores("anna") == ALL and table()["anna"] == ("20.0", "20.0")


def test_a_terminal_shows_how_many_exercises_of_all_students_are_graded(tmp_path, monkeypatch):
    room, out = Course(tmp_path), io.StringIO()
    monkeypatch.setattr(nbgrader_steps, "tqdm", lambda **options: tqdm(**{**options, "disable": False, "file": out}))
    for student in ("anna", "ben", "carla"):
        room.hand_in(student, room.solved())
    room.must(room.api.autograde(NAME, "*", force=True))
    said = out.getvalue()
    for number, student in enumerate(("anna", "ben", "carla"), 1):
        assert (
            f"{NAME}, {student} ({number} of 3): " in said and f"{2 * number}/6" in said and room.scores(student) == ALL
        )
    assert KERNEL in said and CHOICE in said


# ---- Notebooks at random ----


def damaged(book, random_):
    """The bytes of the notebook after a few random changes of its JSON, and sometimes of its bytes."""
    values = [
        None,
        0,
        -1,
        1e308,
        "",
        "x",
        "\ud800",
        [],
        {},
        ["a"],
        {"a": 1},
        True,
        "code",
        "markdown",
        f"answer_{KERNEL}",
        f"check_{KERNEL}",
        f"check_{CHOICE}",
        BAD,
    ]
    for _ in range(random_.randint(1, 6)):
        places, stack = [], [book]
        while stack:
            here = stack.pop()
            inner = list(here.items()) if isinstance(here, dict) else list(enumerate(here))
            places += [(here, key) for key, _ in inner]
            stack += [value for _, value in inner if isinstance(value, (dict, list))]
        if not places:
            break
        here, key = random_.choice(places)
        what = random_.random()
        if what < 0.3:
            del here[key]
        elif what < 0.5 and isinstance(here, list):
            here.insert(random_.randint(0, len(here)), copy.deepcopy(here[key]))
        else:
            here[key] = copy.deepcopy(random_.choice(values))
    data = json.dumps(book).encode()
    return data[: random_.randint(0, len(data))] if random_.random() < 0.1 else data


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("number", range(6))
def test_a_notebook_with_random_damage_gets_a_grade(number, classroom):
    random_ = random.Random(f"damage {number}")
    student = f"damaged_{number}"
    classroom.hand_in(student, damaged(classroom.solved(), random_))
    classroom.grade(student)
    assert set(classroom.scores(student).values()) <= {0, 10} and "Score:" in classroom.page(student)


@pytest.mark.parametrize("number", range(100))
def test_any_bytes_become_a_valid_notebook(number):
    random_ = random.Random(f"bytes {number}")
    data = bytes(
        random_.choices(b'{}[]":,0123456789.eE+-truefalsnl \\u"cells""metadata"\xff\x00', k=random_.randint(0, 200))
    )
    nbformat.validate(notebook_of(data))
