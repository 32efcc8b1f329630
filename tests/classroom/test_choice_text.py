"""The numbers of a choice are read from a cell as a notebook would compute them, and nothing of it is executed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gemm_lab as lab
from gemm_lab.notebook.exercises import WrongAnswer
from gemm_lab_classroom.choice_text import Unreadable, choice_of
from gemm_lab_classroom.grading import Grade, judged
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError

RIGHT = [
    "choice = dict(warps_m=4, warps_n=2)",
    "rows = 4\nchoice = dict(warps_m=rows, warps_n=8 // rows)",
    "choice = {'warps_m': 4, 'warps_n': 2}",
    "choice = dict(warps_m=8 // 2, warps_n=8 // 4)",
    "choice: dict = dict(warps_m=4, warps_n=2)",
    "# four rows of warps, two columns\nchoice = dict(\n    warps_m=4,  # rows\n    warps_n=2,\n)",
    "total = 8\nchoice = dict(warps_m=4, warps_n=2)",
    "choice = dict(warps_m=0, warps_n=0)\nchoice = dict(warps_m=4, warps_n=2)",
    "rows, columns = 4, 2\nchoice = dict(warps_m=rows, warps_n=columns)",
    "choice = dict(warps_m=4)\nchoice['warps_n'] = choice['warps_m'] // 2",
    "half = dict(warps_m=2 ** 2)\nchoice = {**half, 'warps_n': int(16 / 8)}",
    "choice = dict(dict(warps_m=1), warps_m=1 << 2, warps_n=min(2, 8))",
    "choice = other = dict(warps_m=4, warps_n=-1)\nother['warps_n'] = +2",
    "import math\nchoice = dict(warps_m=4, warps_n=2)\nprint(choice, math.pi)\nassert choice['warps_m'] > 1\nchoice",
    "def reads(m):\n    return 128 * m\nfor m in (1, 2):\n    print(reads(m))\nchoice = dict(warps_m=4, warps_n=2)",
]
MAGICS = ["%matplotlib inline\n{}", "!ls\n{}", "  %time x = 1\n{}\n%who"]


@pytest.mark.parametrize("text", RIGHT)
def test_a_choice_is_read_as_a_notebook_computes_it(text, capsys):
    names = {}
    exec(text, names)
    assert choice_of(text) == names["choice"] == {"warps_m": 4, "warps_n": 2}
    assert lab.exercise("02_warp_tile").check(**choice_of(text))


@pytest.mark.parametrize("text", MAGICS)
def test_magics_beside_a_choice_are_left_out(text):
    assert choice_of(text.format(RIGHT[0])) == {"warps_m": 4, "warps_n": 2}
    assert choice_of("a = 9\nchoice = dict(b=a\n% 4)") == {"b": 1}, "an operator at the beginning of a line"


@pytest.mark.parametrize(
    "text",
    [
        "choice = dict(warps_m=8, warps_n=1)",
        "rows = 3\nchoice = dict(warps_m=rows, warps_n=8 // rows)",
        "choice = dict(warps_m=4.0, warps_n=2)",
        "choice = dict(warps_m=True, warps_n=8)",
        "choice = {'warps_m': '4', 'warps_n': 2}",
        "choice = dict(warps_m=4)",
    ],
)
def test_a_wrong_choice_is_refused_in_the_words_of_the_notebook(text):
    names = {}
    exec(text, names)
    with pytest.raises(SimulatorError) as said:
        lab.exercise("02_warp_tile").check(**names["choice"])
    found = judged("02_warp_tile", text, 0)
    assert (found.verdict, found.share) == ("FAIL", 0.0)
    assert found.message == str(said.value) or type(said.value) is not WrongAnswer and "whole number" in found.message


@pytest.mark.parametrize(
    "text",
    [
        "choice = f(a=1)",
        "choice = dict(a=open('x'))",
        "choice = __import__('os')",
        "choice = dict(a=not_in_this_cell)",
        "choice = dict([('a', 1)])",
        "choice = dict(a=1)\nchoice.update(a=2)",
        "choice = dict(a=1)\nchange(choice)",
        "choice = dict(a=1)\nchoice |= dict(a=2)",
        "choice = dict(a=1)\nif True:\n    choice['a'] = 2",
        "for m in (1, 2):\n    choice = dict(a=m)",
        "with open('x') as choice: pass",
        "import os as choice",
        "print(choice := dict(a=1))",
        "choice = dict(a=[m for m in (1, 2)][0])",
        "def int(x): return 3\nchoice = dict(a=int(4))",
        "x = dict()\nx[f()] = 1\nchoice = x",
        "a, *b = 1, 2\nchoice = dict(a=a)",
        "choice = dict(a='4' * 10 ** 9)",
        "d = {(1, 2): 3}\nchoice = dict(a=d[1, 2])",
    ],
)
def test_a_choice_that_only_a_person_can_read_is_not_judged(text):
    with pytest.raises(Unreadable, match="A person has to look at it"):
        choice_of(text)
    assert judged("02_warp_tile", text, 0).verdict == "NOT JUDGED"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "does not say choice"),
        ("choice == dict(a=1)", "does not say choice"),
        ("while True: pass", "does not say choice"),
        ("choice: dict", "does not say choice"),
        ("choice = ", "not Python"),
        ("a = 1\nchoice = dict(a=1 b=2)", r"not Python in line 2: .* forgot a comma\.$"),
        ("choice = dict(a=\0)", "not Python"),
        ("choice = " + "(" * 5000, "not Python"),
        ("choice = dict(a=" + "9" * 9999 + ")", "not Python"),
        ("choice = dict(a=" + "-" * 900 + "1)", "not Python"),
        ("choice = dict(a=1, a=2)", "twice"),
        ("choice = dict(a=2**70)", "too large"),
        ("choice = dict(a=10**9 * 10**9)", "too large"),
        ("choice = dict(a=1e300)", "too large"),
        ("choice = dict(a=1 // 0)", "ZeroDivisionError"),
        ("choice = dict(a=1)\nx = choice['b']", "KeyError"),
        ("choice = 4", "plain numbers"),
        ("choice = dict(a=(1, 2))", "plain numbers"),
        ("choice = dict(a=dict())", "plain numbers"),
    ],
)
def test_what_is_no_choice_is_refused(text, says):
    with pytest.raises(LabError, match=says) as error:
        choice_of(text)
    assert type(error.value) is LabError and judged("02_warp_tile", text, 0).verdict == "FAIL"


def test_tuples_that_hold_each_other_cost_no_time():
    doubled = "\n".join(["a = (1, 1)", *["a = (a, a)"] * 60])
    for end in ("choice = dict(a=a)", "choice = {a: 1}", "choice = dict(a=max(a, a))", "choice = dict(a=-a)"):
        with pytest.raises(LabError):
            choice_of(f"{doubled}\n{end}")


PIECES = st.sampled_from(
    [
        "choice",
        " = ",
        "dict",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "block_m",
        "=",
        "1",
        "-",
        "'",
        "\n",
        "lambda",
        "**",
        "*",
        "@",
        ":=",
        "None",
        "1e9",
        "0x1F",
        "\0",
        "é",
        "\ud800",
        "#",
        ";",
        " if ",
        " else ",
        "await ",
        "f'{a}'",
    ]
)


@settings(deadline=None)
@given(
    st.one_of(
        st.text(),
        st.lists(PIECES).map("".join),
        st.lists(PIECES).map(lambda some: f"choice = dict({''.join(some)})"),
        st.lists(PIECES).map(lambda some: f"choice = dict(block_m={''.join(some)})"),
    )
)
def test_whatever_stands_in_the_cell_is_a_choice_or_one_sentence(text):
    try:
        found = choice_of(text)
    except SimulatorError as error:
        assert str(error).endswith(".")
    else:
        assert all(not isinstance(value, (dict, tuple)) for value in found.values())
        assert isinstance(judged("02_warp_tile", text, 0), Grade)
