"""The house: imports go down and never in a circle, and the public face of gemm_lab is narrow.

ARCHITECTURE.md explains them. An import inside a function counts like any other. So does a module that is named by a string, such as those that
`gemm_lab/__init__.py` loads when they are asked for.
"""

import ast
import json
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tools.sizes import home

ROOT = Path(__file__).resolve().parents[1]

# From the ground up. A package imports those before it; what it may not is told at `RUNNER_MAY_IMPORT` and `MAY_NOT_IMPORT`, and the one way up at `GATE`.
PACKAGES = (
    "gemm_look",
    "llvm_ir_to_ptx",
    "gpu_simulator",
    "gpu_runner",
    "gpu_timing",
    "gemm_results",
    "gemm_lab",
    "gemm_lab_lessons",
    "gemm_lab_classroom",
    "tools",
)

# From the ground up. A part is a module or a sub-package; it imports parts of its own floor and of those below it.
# "__init__" is the package's own __init__.py, and what imports the package by its name alone imports that.
FLOORS = {
    "gpu_simulator": (
        ("hardware", "errors", "argument_checks", "faults"),
        ("ptx", "compiler"),
        ("machine", "arithmetic", "runtime", "allow_list"),
        ("codegen",),
        ("observers",),
        ("report", "effort", "launch_checks", "launch_progress", "memory_limit"),
        ("launching",),
        ("kernel_file", "simulating", "__init__"),
        ("layouts",),
        ("cli", "__main__"),
        ("pytest_plugin",),
    ),
    "gpu_timing": (("machine_code", "logical", "occupancy"), ("cycles",), ("calibration", "__init__")),
    "gemm_results": (
        (
            *("errors", "data_folders", "results", "recorded_cards", "profile", "stalls", "findings"),
            *("statistics", "ablation", "timeline_files", "published", "blind_trials"),
            *("published_trials", "roofline_model"),
        ),
        ("plots",),
        ("cards", "__init__"),
    ),
    "gemm_lab": (
        ("config", "source_text", "ladder_expressions", "problem", "ablations", "doors"),
        ("catalog", "compiling", "notebook_files", "trust", "courses"),
        ("measure",),
        ("cards",),
        ("lab",),
        ("notebook", "__init__"),
        ("cli", "__main__"),
    ),
    # A room imports `shared` and the rooms of earlier chapters; the zoom is used by all and imports what it draws.
    "gemm_lab_lessons": (("shared",), *((f"ch{number:02}",) for number in range(14)), ("zoom",), ("__init__",)),
}
# Parts that do not import each other, although their floors would allow it.
APART = {frozenset({"gemm_lab.notebook", "gemm_lab.cli"})}
# The compiler stands beside the simulator's floors: whoever simulates PTX of another origin needs no NVRTC.
BESIDE = "gpu_simulator.compiler"
# A kernel can be launched on a GPU without the simulator, which is asked only after one has failed there.
RUNNER_MAY_IMPORT = {"compiler", "hardware", "errors", "argument_checks"}
ASKS_THE_SIMULATOR = "gpu_runner.postmortem"
# A translation of LLVM's IR serves the compiler alone; who runs or times kernels draws nothing.
MAY_NOT_IMPORT = {
    "gpu_simulator": {"gemm_look", "llvm_ir_to_ptx"},
    "gpu_simulator.compiler": {"gemm_look"},
    "gpu_runner": {"gemm_look", "llvm_ir_to_ptx"},
    "gpu_timing": {"gemm_look", "llvm_ir_to_ptx"},
    "llvm_ir_to_ptx": {"gemm_look"},
}
# `gemm-lab serve` starts the gateway. It is the one way up, and inside a function: nothing else loads it.
GATE = ("gemm_lab.cli", "gemm_lab_classroom.gateway")

# Beside the standard library and this project's packages. Parts that are not listed may import what pyproject.toml has.
THIRD_PARTY = {
    "gemm_look": {"PIL", "matplotlib", "numpy"},
    "llvm_ir_to_ptx": set(),
    "gpu_simulator": {"numpy"},
    "gpu_simulator.hardware": {"ml_dtypes", "numpy"},  # for who has arrays in BF16
    "gpu_simulator.compiler": {"cuda", "landlockpy", "psutil"},
    "gpu_simulator.pytest_plugin": {"numpy", "pytest"},
    "gpu_runner": {
        "cuda",
        "cupy",
        "httpx",
        "ml_dtypes",
        "numpy",
        "psutil",
        "pynvml",
        "torch",
        "triton",
    },
    "gpu_timing": {"numpy"},
    "gemm_results": {"matplotlib", "numpy"},
    "gemm_lab.config": {"platformdirs"},
    "gemm_lab.catalog": {"tomli"},  # the standard library's tomllib before Python 3.11
    "gemm_lab.compiling": set(),
    "gemm_lab.source_text": set(),
    "gemm_lab.notebook_files": set(),
    "gemm_lab.measure": {"numpy"},
}

MAX_PUBLIC_NAMES = 16
MAX_MODULES = 5

# ---- Imports ----


def inside(path: Path) -> Path:
    """A path from the folder that Python imports from: the root, or packages/."""
    within = path.relative_to(ROOT)
    return within.relative_to("packages") if within.parts[0] == "packages" else within


def module_of(path: Path) -> str:
    """packages/gpu_simulator/ptx/__init__.py is `gpu_simulator.ptx`."""
    parts = inside(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


HOUSE_FILES = sorted(  # a package's own tests are no part of it
    path
    for package in PACKAGES
    for path in home(package).rglob("*.py*")
    if path.suffix in (".py", ".pyi")
    and "tests" not in path.relative_to(ROOT).parts
    and not {"solutions", "wrong_answers"} & {*path.parts}
    and path.name != "conftest.py"
)
MODULES = {module_of(path): path for path in HOUSE_FILES if path.suffix == ".py"}  # a .pyi has the types of one


def in_functions(tree: ast.AST) -> set[ast.AST]:
    """Every node that runs only when a function is called."""
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return {inner for function in functions for inner in ast.walk(function)}


@cache
def imported(source: str, package: str, late: bool = True) -> set[str]:
    """Dotted names that a source imports; relative ones start at `package`. late: those inside functions, too.

    A name that `from … import` takes out of a package is the module of that name where there is one.
    """
    tree, found, own = ast.parse(source), set(), package.split(".")
    later = set() if late else in_functions(tree)
    for node in ast.walk(tree):
        if node in later:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = own[: len(own) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else base for name in names}
        elif isinstance(node, ast.Constant) and node.value in MODULES and "." in node.value:
            found.add(node.value)
    return found


def part_of(module: str) -> str:
    """gpu_simulator.ptx.parser belongs to `gpu_simulator.ptx`, and gpu_simulator alone to `gpu_simulator.__init__`."""
    package, *rest = module.split(".")
    return f"{package}.{rest[0] if rest else '__init__'}"


def floor_of(part: str) -> int:
    """The number of a part's floor in its package; -1 where it stands on none."""
    package, name = part.split(".")
    return next((number for number, parts in enumerate(FLOORS[package]) if name in parts), -1)


def allowed(importer: str, other: str) -> bool:
    """Whether a file of the part `importer` may import the module `other` of the house."""
    part = part_of(other)
    (own, _), (package, name) = importer.split("."), part.split(".")
    if importer == part or (importer, ".".join(other.split(".")[:2])) == GATE:
        return True
    if own != package:
        down = PACKAGES.index(package) < PACKAGES.index(own)
        if package in MAY_NOT_IMPORT.get(importer, MAY_NOT_IMPORT.get(own, ())):
            return False
        return down and (own != "gpu_runner" or importer == ASKS_THE_SIMULATOR or name in RUNNER_MAY_IMPORT)
    if own not in FLOORS:
        return True
    if part == BESIDE:
        return importer in ("gpu_simulator.kernel_file", "gpu_simulator.cli")  # they compile the file that is given
    if importer == BESIDE and floor_of(part) > 0:
        return False
    return 0 <= floor_of(part) <= floor_of(importer) and frozenset({importer, part}) not in APART


def violations(importer: str, source: str, package: str | None = None) -> list[str]:
    """What a source of the part `importer`, in the package `package`, imports that it must not."""
    bad = []
    for name in imported(source, package or importer.split(".")[0]):
        top = name.split(".")[0]
        if top in PACKAGES:
            bad += [] if allowed(importer, name) else [name]
        else:
            third = THIRD_PARTY.get(importer, THIRD_PARTY.get(importer.split(".")[0]))
            bad += [name] if third is not None and top not in sys.stdlib_module_names | third else []
    if importer == GATE[0]:
        bad += [name for name in imported(source, "gemm_lab", late=False) if part_of(name) == GATE[1]]
    return sorted(bad)


@pytest.mark.parametrize("path", HOUSE_FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_go_down_only(path):
    part = part_of(module_of(path))
    package = part.split(".")[0]
    assert package not in FLOORS or floor_of(part) >= 0, f"{part} stands on no floor; add it to FLOORS"
    folder = inside(path.parent).as_posix().replace("/", ".")
    assert violations(part, path.read_text(encoding="utf-8"), folder) == []


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("gpu_simulator.hardware", "from gpu_simulator import ptx"),
        ("gpu_simulator.hardware", "import torch"),
        ("gpu_simulator.ptx", "from gpu_simulator.machine import lanes"),
        ("gpu_simulator.machine", "from gpu_simulator.codegen.emitter import Emitter"),
        ("gpu_simulator.codegen", "def f():\n    from gpu_simulator.observers import hazards"),
        ("gpu_simulator.launching", "from gpu_simulator.compiler import Compiled"),
        ("gpu_simulator.launching", "from .compiler import Compiled"),
        ("gpu_simulator.compiler", "from gpu_simulator.ptx.parser import parse"),
        ("gpu_simulator.launching", "import cupy"),
        ("gpu_simulator.cli", "import pytest"),
        ("gpu_simulator.cli", "from gpu_simulator.pytest_plugin import Simulated"),
        ("gpu_simulator.launching", "import gpu_runner"),
        ("gpu_simulator.machine", "import gpu_simulator"),
        ("gpu_runner.driver", "from gpu_simulator import launch"),
        ("gpu_runner.driver", "from gpu_simulator.ptx import parser"),
        ("gpu_runner.driver", "from gemm_lab import config"),
        ("gpu_runner.driver", "import matplotlib"),
        ("gemm_lab.config", "import numpy"),
        ("gemm_lab.config", "import gemm_lab"),
        ("gpu_simulator.launching", "from gpu_timing.cycles import sm"),
        ("gpu_simulator.launching", "import llvm_ir_to_ptx"),
        ("gpu_simulator.compiler", "from gemm_look import theme"),
        ("llvm_ir_to_ptx.code", "from gpu_simulator.errors import SimulatorError"),
        ("gemm_look.card", "from gemm_results import results"),
        ("gpu_timing.logical", "from gemm_look import style"),
        ("gpu_timing.machine_code", "from gpu_timing.cycles import sm"),
        ("gpu_timing.cycles", "import torch"),
        ("gemm_results.plots", "from gemm_results.cards import scoreboard"),
        ("gemm_results.cards", "from gemm_lab import catalog"),
        ("gemm_results.plots", "from gemm_lab.measure import check"),
        ("gemm_lab.measure", "from gemm_lab.cards import kernel_card"),
        ("gemm_lab.notebook", "from gemm_lab_lessons.shared.criteria import brackets"),
        ("gemm_lab.cards", "from gemm_lab.lab import Kernel"),
        ("gemm_lab.lab", "import importlib\nimportlib.import_module('gemm_lab.notebook.cells')"),
        ("gemm_lab.lab", "import gemm_lab.unheard_of"),
        ("gemm_lab.__init__", "from gemm_lab_lessons.zoom.zoom import zoom"),
        ("gemm_lab.notebook", "from gemm_lab_lessons.ch04 import wavefront_stepper"),
        ("gemm_lab_lessons.ch04", "from gemm_lab_lessons.ch05 import tile_layout"),
        ("gemm_lab_lessons.shared", "from gemm_lab_lessons.ch05 import tile_layout"),
        ("gemm_lab.notebook", "import gemm_lab.cli"),
        ("gemm_lab.notebook", "from gemm_lab_classroom import grading"),
        ("gemm_lab.cli", "from gemm_lab.notebook.cells import parse_line"),
        ("gemm_lab.cli", "from gemm_lab_classroom.gateway.serve import serve"),
        ("gemm_lab.cli", "def f():\n    from gemm_lab_classroom import grading"),
        ("gemm_lab.cli", "def f():\n    from tools.sync import sync"),
        ("gemm_lab_classroom.grading", "from tools.wrong_answers import answers"),
    ],
)
def test_an_upward_import_is_seen(part, source):
    assert violations(part, source)


@pytest.mark.parametrize(
    ("part", "source"),
    [
        (
            "gpu_simulator.machine",
            "import numpy as np\nfrom gpu_simulator.arithmetic import exact\nfrom . import faults",
        ),
        ("gpu_simulator.compiler", "from gpu_simulator.errors import SimulatorError\nfrom cuda.bindings import nvrtc"),
        (
            "gpu_runner.driver",
            "import cupy\nfrom gpu_simulator.compiler import Compiled\nfrom gpu_runner import support",
        ),
        ("gpu_simulator.compiler", "def f():\n    from llvm_ir_to_ptx import translate"),
        ("gpu_timing.cycles", "import numpy as np\nfrom gpu_timing.machine_code import main_loop\nimport gpu_runner"),
        ("gemm_results.cards", "from gemm_look import card\nfrom gpu_timing.cycles import whole_kernel"),
        (
            "gemm_lab_lessons.ch05",
            "from gemm_lab_lessons.ch04 import shared_accesses\nfrom gemm_lab.notebook import puzzle",
        ),
        ("gemm_lab.lab", "import gpu_simulator, gpu_runner\nfrom gemm_lab import catalog\nfrom .cards import html"),
        ("gemm_lab.__init__", "HOMES = {'here': 'gemm_lab.lab', 'figure': 'gemm_lab.notebook.show'}"),
        (
            "gemm_lab.cli",
            "from gemm_lab import __version__\ndef f():\n    from gemm_lab_classroom.gateway import serve",
        ),
        (
            "gemm_lab_classroom.grading",
            "from gemm_lab.notebook import exercises\nfrom gemm_lab_classroom import skeletons",
        ),
        ("tools.sync", "from gemm_lab_classroom import skeletons\nimport gemm_lab as lab"),
    ],
)
def test_a_downward_import_is_let_through(part, source):
    assert violations(part, source) == []


def test_relative_imports_start_at_the_file():
    assert imported("from . import parser\nfrom ..machine import lanes", "gpu_simulator.ptx") == {
        "gpu_simulator.ptx.parser",
        "gpu_simulator.machine.lanes",
    }


def a_cycle(edges: dict[str, set[str]]) -> list[str]:
    """The nodes of one cycle, in order; empty where there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


@cache
def file_imports() -> dict[str, set[str]]:
    """Which modules of the house each module of it imports."""
    edges = {}
    for name, path in MODULES.items():
        folder = inside(path.parent).as_posix().replace("/", ".")
        edges[name] = (imported(path.read_text(encoding="utf-8"), folder) & set(MODULES)) - {name}
    return edges


def test_no_files_import_each_other_in_a_circle():
    assert " → ".join(a_cycle(file_imports())) == ""


def test_no_parts_import_each_other_in_a_circle():
    edges = {}
    for name, others in file_imports().items():
        if name.split(".")[0] in FLOORS:
            edges.setdefault(part_of(name), set()).update({part_of(other) for other in others} - {part_of(name)})
    assert " → ".join(a_cycle(edges)) == ""


def test_a_cycle_is_seen():
    assert sorted(set(a_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}))) == ["a", "b", "c"]
    assert a_cycle({"a": {"b", "c"}, "b": {"c"}}) == []


AUTHORS = re.compile(r"^\s*(?:from|import)\s+(?:tools|gemm_lab_classroom|tests)\b", re.M)


def test_notebooks_need_what_a_learner_installs():
    books = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert books
    for book in books:
        cells = json.loads(book.read_text(encoding="utf-8"))["cells"]
        assert [c["source"] for c in cells if c["cell_type"] == "code" and AUTHORS.search("".join(c["source"]))] == []
    assert AUTHORS.search("x = 1\nfrom tools.figures import ring") and not AUTHORS.search("import toolsmith")


# ---- The public face ----


def in_a_fresh_interpreter(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_public_names_are_few_and_there():
    code = "import gemm_lab as g; [getattr(g, n) for n in g.__all__]; print(*g.__all__)"
    names = in_a_fresh_interpreter(code).split()
    assert 0 < len(names) <= MAX_PUBLIC_NAMES
    assert [path.name for path in HOUSE_FILES if path.suffix == ".pyi"], "their types are held to the floors too"
    assert len(set(names)) == len(names)
    assert f"has the {len(names)} names" in (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")


def test_names_of_a_course_are_listed_and_without_a_course_the_answer_names_one():
    listed = in_a_fresh_interpreter(
        "import gemm_lab as g; print('zoom' in dir(g), 'zoom' in g.__all__, callable(g.zoom))"
    )
    assert listed == "True False True"
    code = "import gemm_lab as g, gemm_lab.courses as c\nc.courses = tuple\ntry: g.zoom\nexcept AttributeError as no: print(no)"
    said = in_a_fresh_interpreter(code)
    assert "gemm_lab has no “zoom”; it has Kernel" in said and "pip install gemm_lab_lessons" in said


def test_import_needs_little():
    """It loads nothing but itself: what a name needs is loaded when the name is asked for."""
    code = (
        "import sys, warnings, importlib; before = set(sys.modules); import gemm_lab; print(*set(sys.modules) - before)"
    )
    loaded = set(in_a_fresh_interpreter(code).split())
    assert {name for name in loaded if not name.startswith("gemm_lab")} <= {"__future__", "gemm_look"}, (
        "import gemm_lab must not load these"
    )
    assert len(loaded) <= MAX_MODULES


def test_the_page_names_every_part_of_the_house():
    page = (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page[page.index("| package, from the top |") :].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)`", table, re.M)) == PACKAGES[::-1]
    for package in FLOORS:
        there = {part_of(name).split(".")[1] for name in MODULES if name.startswith(f"{package}.")}
        there -= {f"ch{number:02}" for number in range(1, 13)} | {"__init__", "__main__"}  # "`ch00` to `ch13`"
        assert [part for part in there if f"`{part}`" not in page] == [], package
