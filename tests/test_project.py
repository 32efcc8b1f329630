"""The project's own files agree with each other: packaging, environment, Makefile, README, container, CI."""

import json
import os
import re
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import nbformat
import pytest
import yaml

import gpu_simulator
from tools import run_notebooks as run
from tools.install import PRODUCTS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
USERS_LIST = {"jupyterlab", "cupy", "numpy", "matplotlib", "ipywidgets", "torch"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def distribution(requirement: str) -> str:
    """The name in a requirement, spelt one way; every CUDA build of CuPy counts as cupy."""
    name = re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")
    return "cupy" if name.startswith("cupy-cuda") else name


def extra(name: str) -> set[str]:
    return {distribution(requirement) for requirement in PROJECT["optional-dependencies"][name]}


CORE = {distribution(requirement) for requirement in PROJECT["dependencies"]}


# ---- pyproject.toml ----


def test_extras():
    assert set(PROJECT["optional-dependencies"]) == {
        "clang",
        "classroom",
        "course",
        "cuda12",
        "cuda13",
        "cutlass",
        "lab",
        "site",
        "torch",
        "test",
    }
    assert not CORE & {"torch", "cupy", "nvidia-ml-py"}, "a machine with no GPU needs none of these"
    assert not CORE & {"jupyterlab", "nbclient", "notebook"}, "Colab and Kaggle have a notebook server of their own"
    assert extra("classroom") <= extra("test"), "the tests run a server"
    for major in ("12", "13"):
        assert {"cupy", "nvidia-ml-py"} <= extra(f"cuda{major}")
        pinned = [r for r in PROJECT["optional-dependencies"][f"cuda{major}"] if r.startswith("cuda-")]
        assert len(pinned) == 2 and all(f"=={major}.*" in requirement for requirement in pinned)


def test_colabs_own_packages_are_new_enough():
    """An installation there must not replace what its running kernel has loaded: IPython 7.34, ipywidgets 7.7.1."""
    floors = {distribution(r): r.partition(">=")[2] for r in PROJECT["dependencies"] if ">=" in r}
    for name, has in (("ipython", (7, 34)), ("ipywidgets", (7, 7))):
        assert tuple(map(int, floors[name].split("."))) <= has


def test_the_constraint_is_one_exact_torch_that_the_extra_allows():
    assert re.fullmatch(r"torch==2\.\d+\.\d+\n", read("locks/constraints.txt"))
    oldest = PROJECT["optional-dependencies"]["torch"][0].removeprefix("torch>=")
    exact = read("locks/constraints.txt").strip().removeprefix("torch==")
    assert tuple(map(int, exact.split("."))) >= tuple(map(int, oldest.split(".")))


def test_console_script_is_installed_and_loads():
    (script,) = metadata.entry_points(group="console_scripts", name="gemm-lab")
    assert script.value == PROJECT["scripts"]["gemm-lab"] == "gemm_lab.cli:main"
    assert callable(script.load())


# ---- environment.yml ----


def test_environment_agrees_with_pyproject():
    environment = yaml.safe_load(read("environment.yml"))
    assert environment["name"] == "gemm-lab"
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    plain = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    assert {re.match(r"\w+", entry)[0] for entry in plain} == {"python", "pip"}

    *products, package = [entry for entry in pip if entry.startswith("-e")]
    assert products == [f"-e ./{folder}" for folder in PRODUCTS]
    chosen = re.fullmatch(r"-e \.\[([\w,]+)\]", package)[1].split(",")
    assert set(chosen) == {"lab", "cuda13", "torch", "test"}
    offered = CORE.union(*map(extra, chosen))
    listed = {distribution(entry) for entry in pip if not entry.startswith("-e")}
    assert listed <= offered, "listed in environment.yml, but no dependency in pyproject.toml"
    assert listed >= USERS_LIST


# ---- Makefile, README, CI ----


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", read("Makefile"), re.M))


def test_make_has_the_targets_that_the_documents_name():
    assert targets() >= {"help", "lab", "test", "test-all", "run", "course", "record", "update", "clean"}
    phony = set(re.search(r"^\.PHONY: (.*)$", read("Makefile"), re.M)[1].split())
    assert phony == targets()
    for document in ("README.md", "docs/CONTRIBUTING.md", "docs/CLASSROOM.md"):
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", read(document), re.M))
        assert named and named <= targets(), document
    assert re.search(r"^make lab$", read("README.md"), re.M)
    assert re.search(r"^make test$", read("README.md"), re.M)


PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob(".github/*.md")]
)
PAGES.remove("CHANGELOG.md")
BUILD = ["Makefile", "Dockerfile", ".devcontainer/devcontainer.json", ".pre-commit-config.yaml", "pyproject.toml"]
WORKFLOWS = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / ".github").rglob("*.yml"))]
OF_PACKAGES = (
    r"gemm_lab_lessons|gemm_lab_classroom|gemm_results|gemm_look|gpu_simulator|gpu_runner|gpu_timing|llvm_ir_to_ptx"
)
TOP = rf"{OF_PACKAGES}|gemm_lab|packages|tools|tests|kernels|notebooks|images|results|benchmarks|docs|locks"
# A path from the root of the repository; one with a placeholder (NN_name, <gpu>, *) is none.
PATH = re.compile(rf"(?<![\w./-])(?:{TOP})/[\w./-]*\w(?![\w<*…]|/<)")
MODULE = re.compile(rf"(?<=-m )(?:{TOP})(?:\.\w+)*")
# What only a wheel has, and what the recipes of CONTRIBUTING.md make.
RECIPES = r"08_wide_stores|test_vabsdiff|lane_quads"
NOT_YET = re.compile(rf"gemm_lab/data|{RECIPES}|NN_name|NAME")


def missing(text: str) -> list[str]:
    """The paths and the modules of this project that a text names and that are not there."""
    paths = [name for name in PATH.findall(text) if not NOT_YET.search(name) and not (ROOT / name).exists()]
    modules = [name.replace(".", "/") for name in MODULE.findall(text)]
    places = [(name, top / name) for name in modules for top in (ROOT, ROOT / "packages")]
    there = {name for name, path in places if path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()}
    return paths + [name for name in modules if name not in there]


@pytest.mark.parametrize("name", [*PAGES, *BUILD, *WORKFLOWS])
def test_the_paths_and_modules_that_a_file_names_are_there(name):
    assert missing(read(name)) == []


def test_what_the_recipes_make_is_not_there_so_whoever_follows_one_overwrites_nothing():
    guide = read("docs/CONTRIBUTING.md")
    made = {name for name in PATH.findall(guide) if re.search(RECIPES, name)}
    assert {one for name in made for one in re.findall(RECIPES, name)} == set(RECIPES.split("|"))
    assert [name for name in made if (ROOT / name).exists()] == []
    opcodes = re.findall(r'@op\("(\w+)"', guide)
    assert opcodes and not set(opcodes) & set(gpu_simulator.supported())


def test_a_path_of_another_house_is_missed():
    text = "see `gemm_lab/simulator/ops.py`, `tests/nothing` and `python -m gemm_lab.notebook.sync --check`"
    assert missing(text) == ["gemm_lab/simulator/ops.py", "tests/nothing", "gemm_lab/notebook/sync"]
    assert missing("`notebooks/NN_name.ipynb`, `results/measured/<gpu>.csv`, python -m tools.figures") == []


def test_ci_runs_the_readmes_test_command_in_an_environment_of_its_own():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in read(".ci/run")
    environment = re.search(r"^make test VENV=(\S+)$", read(".ci/run"), re.M)[1]
    assert environment.startswith("build/") and f"rm -rf {environment}" in read(".ci/run")


def make(*arguments: str) -> subprocess.CompletedProcess:
    ours = ("MAKE", "MFLAGS", "TORCH", "EXTRA", "VENV", "LOCKED")  # what `make test TORCH=0` hands on
    environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return subprocess.run(["make", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)


def test_the_terminals_of_make_lab_find_gemm_lab(tmp_path):
    """The recipe with a Python that only tells what it gets; no login shell, which would set the PATH anew."""
    environment = tmp_path / "an environment"
    (environment / "bin").mkdir(parents=True)
    told = environment / "bin" / "python"
    told.write_text('#!/bin/sh\necho "$PATH"\nprintf "%s\\n" "$@"\n')
    told.chmod(0o755)
    recipe = make("-n", "lab", "BROWSER=0", f"VENV={environment}").stdout.partition("PATH=")
    assert "jupyterlab" in recipe[2]
    shell = {"PATH": os.environ["PATH"], "SHELL": "/bin/bash"}
    done = subprocess.run(["sh", "-c", "".join(recipe[1:])], cwd=ROOT, env=shell, capture_output=True, text=True)
    path, *words = done.stdout.splitlines()
    assert path.split(os.pathsep)[0] == str(environment / "bin")
    assert words[:2] == ["-m", "jupyterlab"] and "--ServerApp.terminado_settings=shell_command=/bin/bash" in words


def test_a_missing_python_is_a_sentence(tmp_path):
    done = make("lab", "PYTHON=python-that-is-not-here", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "There is no 'python-that-is-not-here' here; install Python 3.10 or newer" in done.stderr
    assert not (tmp_path / "venv" / ".stamp-made").exists()


def test_an_environment_that_was_interrupted_before_it_had_pip_is_completed(tmp_path):
    environment = tmp_path / "an environment"
    venv.create(environment)
    done = make(f"PYTHON={sys.executable}", f"VENV={environment}", str(environment / ".stamp-made"))
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr
    assert subprocess.run([environment / "bin/python", "-m", "pip", "--version"], capture_output=True).returncode == 0


def test_a_folder_that_takes_no_environment_is_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    done = make(f"PYTHON={sys.executable}", f"VENV={tmp_path / 'file'}", f"{tmp_path / 'file'}/.stamp-made")
    assert done.returncode != 0 and "make VENV=FOLDER ... takes another folder" in done.stderr


def test_an_empty_name_of_the_environment_is_the_usual_one():
    assert '".venv/bin/python" -m jupyterlab' in make("-n", "lab", "VENV=").stdout


@pytest.mark.parametrize(
    ("variables", "extras"),
    [
        (["EXTRA="], None),
        (["EXTRA=", "TORCH=1"], "torch"),
        (["EXTRA=cuda12"], "cuda12"),
        (["EXTRA=cuda13"], "cuda13,torch"),
        (["EXTRA=cuda13", "TORCH=0"], "cuda13"),
    ],
)
def test_lab_installs_the_extra_for_the_driver(variables, extras, tmp_path):
    plan = make("-n", "lab", "LOCKED=0", f"VENV={tmp_path}", *variables).stdout
    (install,) = re.findall(
        "".join(f"--editable ./{folder} " for folder in PRODUCTS) + "--editable (.*)",
        plan,
    )
    assert install.strip('"') == (f".[lab,{extras}]" if extras else ".[lab]")
    assert "locks/" not in plan


@pytest.mark.parametrize(
    ("target", "variables", "torch", "locks"),
    [
        ("lab", ["EXTRA="], False, "lab"),
        ("lab", ["EXTRA=", "TORCH=1"], True, "lab"),
        ("lab", ["EXTRA=cuda12"], False, "cuda12"),
        ("lab", ["EXTRA=cuda13"], True, "cuda13"),
        ("lab", ["EXTRA=cuda13", "TORCH=0"], False, "cuda13"),
        ("lab", ["EXTRA=cuda13,cutlass"], False, "cuda13 cutlass"),
        ("test", ["EXTRA=", "TORCH="], True, "lab test"),
        ("test", ["EXTRA=", "TORCH=0"], False, "lab test"),
        ("test", ["EXTRA=cuda12", "TORCH="], False, "cuda12 test"),
        ("test", ["EXTRA=cuda13", "TORCH="], True, "cuda13 test"),
        ("course", ["EXTRA=cuda13"], False, "lab course"),
        ("site", ["EXTRA=cuda13"], False, "lab site"),
    ],
)
def test_packages_come_from_the_locks_and_our_folder_alone(target, variables, torch, locks, tmp_path):
    plan = make("-n", target, f"VENV={tmp_path}", *variables).stdout
    (arguments,) = re.findall(r"tools/install\.py (.*)", plan)
    assert arguments.split() == [*locks.split(), *["--torch"] * torch] and "-m pip" not in plan
    assert all((ROOT / f"locks/{name}.txt").is_file() for name in locks.split())


def test_tests_take_torch_by_version_before_the_package(tmp_path):
    plan = make("-n", "test", "EXTRA=", "TORCH=", "LOCKED=0", f"VENV={tmp_path}").stdout
    assert plan.index("--requirement locks/constraints.txt") < plan.index(
        "--constraint locks/constraints.txt --editable"
    )
    assert "--requirement" not in make("-n", "test", "EXTRA=", "TORCH=0", "LOCKED=0", f"VENV={tmp_path}").stdout


# ---- The container ----


def test_devcontainer_and_dockerfile_agree():
    devcontainer = json.loads(read(".devcontainer/devcontainer.json"))
    build = devcontainer["build"]
    dockerfile = (ROOT / ".devcontainer" / build["dockerfile"]).resolve()
    assert dockerfile == ROOT / "Dockerfile"
    assert (ROOT / ".devcontainer" / build["context"]).resolve() == ROOT
    user = re.search(r"^USER (\w+)$", read("Dockerfile"), re.M)[1]
    assert user != "root" and devcontainer["remoteUser"] == user
    assert f"useradd --create-home --uid 1000 {user}" in read("Dockerfile")
    assert re.search(r"^FROM python:3\.\d+\.\d+-slim-bookworm@sha256:[0-9a-f]{64}$", read("Dockerfile"), re.M)
    for page in ("Dockerfile", "README.md"):  # a notebook server is a shell: it listens to this machine alone
        assert "-p 127.0.0.1:8888:8888" in read(page) and "-p 8888" not in read(page)
    named = re.findall(r"notebooks/(\w+\.ipynb)", read("Dockerfile") + read("Makefile"))
    assert set(named) == {"00_start_here.ipynb"}
    assert (ROOT / "notebooks" / "00_start_here.ipynb").is_file()


# ---- make run ----


def notebook(path: Path, *sources: str) -> Path:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_run_reports_the_cell_and_keeps_the_copy(tmp_path, capsys):
    good = notebook(tmp_path / "good.ipynb", "6 * 7", "", "print('done')")
    bad = notebook(tmp_path / "bad.ipynb", "x = 0", "", "y = 1\n1 / x", "print('never')")
    assert run.main([str(good), str(bad), "--into", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().out
    assert "bad.ipynb, cell [2] `y = 1`: ZeroDivisionError: division by zero" in said
    assert "1 of 2 notebooks ran to the end" in said
    copy = nbformat.read(tmp_path / "out" / "good.ipynb", as_version=4)
    assert copy.cells[0].outputs[0]["data"]["text/plain"] == "42"
    assert nbformat.read(tmp_path / "out" / "bad.ipynb", as_version=4).cells[3].outputs == []
    assert nbformat.read(bad, as_version=4).cells[2].outputs == [], "the original stays as it was"


def test_run_stops_a_notebook_at_its_limit(tmp_path):
    endless = notebook(tmp_path / "endless.ipynb", "import time\nwhile True: time.sleep(1)")
    failure = run.execute(endless, tmp_path / "out.ipynb", limit_s=3)
    assert failure.cell == 1 and "limit of 3 s" in failure.error


def test_run_refuses_a_notebook_that_is_not_there(tmp_path, capsys):
    assert run.main([str(tmp_path / "nothing.ipynb")]) == 2
    assert "There is no notebook" in capsys.readouterr().err
