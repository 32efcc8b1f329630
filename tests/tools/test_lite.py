"""JupyterLite's parts: which packages its kernel gets, how they are described, and what a notebook becomes."""

import hashlib
import importlib
import json
import runpy
import sys
import time
import zipfile
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import gemm_lab as lab
from gemm_lab.notebook.cells import _show_error
from gemm_results.errors import LabError
from gpu_simulator.compiler import clang, nvrtc
from gpu_simulator.errors import NotHere
from gpu_simulator.kernel_file import kernel_file
from tools.lite import build, wheels
from tools.lite.__main__ import main
from tools.lite.running import ABSENT, OF_THE_LAB
from tools.live import packages

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "tools" / "live" / "page"


def archive(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, "")
    return path


# ---- Packages ----


def test_the_kernel_gets_what_the_locks_have_for_its_python():
    chosen = wheels.chosen()
    assert {"ipython", "ipywidgets", "anywidget", "micropip", "traitlets", "psygnal"} <= set(chosen)
    assert not {"psutil", "pexpect", "widgetsnbextension", "numpy", "matplotlib"} & set(chosen)
    for lines in chosen.values():
        first, *hashes = lines.splitlines()
        assert ";" not in first and hashes and all("--hash=sha256:" in one for one in hashes)


def test_a_package_that_no_lock_has_is_named():
    with pytest.raises(LabError, match="No lock has no-such-package"):
        wheels.chosen(["no_such.package"])


def test_the_lock_of_pyodide_names_each_wheel_with_its_hash(tmp_path):
    known = {"one": {"name": "one", "depends": ["two", "three"]}}
    (tmp_path / "pyodide-lock.json").write_text(json.dumps({"info": {"python": "3.14.2"}, "packages": known}))
    archive(tmp_path / "one-1.0-py3-none-any.whl", "one/__init__.py", "one-1.0.dist-info/METADATA")
    archive(tmp_path / "two_more-2.0-py3-none-any.whl", "two.py", "extra/data.js")
    wheels.write_lock(tmp_path, {"two-more": ["One", "absent"]})
    lock = json.loads((tmp_path / "pyodide-lock.json").read_text())
    one, two = lock["packages"]["one"], lock["packages"]["two-more"]
    assert lock["info"] == {"python": "3.14.2"} and set(lock["packages"]) == {"one", "two-more"}
    assert (one["imports"], one["depends"]) == (["one"], [])
    assert (two["imports"], two["depends"], two["version"]) == (["extra", "two"], ["one"], "2.0")
    assert one["sha256"] == hashlib.sha256((tmp_path / one["file_name"]).read_bytes()).hexdigest()


def folder_for_pyodide(folder: Path) -> Path:
    folder.mkdir()
    for name in packages.NEEDED:
        archive(folder / f"{name}-1.5-pyodide314.zip", f"{name}/__init__.py")
    return folder


def test_archives_become_wheels_and_wheels_of_pyodide_are_checked(tmp_path):
    given, into = folder_for_pyodide(tmp_path / "given"), tmp_path / "into"
    into.mkdir()
    plots = archive(given / "matplotlib-3-cp314.whl", "matplotlib/__init__.py")
    entry = {"file_name": plots.name, "sha256": hashlib.sha256(plots.read_bytes()).hexdigest()}
    (into / "pyodide-lock.json").write_text(json.dumps({"packages": {"matplotlib": entry}}))
    made = wheels.built_for_pyodide(given, into)
    assert {path.name.split("-")[0] for path in made} == {"numpy", "ml_dtypes", "matplotlib"}
    numpy = next(path for path in made if path.name.startswith("numpy"))
    assert numpy.name == f"numpy-1.5-{wheels.ABI}.whl"
    assert {"numpy/__init__.py", "numpy-1.5.dist-info/METADATA"} <= set(zipfile.ZipFile(numpy).namelist())
    plots.write_bytes(b"another file")
    with pytest.raises(LabError, match="matplotlib-3-cp314.whl is not the file that Pyodide"):
        wheels.built_for_pyodide(given, into)


def test_without_wheels_a_sentence_says_what_is_missing(tmp_path, capsys):
    assert main([str(tmp_path / "lite")]) == 1
    said = capsys.readouterr().err
    assert "numpy and ml_dtypes built for Pyodide" in said and "WASM_WHEELS" in said
    assert not (tmp_path / "lite").exists()


# ---- Notebooks ----


def test_a_notebook_begins_with_the_cell_that_starts_the_lab():
    ran = new_code_cell("6 * 7", execution_count=3, outputs=[new_output("stream", text="42")])
    setup = new_code_cell("install", metadata={"tags": ["setup"]})
    kernelspec = {"name": "python3", "display_name": "Python 3"}
    book = new_notebook(cells=[new_markdown_cell("# 00 · A"), setup, ran], metadata={"kernelspec": kernelspec})
    made = build.for_the_browser(book)
    assert [cell.source for cell in made.cells] == ["# 00 · A", build.NOTE, build.START, "6 * 7"]
    assert made.cells[3].outputs == [] and made.cells[3].execution_count is None
    assert made.metadata.kernelspec.name == "python"
    nbformat.validate(made)


def test_what_the_notebooks_show_travels_with_the_lab():
    shown = build.shown()
    assert "gemm_lab_lessons/zoom/zoom.js" in shown and "gemm_lab/data/images/grid_of_blocks.png" in shown
    assert {f"gemm_lab/data/notebooks/{name}.ipynb" for name in ("00_start_here", "12_scoreboard")} <= set(shown)
    assert "gemm_lab/data/results/profiles/h200/patterns.csv" in shown and not any("/raw/" in path for path in shown)
    assert b'"outputs": []' in shown["gemm_lab/data/notebooks/00_start_here.ipynb"]
    assert not any("tests" in path.split("/") for path in shown)


@pytest.mark.parametrize(
    ("line", "is_error"),
    [
        ("LabError: The folder is missing.", True),
        ("✗ MissingDependency: There is no compiler.", True),
        ("WrongAnswer: not yet.", True),
        ("NumPy: 3 GFLOPS", False),
        ("“Counting sectors” is not solved yet,", False),
        ("This cell draws a plot", False),
    ],
)
def test_an_error_that_the_lab_shows_counts(line, is_error):
    assert bool(OF_THE_LAB.match(line)) is is_error


# ---- What a page cannot do ----


@pytest.fixture
def browser_module(monkeypatch):
    """The module that runs in the kernel of JupyterLite; it is imported, and nothing of it stays."""
    monkeypatch.setattr(nvrtc, "stored", nvrtc.stored)
    monkeypatch.syspath_prepend(str(PAGE))
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "lite"))
    for name in ("in_page", "gemm_lab_browser"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    module = importlib.import_module("gemm_lab_browser")
    yield module
    for name in ("in_page", "gemm_lab_browser"):
        sys.modules.pop(name, None)


def test_a_plot_is_answered_with_a_sentence(browser_module):
    finder = browser_module._Finder()
    for kind in (NotHere, ImportError):
        with pytest.raises(kind, match="draws a plot, and matplotlib is not part of this page"):
            finder.find_spec("matplotlib.figure")
    assert all(ABSENT.search(sentence) for sentence in browser_module.ABSENT.values())
    assert not ABSENT.search("PASS t4/03\n      In a web page that compiler does not run; on your machine, this works.")
    assert finder.find_spec("json") is None and finder.find_spec("matplotlib_inline") is None


def test_what_cannot_be_had_here_is_a_note_and_no_error(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    for error in (NotHere("No machine code here."), LabError("Write 3.")):
        assert _show_error(None, type(error), error, None)
    note, mistake = shown
    assert note["text/plain"] == "No machine code here." and mistake["text/plain"] == "LabError: Write 3."


class Recorded:
    """A clang that writes down what it is asked, and has an answer of its own."""

    writes_ir = False

    def __call__(self, arguments, files):
        self.files = files
        return 1, "", "own.cu:1:1: error: as asked"

    def version(self):
        return "recorded"


def test_a_kernel_file_is_compiled_by_clang_where_there_is_no_nvrtc(monkeypatch, tmp_path):
    recorded = Recorded()
    monkeypatch.setattr(clang, "_in_use", recorded)
    monkeypatch.setattr(nvrtc, "is_installed", lambda: False)
    clang.version.cache_clear()
    text = "#include <cuda_fp16.h>\n__global__ void own(float* x) { *x = 1; }\n"
    with pytest.raises(nvrtc.CompileError, match="as asked"):
        kernel_file(tmp_path / "own.cu", text=text, arch="sm_75")
    assert "__global__ void own" in recorded.files["own.cu"]
    clang.version.cache_clear()
    assert "host_values.h" in recorded.files and "math.h" in recorded.files
    assert clang.has_header("mma.h") and clang.has_header("config.cuh") and not clang.has_header("vector")


def test_a_kernel_of_ones_own_runs_with_the_clang_that_is_installed(monkeypatch):
    if not clang.installed():
        pytest.skip("the package ziglang is not installed")
    monkeypatch.setattr(nvrtc, "is_installed", lambda: False)
    text = "#include <math.h>\n__global__ void own(float* x, uintptr_t y) { x[threadIdx.x] = INFINITY + int64_t(y); }\n"
    x = np.zeros(32, np.float32)
    ran = str(lab.simulate(text, grid=1, block=32, args=[x, 3]))
    assert "changed 32 of 32" in ran and "inf inf inf" in ran
    wrong = lab.simulate(text.replace("int64_t", "int65_t"), grid=1, block=32, args=[x, 3])
    assert "int65_t" in str(wrong)


def test_a_limit_of_seconds_needs_no_count_of_processor_time(monkeypatch):
    monkeypatch.delattr("time.thread_time")
    limit = runpy.run_path(str(ROOT / "packages/gpu_simulator/effort.py"))["Effort"](seconds=5)
    limit.begin(1.0)
    assert 0 < limit.end - time.monotonic() <= 5
