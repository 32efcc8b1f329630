"""The walk through the house in ARCHITECTURE.md: the functions that it names are called, in that order."""

import importlib
import re
import sys
from pathlib import Path

import pytest

import gemm_lab as lab
from gemm_lab.notebook.cells import run_cell

ROOT = Path(__file__).resolve().parents[1]
STEP = re.compile(r"^\d+\. `([\w.]+)` in `([\w/]+\.py)`", re.M)


def walk() -> list[tuple[str, str]]:
    """(function, file) of each step."""
    return STEP.findall((ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8"))


def calls_of(function) -> list[tuple[str, str]]:
    """(name of the code, file) of each function of this checkout, in the order of the first calls."""
    found = {}

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            found.setdefault((frame.f_code.co_name, Path(frame.f_code.co_filename).relative_to(ROOT).as_posix()))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return list(found)


@pytest.mark.long
def test_the_walk_is_how_a_cell_becomes_a_card(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_BACKEND", "simulator")
    text = lab.kernel("t4/03_swizzled").regions["layout"]
    calls = calls_of(lambda: run_cell("t4/03_swizzled --region layout --as mine -n 256", text, {})._repr_html_())
    steps = [(name.split(".")[-1], file) for name, file in walk()]
    assert 1 < len(steps) <= 8
    assert [step for step in steps if step not in calls] == []
    assert [call for call in calls if call in steps] == steps


def test_the_names_of_the_walk_are_those_of_the_files():
    for name, file in walk():
        found = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)


def test_a_function_that_is_not_called_is_missed():
    assert calls_of(lambda: None) != walk() and ("walk", "tests/test_walk.py") in calls_of(walk)
