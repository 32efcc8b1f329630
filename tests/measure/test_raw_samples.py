"""The samples behind recorded rows, and the commit that they name."""

import dataclasses
import json
import subprocess

import pytest

from gemm_lab.measure import benchmark as timing
from gemm_results import results
from gemm_results.errors import LabError
from gemm_results.results import Measurement

ROW = Measurement(
    "t4/03_swizzled", "t4", "BLOCK_M=128", "burst", 512, 512, 512, "f16/f32", 10.0, 9.0, 11.0, *[None] * 6,
    3, 1500.0, 60.0, "Tesla T4", "580.1", "13.0", "abc1234", "2026-01-02", (0.123456789, 12.3456789, 1234567.0),
)  # fmt: skip


def test_samples_are_kept_to_five_digits_one_line_a_row(tmp_path):
    path = tmp_path / "raw" / "t4.jsonl"
    results.append_raw([ROW, dataclasses.replace(ROW, regime="sustained")], path)
    assert len(path.read_text().splitlines()) == 2
    line = json.loads(path.read_text().splitlines()[0])
    assert tuple(line) == results.RAW_COLUMNS and line["commit"] == "abc1234" and line["m"] == 512
    assert line["samples_ms"] == [0.12346, 12.346, 1234600.0]
    assert results.read_raw(path)[0] == line


@pytest.mark.parametrize("field", [*results.KEY, "date", "commit"])
def test_a_newer_line_replaces_the_same_key_and_no_other(tmp_path, field):
    path = tmp_path / "t4.jsonl"
    changed = getattr(ROW, field) * 2 if field in "mnk" else getattr(ROW, field) + "x"
    results.append_raw([ROW], path)
    results.append_raw([dataclasses.replace(ROW, **{field: changed}, samples_ms=(2.0,))], path)
    lines = results.read_raw(path)
    if field in results.KEY:
        assert sorted(len(line["samples_ms"]) for line in lines) == [1, 3]
    else:
        assert [line["samples_ms"] for line in lines] == [[2.0]] and lines[0][field] == changed


def test_rows_without_samples_leave_older_ones_alone(tmp_path):
    path = tmp_path / "t4.jsonl"
    results.append_raw([ROW], path)
    before = path.read_text()
    results.append_raw([dataclasses.replace(ROW, samples_ms=())], path)
    assert path.read_text() == before and results.read_raw(tmp_path / "none.jsonl") == []


@pytest.mark.parametrize("text", ["not json", "[1, 2]", '{"kernel": "t4/x"}'])
def test_a_damaged_file_is_refused_and_kept(tmp_path, text):
    path = tmp_path / "t4.jsonl"
    results.append_raw([ROW], path)
    path.write_text(path.read_text() + text + "\n")
    before = path.read_text()
    with pytest.raises(LabError, match="t4.jsonl, line 2"):
        results.append_raw([ROW], path)
    assert path.read_text() == before


def test_a_checkout_names_its_commit_and_the_environment_wins_over_it(monkeypatch, tmp_path):
    def git(*words):
        author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        return subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    for name in ("GEMM_LAB_COMMIT", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(timing.settings, "PACKAGE", tmp_path / "gemm_lab")
    assert timing.commit() == "none"  # no checkout
    git("init")
    assert timing.commit() == "none"  # no commit
    tracked = tmp_path / "tracked"
    tracked.write_text("one")
    git("add", "tracked")
    git("commit", "--message=one")
    git("tag", "v1")
    head = git("rev-parse", "HEAD")[:7]
    (tmp_path / "untracked").write_text("two")
    assert timing.commit() == head
    tracked.write_text("two")
    assert timing.commit() == head + "+"
    git("add", "tracked")
    assert timing.commit() == head + "+"
    monkeypatch.setenv("GEMM_LAB_COMMIT", "fedcba9")
    assert timing.commit() == "fedcba9"


def test_without_git_only_the_environment_names_a_commit(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("GEMM_LAB_COMMIT", "fedcba9")
    assert timing.commit() == "fedcba9"
    monkeypatch.delenv("GEMM_LAB_COMMIT")
    assert timing.commit() == "none"
