"""The house rules that a machine can hold: imports go down, files stay small, the face stays narrow."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "gemm_lab"

# A unit is a module or a sub-package of gemm_lab. It may import units of lower floors, and of its own floor.
FLOORS = {
    "errors": 0,
    "arguments": 0,
    "hardware": 0,
    "config": 0,
    "model": 1,
    "source_text": 1,
    "published": 1,
    "catalog": 1,
    "compiler": 2,
    "emulator": 3,
    "device": 3,
    "measure": 4,
    "server": 4,
    "plots": 4,
    "api": 5,
    "notebook": 6,
    "cli": 6,
}
# gemm_lab/__init__.py may import every floor, and counts as floor 5 for those who import it.
FACE = "gemm_lab"
FORBIDDEN = {
    ("emulator", "device"),
    ("device", "emulator"),
    ("model", "catalog"),
    ("notebook", "cli"),
    ("plots", "measure"),
    ("measure", "plots"),
}
EMULATOR_MAY_IMPORT = {"model", "errors"}
THIRD_PARTY = {
    "errors": set(),
    "arguments": set(),
    "hardware": set(),
    "config": set(),
    "model": {"numpy"},
    "emulator": {"numpy"},
}

MAX_LINES = 450
MAX_PUBLIC_NAMES = 15
MAX_MODULES = 5
CODE = {".py", ".cu", ".cuh", ".js"}
TEXT = CODE | {".css", ".csv", ".ipynb", ".json", ".md", ".svg", ".toml", ".txt", ".yml", ".yaml", ""}


# ---- Imports ----


def unit_of(path: Path) -> str:
    """The unit that a file of the package belongs to: gpu_simulator/hardware/banks.py is `model`."""
    first = path.relative_to(PACKAGE).parts[0]
    return FACE if first in ("__init__.py", "__main__.py") else first.removesuffix(".py")


def imported_modules(source: str, package: tuple[str, ...]) -> set[str]:
    """Dotted names that a source imports, in functions too; relative ones resolved against `package`."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            base = base if node.level else node.module
            if base == FACE:  # from gemm_lab import X: a unit, or a name of the public face
                found |= {f"{FACE}.{a.name}" if a.name in FLOORS else FACE for a in node.names}
            else:
                found.add(base)
    return found


def violations(unit: str, source: str, package: tuple[str, ...] = (FACE,)) -> list[str]:
    """What a source of `unit` imports that it must not."""
    floor = FLOORS.get(unit, 6)
    bad = []
    for name in sorted(imported_modules(source, package)):
        top, *rest = name.split(".")
        if top != FACE:
            allowed = THIRD_PARTY.get(unit)
            if allowed is not None and top not in sys.stdlib_module_names | allowed:
                bad.append(name)
            continue
        other = rest[0] if rest else FACE
        other_floor = FLOORS.get(other, 5 if other == FACE else 99)
        down = other_floor <= floor and (unit, other) not in FORBIDDEN
        if unit == "emulator" and other not in EMULATOR_MAY_IMPORT | {"emulator"}:
            down = False
        if unit != other and not down:
            bad.append(name)
    return bad


PACKAGE_FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", PACKAGE_FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_only(path):
    package = (FACE, *path.relative_to(PACKAGE).parts[:-1])
    unit = unit_of(path)
    assert unit in FLOORS or unit == FACE, f"{unit} stands on no floor; add it to FLOORS"
    assert violations(unit, path.read_text(encoding="utf-8"), package) == []


@pytest.mark.parametrize(
    ("unit", "source"),
    [
        ("compiler", "from gemm_lab.measure import check"),
        ("compiler", "def f():\n    from gemm_lab import api"),
        ("model", "import gemm_lab.catalog"),
        ("model", "import torch"),
        ("hardware", "import numpy"),
        ("catalog", "import gemm_lab"),
        ("emulator", "from gemm_lab import device"),
        ("emulator", "from gpu_simulator.compiler import Compiled"),
        ("emulator", "import cupy"),
        ("device", "from ..emulator import run"),
        ("measure", "from . import api"),
        ("notebook", "import gemm_lab.cli"),
        ("api", "from gemm_lab.notebook.show import figure"),
        ("api", "import gemm_lab.unheard_of"),
    ],
)
def test_an_upward_import_is_seen(unit, source):
    package = (FACE, unit) if ".." in source else (FACE,)
    assert violations(unit, source, package)


@pytest.mark.parametrize(
    ("unit", "source"),
    [
        ("model", "import numpy as np\nfrom gpu_simulator.errors import LabError\nfrom . import banks"),
        ("compiler", "from .nvrtc import compile_ptx\nfrom ..catalog import kernel"),
        ("emulator", "from gemm_lab.model import swizzle"),
        ("device", "import cupy\nfrom gpu_simulator.compiler import Compiled"),
        ("notebook", "import gemm_lab as lab\nfrom gemm_lab import ladder"),
        ("cli", "from gemm_lab.notebook import sync"),
        (FACE, "from gemm_lab.lab import kernel\ndef figure():\n    from .notebook import figures"),
    ],
)
def test_a_downward_import_is_let_through(unit, source):
    assert violations(unit, source, (FACE, unit) if unit != FACE else (FACE,)) == []


# ---- The public face ----


def in_a_fresh_interpreter(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_public_names_are_few_and_there():
    code = "import gemm_lab as g; [getattr(g, n) for n in g.__all__]; print(*g.__all__)"
    names = in_a_fresh_interpreter(code).split()
    assert 0 < len(names) <= MAX_PUBLIC_NAMES
    assert len(set(names)) == len(names)


def test_import_needs_little():
    """It loads nothing but itself: what a name needs is loaded when the name is asked for."""
    code = (
        "import sys, warnings, importlib; before = set(sys.modules); import gemm_lab; print(*set(sys.modules) - before)"
    )
    loaded = set(in_a_fresh_interpreter(code).split())
    assert {name for name in loaded if not name.startswith("gemm_lab")} <= {"__future__"}, (
        "import gemm_lab must not load these"
    )
    assert len(loaded) <= MAX_MODULES


def test_the_picture_of_the_house_shows_these_floors():
    from tools.figures.house import APART, HOUSE

    assert {part: floor for floor, parts, _ in HOUSE for part in parts} == FLOORS
    assert [floor for floor, _, _ in HOUSE] == sorted(set(FLOORS.values()), reverse=True)
    assert {(one, other) for pair in APART for one, other in (pair, pair[::-1])} <= FORBIDDEN
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert all(f"`{part}`" in page for part in FLOORS)


# ---- Files ----


def project_files() -> list[Path]:
    """What git tracks or would add; outside a git checkout, everything but builds and environments."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        skipped = {"build", "dist", ".venv", "__pycache__"}
        paths = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        names = [str(path) for path in paths if not skipped & set(path.parts)]
    return [ROOT / name for name in sorted(filter(None, names)) if (ROOT / name).is_file()]


FILES = project_files()
TEXT_FILES = [path for path in FILES if path.suffix in TEXT]


def lines_with(pattern: re.Pattern, files=TEXT_FILES) -> list[str]:
    """`file:line` of every match, in files that are text."""
    hits = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        hits += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
            for number, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    return hits


def test_files_stay_small():
    sizes = {str(p.relative_to(ROOT)): len(p.read_text("utf-8").splitlines()) for p in FILES if p.suffix in CODE}
    assert {name: size for name, size in sizes.items() if size > MAX_LINES} == {}


def undocumented(source: str) -> list[str]:
    """What of a module has no docstring: the module itself, its public functions and classes."""
    module = ast.parse(source)
    bare = [] if not source.strip() or ast.get_docstring(module) else ["the module"]
    public = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return bare + [
        node.name
        for node in module.body
        if isinstance(node, public) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]


def test_public_names_say_what_they_are():
    found = {str(path.relative_to(PACKAGE)): undocumented(path.read_text("utf-8")) for path in PACKAGE_FILES}
    assert {name: bare for name, bare in found.items() if bare} == {}
    assert undocumented("def f():\n    pass") == ["the module", "f"]
    assert undocumented('"""It."""\ndef _f():\n    pass') == [] == undocumented("")


VAGUE_NAME = re.compile(r"(?:^|[_-])(?:utils?|common|helpers?|v\d+|better)(?:$|[_-])")


def test_file_names_say_what_is_inside():
    parts = {part.split(".")[0]: path for path in FILES for part in path.relative_to(ROOT).parts}
    assert {str(path) for stem, path in parts.items() if VAGUE_NAME.search(stem)} == set()


@pytest.mark.parametrize("stem", ["utils", "common", "test_helpers", "gemm_v2", "04_better", "tile-util"])
def test_a_vague_name_is_seen(stem):
    assert VAGUE_NAME.search(stem)


HOME_PATH = re.compile(r"(?<![\w.])/(?:home|Users)/\w|(?<![\w.])/root/\w|\b[A-Z]:\\+Users\\")
# What a recorded output would leave in a notebook.
MACHINE_PATH = re.compile(r"(?<![\w./])/(?:tmp|work|mnt|srv|opt|var)/\w")
REGISTRY = re.compile(
    r"://(?:[\w-]+\.)*(?:pypi|npmjs|registry|packages?|files|mirrors?|index|conda|crates|deb)\.[\w.-]+", re.I
)
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")


def test_no_path_of_somebodys_machine():
    assert lines_with(HOME_PATH) == []
    assert lines_with(MACHINE_PATH, [path for path in TEXT_FILES if path.suffix == ".ipynb"]) == []


def test_no_package_registry_is_named():
    assert lines_with(REGISTRY) == []
    assert [path.name for path in FILES if path.suffix == ".lock"] == []


def test_nothing_is_left_unfinished():
    assert lines_with(UNFINISHED) == []


def test_the_patterns_see_what_they_are_for():
    home, scheme = "/ho" + "me/", "https:" + "//"
    assert HOME_PATH.search(f'File "{home}ada/gemm.py"')
    assert not HOME_PATH.search(f"{scheme}example.com{home}page")
    assert MACHINE_PATH.search("Cell In[3], /" + "tmp/ipykernel_7/1.py")
    for host in ("pypi.example", "registry.example.org", "a.packages.example"):
        assert REGISTRY.search(scheme + host + "/simple")
    assert not REGISTRY.search(scheme + "docs.example.com/cuda/index.html")
    assert UNFINISHED.search("# TO" + "DO later")
