"""Puts the live page together: the page, Python with the simulator, the kernels with their PTX, and the compiler."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_lab.lab.kernel import kernel
from gemm_lab.notebook.cells import Line, parse_line
from gemm_lab.notebook.exercises import exercises as all_exercises
from gemm_lab.notebook_files import cells_of_the_series
from gpu_simulator.compiler import nvrtc
from tools.live import packages
from tools.sizes import home

PAGE = Path(__file__).parent / "page"
PACKAGES = (
    "gemm_look",
    "llvm_ir_to_ptx",
    "gpu_simulator",
    "gpu_runner",
    "gpu_timing",
    "gemm_results",
    "gemm_lab",
    "gemm_lab_lessons",
)
DATA = "gemm_lab/data"  # where an installed lab has its data
_ASKS = re.compile(r'lab\.exercise\("(\w+)"\)')
KINDS = {".py", ".toml", ".h", ".gz", ".txt", ".cu", ".cuh", ".csv", ".json"}
EMPTY_TAR = bytes(1024)  # the compiler brings headers and libraries for other machines, 30 MB that CUDA does not need


def build(into: Path, wheels: Path | None, cache: Path) -> dict[str, int]:
    """Write the live page into a folder. Returns the bytes that a browser loads, compressed: {"simulator", "compiler"}.

    wheels: a folder with NumPy and ml_dtypes for Pyodide.   cache: where packages of npm are kept. Raises `LabError`
    if something is missing.
    """
    python = packages.for_pyodide(wheels)
    if into.exists():
        shutil.rmtree(into)
    into.mkdir(parents=True)
    for file in ("index.html", "live.css", "live.js", "worker.js", "clang.js"):
        shutil.copy(PAGE / file, into / file)
    for name, archive in python.items():
        shutil.copy(archive, into / f"{name}.zip")
    packages.unpacked(packages.PYODIDE, into / "pyodide", cache)
    packages.unpacked(packages.ACE, into / "ace", cache)
    packages.unpacked(packages.CLANG, into / "clang", cache)
    (into / "clang" / "llvm-resources.tar").write_bytes(EMPTY_TAR)
    zip_lab(into / "lab.zip")
    (into / "kernels.json").write_text(json.dumps(kernels()), encoding="utf-8")
    sizes = {
        "simulator": _compressed(into / "pyodide") + sum(_compressed(into / f"{n}.zip") for n in (*python, "lab")),
        "compiler": _compressed(into / "clang"),
    }
    (into / "sizes.json").write_text(json.dumps(sizes), encoding="utf-8")
    return sizes


def kernels() -> dict[str, dict[str, str]]:
    """{name: title and source} of every kernel of the catalogue and, with its task, of every exercise about one."""
    found = {name: {"title": spec.title or "", "source": spec.source} for name, spec in catalog.kernels().items()}
    return found | exercises()


def exercises() -> dict[str, dict[str, str]]:
    """{"exercise/NAME": title, task, hint and the text with which its cell begins} of the exercises about kernels."""
    found, known = {}, all_exercises()
    for cells in cells_of_the_series().values():
        sources = [source for _, source in cells]
        for source, (_, name) in zip(sources, kernel_cells(sources), strict=True):
            if name and f"exercise/{name}" not in found:
                one, text = known[name], source.partition("\n")[2] + "\n"
                found[f"exercise/{name}"] = {"title": one.title, "task": one.task, "hint": one.hint, "source": text}
    return found


def kernel_cells(sources: Iterable[str]) -> Iterator[tuple[Line | None, str | None]]:
    """For each cell its `%%kernel` line and the exercise that it is the text of; None for what a cell lacks."""
    asked = None
    for source in sources:
        named = _ASKS.search(source)
        asked = named[1] if named else asked
        first = source.partition("\n")[0]
        line = parse_line(first.removeprefix("%%kernel ")) if first.startswith("%%kernel ") else None
        yield line, asked if line and line.exercise else None


def zip_lab(path: Path) -> None:
    """Write the packages, the kernels and what the page asks of Python into one archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in ("in_page.py", "lab_page.py"):
            archive.write(PAGE / file, file)
        about = "gemm_lab_lessons-0.dist-info"  # by this Python finds the course, as if it had been installed
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: gemm_lab_lessons\nVersion: 0\n")
        archive.writestr(f"{about}/entry_points.txt", "[gemm_lab.courses]\ngemm_lab_lessons = gemm_lab_lessons\n")
        with tempfile.TemporaryDirectory() as made:
            store_ptx(Path(made))
            for file in sorted(Path(made).iterdir()):
                archive.write(file, f"stored/{file.name}")
        folders = {name: home(name) for name in PACKAGES}
        folders[f"{DATA}/kernels"] = data_dir("kernels")
        folders[f"{DATA}/results/measured"] = data_dir("results") / "measured"
        for name, folder in folders.items():
            for file in sorted(folder.rglob("*")):
                inside = file.relative_to(folder)
                if file.suffix in KINDS and not {"tests", "__pycache__", "build", "dist", "raw"} & set(inside.parts):
                    archive.write(file, f"{name}/{inside.as_posix()}")


def store_ptx(into: Path) -> None:
    """Compile every kernel of the catalogue, and write its PTX into a folder."""
    for name in catalog.kernels():
        nvrtc.store(kernel(name).compile_as_taught(), into)


def _compressed(path: Path) -> int:
    """The bytes of a file or a folder after gzip, as a server sends them."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(len(gzip.compress(file.read_bytes(), 6)) for file in files)
