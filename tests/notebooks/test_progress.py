"""`lab.progress()`: what has been solved is remembered, and no file of it can disturb a cell."""

import json
import re
import subprocess
import sys

import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir, state_dir
from gemm_lab.notebook.exercises import WrongAnswer, exercises
from gemm_lab.notebook.puzzle import YourTurn, puzzles
from gemm_lab.notebook.remembered import progress as progress_module
from gemm_lab.notebook.remembered import solved
from gemm_lab.notebook.remembered.kept import Kept


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(solved, "_kept", Kept("solved.json"))


def count():
    """(puzzles, exercises) that the line calls solved."""
    found = re.fullmatch(r"(\d+) of (\d+) puzzles, (\d+) of (\d+) exercises", lab.progress().line)
    assert found and (int(found[2]), int(found[4])) == (len(puzzles()), len(exercises()))
    return int(found[1]), int(found[3])


def right(name):
    return lab.puzzle(name).solution()


def test_what_passes_counts_once_and_in_its_notebook():
    assert count() == (0, 0)
    lab.puzzle("00_sectors").check(right("00_sectors"))
    lab.puzzle("00_sectors")(right("00_sectors"))
    lab.puzzle("04_bank")(right("04_bank"))
    lab.exercise("05_padding").check(pad_bytes=16)
    assert count() == (2, 1)
    assert re.search(r"00_start_here +1 of 6 +0 of 1\n", repr(lab.progress()))
    page = lab.progress()._repr_html_()
    assert "<b>2 of " in page and page.index("<b>2 of ") < page.index("<details") < page.index("00_start_here")


def test_what_is_wrong_or_not_written_or_only_replaced_by_the_shipped_solution_does_not_count():
    with pytest.raises(WrongAnswer):
        lab.puzzle("04_bank").check(lambda address: address)
    with pytest.raises(YourTurn):
        lab.puzzle("04_bank").check(lambda address: ...)
    with pytest.raises(WrongAnswer):
        lab.exercise("05_padding").check(pad_bytes=0)
    shipped = lab.puzzle("04_bank").usable(lambda address: ...)
    assert lab.puzzle("04_bank").usable(shipped) is shipped, "the cell runs a second time"
    assert count() == (0, 0)


def test_the_next_session_knows_it_until_the_file_is_deleted(monkeypatch):
    lab.puzzle("00_who").check(right("00_who"))
    monkeypatch.setattr(solved, "_kept", Kept("solved.json"))
    assert count() == (1, 0)
    (state_dir() / "solved.json").unlink()
    assert count() == (0, 0)


def test_the_name_of_a_puzzle_that_is_gone_counts_nothing():
    (state_dir() / "solved.json").write_text('{"99_gone": true}')
    lab.puzzle("00_who").check(right("00_who"))
    assert count() == (1, 0)


HALF = json.dumps(dict.fromkeys(map(str, range(30)), True))[:150].encode()


@pytest.mark.parametrize("data", [HALF, b"", b"[1, 2]", b"\0", b"\xff", b"[" * 100_000])
def test_a_damaged_file_is_set_aside_and_said_and_counts_nothing(data, capsys):
    file = state_dir() / "solved.json"
    for aside in ("solved.json.damaged", "solved.json.damaged1"):  # the second does not overwrite the first
        file.write_bytes(data)
        assert count() == (0, 0)
        assert f"{file} is damaged" in (said := capsys.readouterr().err) and f"kept as {aside}." in said
        lab.puzzle("00_who").check(right("00_who"))
        assert count() == (1, 0) and file.with_name(aside).read_bytes() == data


SAVES = """
import sys
from gemm_lab.notebook.remembered.kept import Kept
kept = Kept("solved.json")
sys.stdin.readline()
for number in range(40):
    kept.store(sys.argv[1] + str(number), True)
"""


def test_notebooks_that_save_at_the_same_time_lose_nothing():
    run = [subprocess.Popen([sys.executable, "-c", SAVES, name], stdin=subprocess.PIPE) for name in "abc"]
    for one in run:
        one.stdin.write(b"go\n")
        one.stdin.flush()
    assert [one.wait() for one in run] == [0, 0, 0]
    assert len(Kept("solved.json").load()) == 120


def test_a_lock_that_nobody_gives_back_holds_up_no_cell(monkeypatch):
    monkeypatch.setattr("gemm_lab.notebook.remembered.kept.WAIT_S", 0.0)
    monkeypatch.setattr("gemm_lab.notebook.remembered.kept.locked", lambda fd: False)
    lab.puzzle("00_who").check(right("00_who"))
    assert count() == (1, 0)


def test_python_without_file_locks_saves_all_the_same():
    """In a web page the module fcntl is there, without its function flock."""
    without = "import fcntl; del fcntl.flock\n" + SAVES.replace("sys.stdin.readline()\n", "")
    subprocess.run([sys.executable, "-c", without, "w"], check=True)
    assert len(Kept("solved.json").load()) == 40


def test_a_disk_that_cannot_be_written_disturbs_no_cell_and_is_told_by_progress(monkeypatch, tmp_path, capsys):
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(nowhere))
    assert "forgotten when this session ends" in repr(lab.progress()), "before anything is solved"
    lab.puzzle("00_who").check(right("00_who"))
    assert count() == (1, 0) and capsys.readouterr() == ("", "")
    assert "forgotten when this session ends" in repr(lab.progress())
    assert "forgotten when this session ends" in lab.progress()._repr_html_()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    lab.puzzle("00_sectors").check(right("00_sectors"))
    assert "forgotten" not in repr(lab.progress()) and count() == (2, 0), "both are saved as soon as they can be"


def test_a_notebook_that_is_done_has_a_mark():
    for name in puzzles():
        solved.remember(name)
    assert "✓" not in repr(lab.progress())
    for name in exercises():
        solved.remember(name)
    assert repr(lab.progress()).count("✓") == len(lab.progress().parts)


def test_every_puzzle_and_exercise_has_a_notebook_of_its_number():
    for part in lab.progress().parts:
        assert (data_dir("notebooks") / f"{part.notebook}.ipynb").is_file()
        assert {name[:2] for name in part.puzzles + part.exercises} == {part.notebook[:2]}
    assert [part.notebook for part in lab.progress().parts] == sorted(part.notebook for part in lab.progress().parts)


def test_of_two_notebooks_with_one_number_each_has_what_it_asks_for(monkeypatch, tmp_path):
    (tmp_path / "02a_first.ipynb").write_text(r'"@lab.puzzle(\"02_naive\")"')
    (tmp_path / "02b_second.ipynb").write_text(r'"@lab.puzzle(\"02_barrier\")", "lab.exercise(\"02_wide_reads\")"')
    monkeypatch.setattr(progress_module, "data_dir", lambda _: tmp_path)
    progress_module.parts.cache_clear()
    try:
        homes = {name: part.notebook for part in progress_module.parts() for name in part.puzzles + part.exercises}
    finally:
        progress_module.parts.cache_clear()
    assert (homes["02_naive"], homes["02_barrier"], homes["02_wide_reads"]) == ("02a_first", "02b_second", "02b_second")
    assert homes["02_edges"] == "02a_first" and homes["04_bank"] == "04", "whatever a learner deletes, nothing is lost"
