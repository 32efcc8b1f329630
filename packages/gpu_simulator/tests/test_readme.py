"""Tests of README.md: its example runs, its table has every opcode, and the options that it names exist."""

import re
from pathlib import Path

import numpy as np
import pytest
from compiling import need_compiler

import gpu_simulator
from gpu_simulator.cli.command_line import FORMS, add_options

PAGE = Path(__file__).resolve().parents[1] / "README.md"


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip("the tests were copied without README.md")
    return PAGE.read_text(encoding="utf-8")


def test_the_example_runs(page, capsys):
    need_compiler()
    (example,) = [text for text in re.findall(r"```python\n(.*?)```", page, re.S) if "reverse" in text]
    names: dict = {}
    exec(example, names)
    (hazard,) = names["report"].hazards
    assert np.array_equal(names["data"], np.arange(64)[::-1]) and hazard.severity == "race"
    assert "source.cu:3" in str(hazard) and "source.cu:4" in str(hazard)
    assert capsys.readouterr().out == f"[63 62 61 60] 16 {hazard}\n"


def test_the_example_of_sums_prints_what_it_says(page, capsys):
    (example,) = [text for text in re.findall(r"```python\n(.*?)```", page, re.S) if "exact_sum" in text]
    exec(example, {})
    assert capsys.readouterr().out.split() == [f"[[{said}.]]" for said in re.findall(r"# (\d)", example)]


def test_the_table_has_every_opcode_once(page):
    table = page.partition("## What is executed")[2].partition("## What is exact")[0]
    rows = [row.split("|")[2] for row in table.split("\n") if row.startswith("| ")][1:]
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(gpu_simulator.supported())


def test_the_options_exist(page):
    import argparse

    parser = argparse.ArgumentParser()
    add_options(parser)
    known = {option for action in parser._actions for option in action.option_strings}
    assert set(re.findall(r"`?(--\w+)", page)) <= known
    assert all(form in FORMS for form in ("i32=5", "data.npy", "null", "bytes=00ff"))
