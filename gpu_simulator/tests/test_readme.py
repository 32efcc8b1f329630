"""Tests of README.md: its example runs, its table has every opcode, and the options that it names exist."""

import re
from pathlib import Path

import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.cli.command_line import FORMS, add_options

PAGE = Path(__file__).resolve().parents[1] / "README.md"
SCALE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 factor) {
.reg .b32 %r<4>; .reg .b64 %q<3>; .reg .f32 %f<3>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1;
ld.param.u64 %q1, [data]; mul.wide.u32 %q2, %r3, 4; add.u64 %q1, %q1, %q2; ld.param.f32 %f1, [factor];
ld.global.f32 %f2, [%q1]; mul.f32 %f2, %f2, %f1; st.global.f32 [%q1], %f2;
ret;
}
"""


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip("the tests were copied without README.md")
    return PAGE.read_text(encoding="utf-8")


def test_the_example_runs(page, tmp_path, monkeypatch, capsys):
    (example,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (tmp_path / "scale.ptx").write_text(SCALE)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(example, names)
    assert np.array_equal(names["data"], 2 * np.arange(1024)) and names["report"].totals.sectors == 2 * 1024 * 4 // 32
    assert capsys.readouterr().out == "256 [] [0. 2. 4. 6.]\n"


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
