"""The wheel: it carries its data, and works where no checkout is in sight."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from gemm_lab import __version__
from gemm_lab.config import DOCUMENTS
from gemm_lab.notebook_files import copy_series
from gemm_results.errors import LabError
from gpu_simulator.hardware.data_sheets import GPUS

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("gemm_lab", "gemm_look", "gemm_results", "gpu_runner", "gpu_timing", "llvm_ir_to_ptx")
DATA = ("kernels", "images", "results", "notebooks", "docs")


HOME = ROOT / "packages"
PRODUCT = HOME / "gpu_simulator"
LESSONS = HOME / "gemm_lab_lessons"
CLASSROOM = HOME / "gemm_lab_classroom"


def built(project: Path, folder: Path) -> Path:
    """The wheel of a project, in `folder`."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    """The wheel of gpu_simulator as a product of its own."""
    return built(PRODUCT, tmp_path_factory.mktemp("simulator"))


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    return built(LESSONS, tmp_path_factory.mktemp("lessons"))


@pytest.fixture(scope="module")
def classroom(tmp_path_factory):
    return built(CLASSROOM, tmp_path_factory.mktemp("classroom"))


@pytest.fixture(scope="module")
def outside(wheel, simulator, lessons, tmp_path_factory):
    """A folder outside the checkout with the three wheels unpacked beside it, and what runs Python there."""
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("outside")
    for path in (wheel, simulator, lessons):
        zipfile.ZipFile(path).extractall(site)
    # Where these tests run, an editable installation may offer the checkout's own tools.
    (site / "tools.py").write_text("raise ModuleNotFoundError('a wheel has no tools')\n")
    environment = os.environ | {"PYTHONPATH": str(site), "XDG_STATE_HOME": str(folder / "state")}

    def python(*words: str, fails: bool = False) -> str:
        done = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + (done.stderr if fails else "")

    return site, folder, python


def test_wheel_ships_the_package_and_its_data(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for package in PACKAGES:
        assert f"{package}/__init__.py" in names
    for folder in DATA:
        assert any(name.startswith(f"gemm_lab/data/{folder}/") for name in names), folder
    assert {name for name in names if "/docs/" in name} == {f"gemm_lab/data/docs/{name}" for name in DOCUMENTS}
    for path in (ROOT / "kernels").rglob("*.cu*"):
        assert f"gemm_lab/data/{path.relative_to(ROOT).as_posix()}" in names
    tops = {name.split("/")[0] for name in names}
    shared = f"gemm_lab-{__version__}.data"
    assert tops == {*PACKAGES, f"gemm_lab-{__version__}.dist-info", shared}, "nothing beside the packages"
    extension = f"{shared}/data/share/jupyter/labextensions/gemm_lab"
    assert {name for name in names if name.startswith(shared)} == {
        f"{extension}/package.json",
        f"{extension}/remoteEntry.js",
    }
    assert {"gemm_lab/py.typed", "gemm_lab/__init__.pyi"} <= names, "the types"
    assert {f"gemm_lab/lab/exported/{name}.cu" for name in ("main", "tensor_map")} <= names, "what export writes"
    assert "gpu_timing/calibration.cu" in names, "the microbenchmarks of `gemm-lab calibrate`"
    constants = {f"gpu_timing/cycles/constants/{path.name}" for path in HOME.glob("gpu_timing/cycles/constants/*.csv")}
    assert constants and constants <= names
    assert not [name for name in names if "/tests/" in name]


def modules_of_the_simulator() -> set[str]:
    paths = {path.relative_to(PRODUCT) for path in PRODUCT.rglob("*.py")}
    return {f"gpu_simulator/{path.as_posix()}" for path in paths if path.parts[0] not in ("tests", "build", "dist")}


def test_the_wheel_of_the_simulator_holds_its_modules_headers_and_data_sheets_alone(simulator):
    names = set(zipfile.ZipFile(simulator).namelist())
    assert {name for name in names if ".dist-info/" not in name} - {
        "gpu_simulator/py.typed",
        "gpu_simulator/TESTING.md",
    } == (
        modules_of_the_simulator()
        | {path.relative_to(HOME).as_posix() for path in (PRODUCT / "compiler/clang_headers").rglob("*.h")}
        | {f"gpu_simulator/compiler/libcudacxx/{name}" for name in ("headers.tar.gz", "LICENSE.txt")}
        | {f"gpu_simulator/hardware/sheets/{key}.csv" for key in (*GPUS, "tensor_core_sums")}
    )
    (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
    lines = zipfile.ZipFile(simulator).read(metadata).decode().split("\n")
    assert [line for line in lines if line.startswith("Requires-Dist") and "extra ==" not in line] == [
        "Requires-Dist: numpy>=1.26"
    ]


def test_the_wheel_of_the_lessons_has_the_rooms_and_neither_tests_nor_wrong_answers(lessons):
    names = set(zipfile.ZipFile(lessons).namelist())
    code = {name for name in names if ".dist-info/" not in name}
    assert not [name for name in code if re.search(r"/(tests|wrong_answers)/|conftest|pyproject", name)]
    wanted = [path for path in LESSONS.rglob("*") if path.suffix in (".py", ".js", ".toml", ".cu")]
    left_out = {"tests", "wrong_answers", "build", "dist"}
    wanted = [path.relative_to(HOME) for path in wanted if not left_out & {*path.relative_to(LESSONS).parts}]
    assert code == {path.as_posix() for path in wanted} - {
        f"gemm_lab_lessons/{name}" for name in ("conftest.py", "pyproject.toml")
    }
    (points,) = [name for name in names if name.endswith("entry_points.txt")]
    assert "[gemm_lab.courses]" in zipfile.ZipFile(lessons).read(points).decode()


def test_the_wheel_of_the_classroom_holds_its_modules_alone(classroom):
    names = {name for name in zipfile.ZipFile(classroom).namelist() if ".dist-info/" not in name}
    assert names == {path.relative_to(HOME).as_posix() for path in CLASSROOM.rglob("*.py")}


def test_without_the_classroom_serving_says_what_to_install(outside):
    site, _, python = outside
    (site / "gemm_lab_classroom.py").write_text("raise ModuleNotFoundError(name='gemm_lab_classroom')\n")
    try:
        assert "pip install gemm_lab_classroom" in python("-m", "gemm_lab.cli", "serve", fails=True)
    finally:
        (site / "gemm_lab_classroom.py").unlink()


def test_the_wheel_of_the_lab_has_no_answer(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if "solution" in name or "wrong_answers" in name or "puzzles" in name]


WITHOUT_LESSONS = """
import importlib.metadata
found = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **which: () if which.get("group") == "gemm_lab.courses" else found(**which)
import gemm_lab as lab
assert lab.kernel("t4/03").run(256, backend="simulator").verdict == "PASS"
for ask in (lambda: lab.puzzle("04_bank"), lambda: lab.exercise("06_swizzle"), lambda: lab.guess("00_loop"), lambda: lab.zoom):
    try:
        ask()
    except Exception as error:
        print(error)
"""


def test_without_lessons_the_lab_works_and_says_what_to_install(outside):
    *_, python = outside
    said = python("-c", WITHOUT_LESSONS).strip().split("\n")
    assert len(said) == 4 and all("pip install gemm_lab_lessons" in line for line in said)


def test_the_wheels_share_no_file_and_one_asks_for_versions_of_the_other(wheel, simulator):
    """So one can be removed, and the other works on; and the two can be installed in either order."""
    assert not set(zipfile.ZipFile(wheel).namelist()) & set(zipfile.ZipFile(simulator).namelist())
    metadata = zipfile.ZipFile(wheel).read(f"gemm_lab-{__version__}.dist-info/METADATA").decode()
    assert "Requires-Dist: gpu-simulator~=1.0\n" in metadata.replace("gpu_simulator", "gpu-simulator")


ALONE = """
import importlib, pkgutil, sys
sys.meta_path.insert(0, type("No", (), {"find_spec": staticmethod(
    lambda name, *_: (_ for _ in ()).throw(ImportError(name)) if name.partition(".")[0] in FORBIDDEN else None)}))
import gpu_simulator
assert gpu_simulator.__file__.startswith(SITE), gpu_simulator.__file__
for module in pkgutil.walk_packages(gpu_simulator.__path__, "gpu_simulator."):
    if not module.name.endswith(("__main__", "pytest_plugin")):
        importlib.import_module(module.name)
outside = {name.partition(".")[0] for name, module in sys.modules.items() if "site-packages" in (getattr(module, "__file__", "") or "")}
print(*sorted(outside - {"gpu_simulator"}))
"""


def test_every_module_of_the_simulator_imports_with_numpy_alone(simulator, tmp_path):
    """psutil, NVRTC and ml_dtypes are there when they are needed, and not before."""
    site = tmp_path / "site"
    zipfile.ZipFile(simulator).extractall(site)
    head = f"SITE = {str(site)!r}\nFORBIDDEN = {{'cuda', 'psutil', 'landlockpy', 'ml_dtypes', 'gemm_lab', 'gpu_runner', 'gpu_timing', 'llvm_ir_to_ptx'}}\n"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    environment["PYTHONPATH"] = str(site)
    command = [sys.executable, "-c", head + ALONE]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {name for name in done.stdout.split() if not name.startswith("_")} <= {"numpy"}


@pytest.mark.parametrize(("project", "paths"), [(ROOT, [ROOT, HOME]), (PRODUCT, [HOME]), (LESSONS, [HOME])])
def test_an_editable_install_finds_the_packages(project, paths, tmp_path):
    command = [sys.executable, "-c", f"import hatchling.build as b; print(b.build_editable({str(tmp_path)!r}))"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("*.whl")
    (pth,) = [name for name in zipfile.ZipFile(path).namelist() if name.endswith(".pth")]
    assert zipfile.ZipFile(path).read(pth).decode().split() == [*map(str, paths)]


def test_an_unpacked_wheel_finds_its_own_data(outside):
    site, _, python = outside
    code = f"from gemm_lab.config import data_dir\nprint(*map(data_dir, {DATA}), sep='\\n')"
    assert python("-c", code).split("\n")[:-1] == [str(site / "gemm_lab" / "data" / name) for name in DATA]


@pytest.mark.long
def test_the_command_line_of_the_wheel(outside):
    _, _, python = outside
    assert "NVRTC" in python("-m", "gemm_lab.cli", "doctor")
    assert python("-m", "gemm_lab.cli", "run", "simt/01", "-n", "64", "--verify").startswith("PASS")


# Runs notebooks as Jupyter does, each in its own folder, and stops at the first cell that fails.
EXECUTE = """
import sys
from pathlib import Path
import nbformat
from nbclient import NotebookClient
for path in map(Path, sys.argv[1:]):
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(nbformat.read(path, as_version=4), kernel_name="python3", timeout=600, resources=resources).execute()
"""
USES = """
import gemm_lab as lab
assert lab.__file__.startswith({site!r}), lab.__file__
assert lab.kernel("t4/03").run(256, backend="simulator").verdict == "PASS"
assert lab.ladder("simt").recorded([4096]).rows
assert lab.kernel("t4/03").profile().card is not None
assert lab.figure("journey").path.is_file()
lab.exercise("01_block_tile").check(block_m=256, block_n=192, block_k=32)
"""


def test_kernels_results_pictures_and_exercises_are_inside(outside):
    site, _, python = outside
    python("-c", USES.format(site=str(site)))


def test_a_missing_folder_is_a_sentence(outside):
    site, _, python = outside
    hidden = site / "gemm_lab" / "data" / "images"
    hidden.rename(site / "images-elsewhere")
    try:
        said = python("-c", "import gemm_lab\nprint(gemm_lab.figure('journey'))", fails=True)
    finally:
        (site / "images-elsewhere").rename(hidden)
    assert "The folder 'images' is missing" in said


@pytest.mark.long
def test_notebooks_copied_out_of_the_wheel_run(outside):
    _, folder, python = outside
    assert "jupyter lab" in python("-m", "gemm_lab.cli", "notebooks", "mine")
    assert (folder / "mine/images/swizzle_xor.png").is_file()
    assert broken_links(folder / "mine") == []
    python("-c", EXECUTE, "mine/notebooks/01_memory_wall_and_roofline.ipynb")


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_all_notebooks_copied_out_of_the_wheel_run(outside):
    _, folder, python = outside
    python("-m", "gemm_lab.cli", "notebooks", "all")
    books = [str(path) for path in sorted((folder / "all/notebooks").glob("*.ipynb"))]
    assert len(books) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    python("-c", EXECUTE, *books)


@pytest.mark.long
def test_a_notebook_that_fails_outside_is_seen(outside):
    _, folder, python = outside
    cells = [nbformat.v4.new_code_cell("import gemm_lab"), nbformat.v4.new_code_cell("from tools import sync")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "bad.ipynb")
    assert "a wheel has no tools" in python("-c", EXECUTE, "bad.ipynb", fails=True)


LINK = re.compile(r"\]\((?!https?:)([^()\s#]+)[^()\s]*\)|(?:src|href)=\"(?!https?:)([^\"#]+)")


def broken_links(folder: Path) -> list[str]:
    """Links of the notebooks in FOLDER/notebooks, and of the documents beside them, that lead to no file."""
    texts = {path: path.read_text(encoding="utf-8") for path in folder.glob("docs/*.md")}
    for path in (folder / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        texts[path] = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    targets = [(path, one or other) for path, text in texts.items() for one, other in LINK.findall(text)]
    assert len(targets) > 50
    return [f"{path.name}: {target}" for path, target in targets if not (path.parent / target).exists()]


def test_the_links_of_a_copy_lead_to_files(tmp_path):
    copy_series(tmp_path)
    assert broken_links(tmp_path) == []
    (tmp_path / "docs/GLOSSARY.md").unlink()
    assert any("../docs/GLOSSARY.md" in link for link in broken_links(tmp_path)), "a missing document is seen"


def test_a_copy_never_overwrites_a_document_of_the_same_name(tmp_path):
    mine = tmp_path / "docs/REFERENCES.md"
    mine.parent.mkdir()
    mine.write_text("my own list")
    with pytest.raises(LabError, match="another REFERENCES.md"):
        copy_series(tmp_path)
    assert mine.read_text() == "my own list" and not (tmp_path / "notebooks").exists()


def test_a_copy_never_overwrites_a_learners_notebook(tmp_path):
    first = copy_series(tmp_path)
    first[0].write_text("my work")
    with pytest.raises(LabError, match="choose another folder"):
        copy_series(tmp_path)
    assert first[0].read_text() == "my work"
