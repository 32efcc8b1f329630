"""A machine without a GPU runs a cell without `gpu_runner`, and is asked once whether it has one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

WALK = """
import sys
from gemm_lab.lab import kernel
from gemm_lab.notebook import cells
from gpu_simulator.hardware import presence

asked = []
def told(frame, event, argument):
    if event == "call" and frame.f_code is presence.why_none.__code__:
        asked.append(1)

text = kernel("t4/03_swizzled").regions["layout"]
sys.setprofile(told)
shown = cells.run_cell("t4/03_swizzled --region layout -n 256", text, {})
cells._bundle(shown, "t4/03_swizzled --region layout -n 256")
sys.setprofile(None)
print(shown.passed, len(asked), *(name for name in sys.modules if name.partition(".")[0] == "gpu_runner"))
"""


def walked(**variables: str) -> subprocess.CompletedProcess:
    """The walk of one `%%kernel` cell in a fresh interpreter, with these environment variables."""
    environment = {name: value for name, value in os.environ.items() if name != "GEMM_LAB_SERVER"}
    return subprocess.run(
        [sys.executable, "-c", WALK], cwd=ROOT, capture_output=True, text=True, env=environment | variables
    )


def test_a_cell_enters_no_module_of_the_gpu_and_asks_once_whether_there_is_one():
    done = walked(CUDA_VISIBLE_DEVICES="")
    assert done.stdout.split() == ["True", "1"], done.stdout + done.stderr


@pytest.mark.parametrize(
    "variable, says", [("GEMM_LAB_SERVER", "127.0.0.1:9"), ("GEMM_LAB_SCHEDULER", "no longer used")]
)
def test_a_server_that_is_named_is_asked(variable, says):
    """What spares a machine without a GPU the question must not hide a server from it."""
    done = walked(CUDA_VISIBLE_DEVICES="", **{variable: "http://127.0.0.1:9"})
    assert done.returncode != 0 and "gpu_runner" in done.stderr and says in done.stderr
