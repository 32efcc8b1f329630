"""The types of the public interfaces: right uses pass, and each wrong one is refused at its line."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gemm_lab

pytest.importorskip("mypy", reason="mypy is not installed")
ROOT = Path(__file__).resolve().parents[2]


def complaints(name: str) -> tuple[set[int], str]:
    """The lines of tests/typing/`name` about which mypy complains, and its words."""
    command = [sys.executable, "-m", "mypy", f"tests/typing/{name}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {int(line) for line in re.findall(rf"{name}:(\d+): error", done.stdout)}, done.stdout


def test_right_uses_are_accepted():
    assert complaints("accepted.py")[0] == set(), complaints("accepted.py")[1]


def test_each_wrong_use_is_refused_and_nothing_else():
    text = (ROOT / "tests/typing/rejected.py").read_text(encoding="utf-8")
    marked = {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# wrong")}
    found, said = complaints("rejected.py")
    assert len(marked) > 10 and found == marked, said


def test_the_types_name_what_the_package_has():
    stub = ast.parse((ROOT / "gemm_lab/__init__.pyi").read_text(encoding="utf-8"))
    named = [ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign)]
    assert named == [gemm_lab.__all__]
    homes = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module.startswith("g")
        for alias in node.names
    }
    assert homes == gemm_lab._HOMES


@pytest.mark.parametrize("package", ["gemm_lab", "packages/gpu_simulator"])
def test_type_checkers_of_users_read_the_types(package):
    assert (ROOT / package / "py.typed").is_file()
