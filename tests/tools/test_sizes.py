"""The sizes that README.md tells are those of the files."""

import subprocess
import sys
from pathlib import Path

from tools import sizes
from tools.generated_text import number

ROOT = Path(__file__).resolve().parents[2]


def test_a_package_is_as_long_as_its_files():
    counted = sum(path.read_text("utf-8").count("\n") for path in (ROOT / "packages/gpu_runner").rglob("*.py"))
    assert sizes.of("gpu_runner", "Python") == counted
    assert number("gpu_runner lines") == sizes.rounded(counted)


def test_answers_and_tests_are_no_part_of_the_lessons():
    parts = {kind for package, _, kind in sizes.lines() if package == "gemm_lab_lessons"}
    assert parts == {"Python", "JavaScript", "tests"}
    rooms = (ROOT / "packages/gemm_lab_lessons").rglob("*.py")
    apart = {"tests", "solutions", "wrong_answers"}
    code = [path for path in rooms if not apart & {*path.parts} and path.name != "conftest.py"]
    assert sizes.of("gemm_lab_lessons", "Python") == sum(path.read_text("utf-8").count("\n") for path in code)


def test_rounded():
    assert [sizes.rounded(count) for count in (0, 249, 251, 14_113)] == ["0", "0", "500", "14,000"]


def test_it_runs_without_any_package():
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            "import runpy, sys; sys.path.insert(0, '.'); runpy.run_module('tools.sizes', run_name='__main__')",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("gemm_lab ") and "all packages" in done.stdout
