"""Puts the live page together: the page, Python with the simulator, the kernels with their PTX, and the compiler."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_lab.lab.kernel import kernel
from gemm_lab.notebook.cells import Line, parse_line
from gemm_lab.notebook.exercise_kernel import kernel_of_exercise
from gemm_lab.notebook.exercises import exercises as all_exercises
from gemm_lab.notebook.later_exercises import later_than, listing_without
from gemm_lab.notebook_files import notebooks_of
from gpu_simulator.compiler import nvrtc
from gpu_simulator.compiler.device_code import device_code
from gpu_simulator.simulating import compiled_kernel
from tools.live import packages
from tools.sizes import home

PAGE = Path(__file__).parent / "page"
OWN = Path(__file__).parent / "own"  # kernels that are no part of the catalogue, and how they are launched
BEGIN, FURTHER = "Begin here", "The most that a GPU can do"  # groups beside the chapters
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
ICON = Path(__file__).parents[1] / "site" / "static" / "icon.svg"
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
    for file in PAGE.iterdir():
        if file.suffix in (".html", ".css", ".js"):
            shutil.copy(file, into / file.name)
    shutil.copy(ICON, into / ICON.name)
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


def kernels() -> dict[str, dict[str, Any]]:
    """{name: title, group and source} of what the page offers, in its order.

    First the kernels of `OWN`, with launch and parameters, then by chapter the rungs of the catalogue and, with their
    task, the exercises about kernels. The group is the title of the chapter.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, told, source in own_kernels():
        taken = device_code(OWN / f"{name}.cu", source).parameters[told["launch"]["kernel"]]
        found[f"own/{name}"] = {"group": BEGIN, "source": source, "parameters": taken, **told}
    books = {path.stem: _sources(path) for path in notebooks_of("")} | {"": [f"# {FURTHER}"]}
    homes: dict[str, list[Any]] = {stem: [] for stem in books}
    for ladder in catalog.ladders().values():
        parts = [stem for stem in books if stem and stem[:2] == ladder.notebook[:2] and stem >= ladder.notebook]
        for spec in ladder.kernels:
            names = (stem for stem in parts if any(spec.name in text for text in books[stem]))
            homes[next(names, ladder.notebook)].append(spec)
    for stem, cells in books.items():
        group = {"group": cells[0].partition("\n")[0].removeprefix("# ")}
        found |= {spec.name: {"title": spec.title or "", "source": spec.source, **group} for spec in homes[stem]}
        found |= {name: one | group for name, one in exercises(cells).items() if name not in found}
    return found


def _sources(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def own_kernels() -> Iterator[tuple[str, dict[str, Any], str]]:
    """(name, title and launch, source) of each kernel of `OWN`."""
    for name, told in json.loads((OWN / "launches.json").read_text(encoding="utf-8")).items():
        yield name, told, (OWN / f"{name}.cu").read_text(encoding="utf-8")


def exercises(cells: Sequence[str]) -> dict[str, dict[str, str]]:
    """{"exercise/NAME": title, task, hint and the text with which its cell begins} of the exercises about kernels.

    constants, whole: the numbers that its text uses, and the kernel around it, without what a later exercise asks for.
    cells: the sources of a notebook's cells.
    """
    found, known = {}, all_exercises()
    for source, (_, name) in zip(cells, kernel_cells(cells), strict=True):
        if name:
            one, text = known[name], source.partition("\n")[2] + "\n"
            told = {"title": one.title, "task": one.task, "hint": one.hint, "source": text}
            made = kernel_of_exercise(name, one.criteria)
            told["constants"] = ", ".join(f"{key} {value}" for key, value in made.config.items())
            told["whole"] = "\n".join(line for _, _, line in listing_without(made, later_than(name)))
            found.setdefault(f"exercise/{name}", told)
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
        for file in sorted(PAGE.glob("*.py")):
            archive.write(file, file.name)
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
    """Compile every kernel that the page offers, and write its PTX into a folder."""
    for name in catalog.kernels():
        nvrtc.store(kernel(name).compile_as_taught(), into)
    for _, told, source in own_kernels():
        nvrtc.store(compiled_kernel(source, told["launch"]["kernel"]).program, into, named=False)


def _compressed(path: Path) -> int:
    """The bytes of a file or a folder after gzip, as a server sends them."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(len(gzip.compress(file.read_bytes(), 6)) for file in files)
