"""`gemm-lab lab`: the notebooks of an installed package in JupyterLab, without make, and without a loss of one's work."""

import importlib.util
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from gemm_lab import cli
from gemm_lab.config import data_dir
from gemm_lab.notebook_files import copy_series
from gemm_results.errors import LabError

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """The arguments of each JupyterLab that a command of the test starts; the working folder is empty."""
    labapp = pytest.importorskip("jupyterlab.labapp")
    started = []
    monkeypatch.setattr(labapp.LabApp, "launch_instance", started.append)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("PATH", os.environ["PATH"])
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return started


def test_the_notebooks_open_from_a_folder_of_the_working_directory(opened, tmp_path):
    assert cli.main(["lab"]) == 0
    folder = tmp_path / "work/gemm_lab_notebooks"
    assert len(list((folder / "notebooks").glob("*.ipynb"))) == len(list(data_dir("notebooks").glob("*.ipynb")))
    assert (folder / "images/journey.png").is_file() and (folder / "docs/GLOSSARY.md").is_file()
    (words,) = opened
    assert f"--ServerApp.root_dir={folder}" in words and "--port=8888" in words and "--no-browser" not in words
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in words
    assert os.environ["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)


def test_a_second_time_nothing_is_overwritten_and_what_is_missing_comes_back(opened, tmp_path, capsys):
    folder = tmp_path / "my notebooks"
    assert cli.main(["lab", str(folder), "--port", "9000", "--no-browser"]) == 0
    assert "Not trusted" not in capsys.readouterr().out
    changed, gone = folder / "notebooks/03_tensor_cores_and_fragments.ipynb", folder / "notebooks/11_b200.ipynb"
    own, note = folder / "notebooks/mine.ipynb", folder / "docs/GLOSSARY.md"
    changed.write_text(changed.read_text("utf-8").replace("Tensor", "TENSOR"), encoding="utf-8")
    own.write_text("{}")
    note.write_text("my own words")
    gone.unlink()
    before = changed.read_bytes()
    assert cli.main(["lab", str(folder), "--port", "9000", "--no-browser"]) == 0
    assert changed.read_bytes() == before and own.read_text() == "{}" and note.read_text() == "my own words"
    assert gone.read_bytes() == data_dir("notebooks").joinpath(gone.name).read_bytes()
    said = capsys.readouterr().out
    assert (
        "Not trusted, because changed or not of this release: 03_tensor_cores_and_fragments.ipynb, mine.ipynb" in said
    )
    assert {"--port=9000", "--no-browser"} <= set(opened[1])


def test_without_jupyterlab_one_sentence_says_what_is_missing(monkeypatch, tmp_path, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "jupyterlab" else found(name))
    assert cli.main(["lab", str(tmp_path / "here")]) == 2
    said = capsys.readouterr().err
    assert "JupyterLab is not installed here; this adds it: pip install" in said and said.count("\n") == 1
    assert not (tmp_path / "here").exists()


def test_a_folder_that_cannot_be_made_is_a_sentence(opened, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert cli.main(["lab", str(tmp_path / "file")]) == 2
    assert "Choose another folder" in capsys.readouterr().err and opened == []
    with pytest.raises(SystemExit, match="2"):
        cli.main(["lab", "--port", "no"])


def test_a_plain_copy_still_refuses_a_folder_with_notebooks(tmp_path):
    first = copy_series(tmp_path)
    assert copy_series(tmp_path, keep=True) == first
    with pytest.raises(LabError, match="choose another folder"):
        copy_series(tmp_path)


@pytest.mark.long
def test_a_real_jupyterlab_answers_with_the_first_notebook(tmp_path):
    pytest.importorskip("jupyterlab")
    folders = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    log = tmp_path / "log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "gemm_lab", "lab", "there", "--no-browser", "--port", "0"],
            cwd=tmp_path,
            env={**os.environ, **folders, "PYTHONPATH": str(ROOT), "JUPYTER_TOKEN": "word"},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + 100
        while "/lab/tree/notebooks/00_start_here.ipynb" not in log.read_text():
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.5)
        port = log.read_text().partition("http://localhost:")[2].partition("/")[0]
        place = f"http://localhost:{port}/api/contents/notebooks?content=0&token=word"
        with urllib.request.urlopen(place, timeout=60) as answer:
            assert b'"notebooks"' in answer.read()
    finally:
        process.terminate()
        process.wait(60)
