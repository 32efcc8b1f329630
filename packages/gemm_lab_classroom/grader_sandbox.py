"""Confines the process that grades an answer to the lab, Python, the compiler and a folder of its own.

The text of an answer is checked before it is compiled, and the code that the simulator generates from it is checked
token by token. The confinement limits the damage if both checks fail: on systems that can confine a process
(`compiler.sandbox`), it cannot open the solutions, other submissions or the grader's files, and cannot connect to
anything.
"""

from __future__ import annotations

import os
import site
import sys
from functools import lru_cache
from pathlib import Path

from gemm_lab.config import PACKAGE, data_dir
from gemm_lab.courses import rooms
from gpu_simulator.compiler import compiler_process, sandbox

# Libraries and programs of the system, and other files that the C library, Python and reading a process's time need.
_SYSTEM = (
    "/usr",
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/nix",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/alternatives",
)
CLASSROOM = Path(__file__).resolve().parent
# Where Python finds the packages: one folder, or in a checkout its root and packages/.
HOMES = tuple(dict.fromkeys([PACKAGE.parent, CLASSROOM.parent]))
# The packages that lie in one folder with this one.
BESIDE = (
    "gemm_lab_classroom",
    "gemm_look",
    "gemm_results",
    "gpu_runner",
    "gpu_simulator",
    "gpu_timing",
    "llvm_ir_to_ptx",
)
_SOLVED = {"solutions", "wrong_answers", "tests"}  # folders of a room that a grader's process does not open
_READ = ("/proc", "/sys/devices/system/cpu", "/dev/urandom", "/dev/zero")


@lru_cache(maxsize=1)
def tell_if_unconfined() -> None:
    """Say, once in a process, that nothing confines the processes that grade, and what would."""
    able, why = sandbox.available()
    if not able:
        print(
            f"Answers are graded without a sandbox, because {why}. If an answer deceived the checks of its text, it "
            "could read the files of whoever grades. Grade on Linux 5.13 or newer, where `pip install landlockpy` "
            "brings the sandbox.",
            file=sys.stderr,
        )


def confine_grader(folder: Path) -> bool:
    """Permanently give up access to everything else. Returns whether the system can do that.

    folder: the only folder that may be written to. The compiler's process, which is started from this one, may read
    only the headers.
    """
    compiler_process.COMPILER.readable = ()
    python = {
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        str(Path(sys.executable).resolve().parent.parent),
        os.environ.get("CUDA_HOME", "/usr/local/cuda"),
        *site.getsitepackages(),
        *filter(None, sys.path),
    }
    notebooks = data_dir("notebooks")
    if PACKAGE not in notebooks.parents:  # in a checkout, they contain the solutions
        python -= set(map(str, HOMES))
    execute = [Path(path) for path in (*_SYSTEM, *python)]
    packages = [PACKAGE, *(CLASSROOM.parent / name for name in BESIDE)]
    # Of the lessons everything but the solutions.
    lessons = [part for room in rooms() for part in room.folder.iterdir() if part.name not in _SOLVED]
    tops = {part for room in rooms() for part in room.folder.parent.glob("*.py")}
    lab = [*packages, *tops, *lessons, data_dir("kernels"), *notebooks.glob("*.ipynb")]
    # Python looks for the packages in the folder around them.
    return sandbox.confine([*map(Path, _READ), *lab], execute, [folder, Path("/dev/null")], names=HOMES)
