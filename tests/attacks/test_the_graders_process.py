"""What the process that judges an answer can reach when everything before it has failed: nothing that is worth it."""

import subprocess
import sys

import pytest

from gemm_lab.config import PACKAGE, data_dir
from gemm_lab.notebook.exercises import exercises
from gemm_lab_classroom import grading
from gemm_lab_classroom.grader_sandbox import HOMES
from gemm_lab_classroom.grading import grade
from gemm_lab_classroom.skeletons import solution
from gpu_simulator.compiler import sandbox

pytestmark = pytest.mark.skipif(not sandbox.available()[0], reason=sandbox.available()[1])
START = "import sys; sys.path[:0] = sys.argv[1:]\nfrom pathlib import Path\nfrom gemm_lab_classroom.grader_sandbox import confine_grader\n"

ROOM = exercises()["06_swizzle"].room.folder


def run(program, folder):
    command = [sys.executable, "-I", "-c", START + program, *map(str, HOMES)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_it_opens_neither_the_solutions_nor_the_files_of_whoever_grades(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "submitted.ipynb").write_text("{}")
    closed = ["/etc/passwd", "/etc/hostname", str(tmp_path / "submitted.ipynb")]
    if PACKAGE not in data_dir("notebooks").parents:
        closed += [str(path) for name in ("solutions", "wrong_answers") for path in sorted((ROOM / name).iterdir())[:3]]
    opened = [str(ROOM / "exercises.toml"), str(data_dir("kernels") / "t4" / "ladder.toml")]
    done = run(
        f"""
assert confine_grader(Path.cwd())
for path in {closed + opened!r}:
    try:
        open(path).close()
        print(path)
    except PermissionError:
        pass
Path("mine").write_text("x")
try:
    Path({str(tmp_path)!r}, "x").write_text("x")
    print("written")
except PermissionError:
    pass
""",
        tmp_path / "work",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == opened and (tmp_path / "work" / "mine").exists()


@pytest.mark.long
def test_a_compiler_that_crashed_can_be_started_again_inside_the_wall(tmp_path):
    done = run(
        """
assert confine_grader(Path.cwd())
import os, signal
os.environ["GEMM_LAB_CACHE"] = str(Path.cwd())
from gemm_lab import compiling
from gpu_simulator import compiler
from gpu_simulator.compiler.compiler_process import COMPILER
TEXT = 'extern "C" __global__ void __launch_bounds__(32) gemm(int* d) { *d = %d; }'
compiling.compile(TEXT % 1, arch="sm_75")
os.kill(COMPILER._process.pid, signal.SIGKILL)
COMPILER._process.wait()
print(len(compiler.disassemble(compiling.compile(TEXT % 2, arch="sm_75"))) > 3)
try:
    compiling.compile('#include "/etc/hostname"', arch="sm_75")
except compiler.CompileError as error:
    print("cannot open" in str(error))
""",
        tmp_path,
    )
    assert done.stdout.split() == ["True", "True"], done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "path",
    [
        ROOM / "solutions" / "06_swizzle.cu",
        "../../packages/gemm_lab_lessons/ch06/solutions/06_swizzle.cu",
        "../t4/03_swizzled.cu",
        "/etc/hostname",
    ],
    ids=["solution", "relative", "kernel", "machine"],
)
def test_with_every_rule_for_the_text_taken_away_no_file_comes_in(path, monkeypatch):
    """The second wall alone: the rules of `answer_text` are switched off in the grader's process."""
    off = (
        "import sys; sys.path[:0] = sys.argv[1:]; import gemm_lab_classroom.judge.strict_rules as judge; "
        "judge.refusals = lambda *_: []; from gemm_lab_classroom.grading import child; child()"
    )
    monkeypatch.setattr(grading, "_CHILD", off)
    right = solution("06_swizzle")
    assert grade("06_swizzle", right, seed=1).passed
    found = grade("06_swizzle", f'#include "{path}"\n', seed=1)
    assert found.verdict == "FAIL" and "cannot open source file" in found.message
    with open("/etc/hostname") as file:
        assert file.read().strip() not in found.message
