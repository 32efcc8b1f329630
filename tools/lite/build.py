"""Puts JupyterLite together: its pages, Pyodide with the packages of the kernel, and the notebooks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from gemm_lab.config import DOCUMENTS
from gemm_lab.notebook_files import notebooks_in
from gemm_results.errors import LabError
from tools import colab
from tools.lite import wheels
from tools.live import packages
from tools.live.build import DATA, PACKAGES
from tools.sizes import home

FIGURE = re.compile(r'lab\.figure\("(\w+)"')
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BROWSER = "gemm_lab_browser"  # the module that a notebook's first cell calls
EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager", "anywidget")
NOTE = (
    "*You are in a web page: Python and the GPU simulator run in your browser, and nothing is sent anywhere. The next "
    "cell loads the lab and the compiler, which takes a minute the first time; recorded outputs are left out here. "
    "What you write stays in this browser, in what it keeps for this site. To take it home, choose Download in the "
    "menu File; the notebook then opens in JupyterLab on your machine, where `make lab` starts it.*"
)
START = f"import {BROWSER}\nawait {BROWSER}.ready()"
LINK = '<p><a href="../lite/lab/index.html?path=notebooks/00_start_here.ipynb">All notebooks, in the browser</a></p>'
SETTINGS = {
    "jupyter-lite-schema-version": 0,
    "jupyter-config-data": {
        "appName": "gemm_lab",
        "exposeAppInBrowser": True,  # for the tests
        "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": {"disablePyPIFallback": True}},
    },
}


def build(into: Path, live: Path, wheels_folder: Path | None, cache: Path) -> dict[str, int]:
    """Write JupyterLite into a folder. Returns the bytes of {"pages", "packages", "compiler"} on the disk.

    live: the folder of the finished live page, on the same site, whose compiler the kernel loads.   wheels_folder: a
    folder with NumPy and ml_dtypes for Pyodide.   cache: where packages of npm are kept.

    Raises `LabError` if something is missing, or if JupyterLite's own builder stops.
    """
    if into.exists():
        shutil.rmtree(into)
    with tempfile.TemporaryDirectory() as made:
        source, out = Path(made, "source"), Path(made, "out")
        pyodide = source / "static" / "pyodide"
        packages.unpacked(packages.PYODIDE, pyodide, cache)
        kernel_packages(pyodide, live, os.path.relpath(live, into / "static" / "pyodide"), wheels_folder)
        contents(source / "files")
        (source / "jupyter-lite.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
        _jupyter_lite(source, out)
        into.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(out, into)
    index = live / "index.html"
    index.write_text(index.read_text(encoding="utf-8").replace("<!-- lab -->", LINK), encoding="utf-8")
    sizes = {"packages": _bytes(into / "static" / "pyodide"), "compiler": _bytes(live / "clang")}
    return {"pages": _bytes(into) - sizes["packages"], **sizes}


def kernel_packages(folder: Path, live: Path, where: str, wheels_folder: Path | None) -> None:
    """Put all packages of the kernel into the folder of Pyodide.

    live: the folder of the live page.   where: the same folder as an address, seen from that of Pyodide.
    """
    wheels.built_for_pyodide(wheels_folder, folder)
    wheels.download(wheels.chosen().values(), folder)
    module = (HERE / f"{BROWSER}.py").read_text(encoding="utf-8")
    extra = {f"{BROWSER}.py": module.encode(), "where_live.json": json.dumps(Path(where).as_posix()).encode()}
    wheels.as_wheel(live / "lab.zip", "gemm_lab", "0", "py3-none-any", folder, extra | shown())
    depends = {name: [one for one in wheels.chosen([name]) if one != name] for name in wheels.chosen()}
    wheels.write_lock(folder, depends | {"gemm-lab": [*depends, *packages.NEEDED, "matplotlib"]})


def shown() -> dict[str, bytes]:
    """{path: contents} of what the notebooks need and the live page does not have.

    These are the views of widgets, the notebooks themselves, pictures of `lab.figure`, and recorded results.
    """
    homes = [home(name) for name in PACKAGES]
    views = [(path, top) for top in homes for path in top.rglob("*") if path.suffix in (".js", ".css")]
    texts = {
        path.relative_to(top.parent).as_posix(): path.read_bytes() for path, top in views if "tests" not in path.parts
    }
    for path in notebooks_in(ROOT / "notebooks"):
        book = without_outputs(nbformat.read(path, as_version=4))
        texts[f"{DATA}/notebooks/{path.name}"] = nbformat.writes(book).encode()
        for picture in FIGURE.findall("\n".join(cell.source for cell in book.cells)):
            texts[f"{DATA}/images/{picture}.png"] = (ROOT / "images" / f"{picture}.png").read_bytes()
    for path in (ROOT / "results").rglob("*.csv"):
        if not {"raw", "measured"} & set(path.parts):  # the live page has what was measured
            texts[f"{DATA}/{path.relative_to(ROOT).as_posix()}"] = path.read_bytes()
    return texts


def contents(into: Path) -> None:
    """Write the notebooks with the cell that starts the lab, and what they show and link to, into a folder."""
    (into / "notebooks").mkdir(parents=True)
    for path in notebooks_in(ROOT / "notebooks"):
        nbformat.write(for_the_browser(nbformat.read(path, as_version=4)), into / "notebooks" / path.name)
    shutil.copytree(ROOT / "images", into / "images")
    (into / "docs").mkdir()
    for name in DOCUMENTS:
        shutil.copy(ROOT / "docs" / name, into / "docs" / name)


def for_the_browser(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook for JupyterLite's kernel: without outputs, and with the cell that starts the lab at the top."""
    notebook.cells = [cell for cell in notebook.cells if not colab.is_setup(cell)]
    start = [new_markdown_cell(NOTE, id="browser-note"), new_code_cell(START, id="browser-start")]
    notebook.cells[1:1] = start
    without_outputs(notebook)
    notebook.metadata["kernelspec"] = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    return notebook


def without_outputs(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook, changed in place, as if no cell had run."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def _jupyter_lite(source: Path, out: Path) -> None:
    """Call JupyterLite's builder, with the extensions that the lab needs and no others."""
    share = Path(sys.prefix, "share", "jupyter", "labextensions")
    wanted = [*(share / name for name in EXTENSIONS), ROOT / "gemm_lab" / "labextension"]
    if missing := [path.name for path in wanted if not (path / "package.json").is_file()]:
        raise LabError(f"JupyterLite needs the extensions {', '.join(missing)} of JupyterLab: make site installs them.")
    settings = {
        "LiteBuildConfig": {
            "federated_extensions": [str(path) for path in wanted],
            "ignore_sys_prefix": ["federated_extensions"],
            "contents": [str(source / "files")],
            "apps": ["lab", "notebooks"],
            "no_sourcemaps": True,
            "no_unused_shared_packages": True,
        }
    }
    (source / "jupyter_lite_config.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(source), "--output-dir", str(out)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    if done.returncode or not (out / "lab" / "index.html").is_file():
        raise LabError(f"JupyterLite's builder stopped: {(done.stdout + done.stderr).strip()[-1000:]}")


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
