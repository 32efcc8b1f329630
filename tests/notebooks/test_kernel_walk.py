"""How many files of the house a reader meets who follows one `%%kernel` cell on a machine without a GPU."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A function that is called enters its file. What only runs while a module is imported does not count.
WALK = """
import sys, threading
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

shell, entered = InteractiveShell.instance(), set()
shell.run_cell("%load_ext gemm_lab")

def note(frame, event, argument):
    if event == "call" and frame.f_code.co_name != "<module>":
        entered.add(frame.f_code.co_filename)

threading.setprofile(note)
sys.setprofile(note)
done = shell.run_cell(sys.argv[1])
sys.setprofile(None)
print(*entered, sep="\\n", file=Path(sys.argv[2]).open("w"))
sys.exit(not done.success)
"""


def entered(cell: str, folder: Path) -> Counter:
    """{package: how many of its files a cell enters} in a new process, with nothing compiled before."""
    folders = {name: str(folder) for name in ("HOME", "IPYTHONDIR", "GEMM_LAB_CACHE")}
    env = {
        **os.environ,
        **folders,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'packages'}",
        "GEMM_LAB_BACKEND": "simulator",
    }
    listed = folder / "entered.txt"
    done = subprocess.run(
        [sys.executable, "-c", WALK, cell, str(listed)], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr
    files = [Path(line) for line in listed.read_text(encoding="utf-8").splitlines()]
    inside = [path.relative_to(ROOT) for path in files if path.is_relative_to(ROOT)]
    return Counter(path.parts[path.parts[0] == "packages"] for path in inside)


SOURCE = (ROOT / "kernels/t4/03_swizzled.cu").read_text(encoding="utf-8")
REGION = SOURCE.partition("// region: layout\n")[2].partition("// end region")[0].rstrip(" ")


@pytest.mark.parametrize(
    ("line", "text", "most"),
    [  # a region's card also shows the rest of the kernel, without what later exercises ask for
        ("t4/03_swizzled --as mine", SOURCE, 18),
        ("t4/03_swizzled --region layout --as mine", REGION, 21),
    ],
    ids=["whole", "region"],
)
def test_a_cell_enters_few_files(line, text, most, tmp_path):
    files = entered(f"%%kernel {line} -n 256\n{text}", tmp_path)
    assert 10 < files["gemm_lab"] <= most and files["gpu_simulator"] > 10, files
    assert files["gpu_runner"] == 0, "without a GPU nothing of it is needed"
