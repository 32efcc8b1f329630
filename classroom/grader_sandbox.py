"""What the process that judges an answer may reach: the lab, Python, the compiler, and a folder of its own.

A text is read before it is compiled, and code that the emulator generates from it is checked token by token; this
limits the damage if both fail. Where the system can confine a process (`compiler.sandbox`), the solutions, the
submissions of others and the files of whoever grades cannot be opened, and nothing can be connected to.
"""

from __future__ import annotations

import os
import site
import sys
from pathlib import Path

from gemm_lab.config import PACKAGE, data_dir
from gpu_simulator.compiler import compiler_process, sandbox

# Libraries and programs of the system; what the C library, Python and a look at a process's time need of it.
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
_READ = ("/proc", "/sys/devices/system/cpu", "/dev/urandom", "/dev/zero")


def confine_grader(folder: Path) -> bool:
    """Give up everything else, for good; False where the system cannot do that.

    folder: the only one that may be written to. The compiler's process, which is started from here, may read nothing
    but the headers.
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
    if PACKAGE not in notebooks.parents:  # a checkout: the folder around the package holds the solutions
        python -= {str(PACKAGE.parent)}
    execute = [Path(path) for path in (*_SYSTEM, *python)]
    packages = [PACKAGE.parent / name for name in ("gemm_lab", "gpu_simulator", "gpu_runner", "classroom")]
    lab = [*packages, data_dir("kernels"), notebooks / "exercises.toml", *notebooks.glob("*.ipynb")]
    # Python looks for the packages in the folder around them.
    return sandbox.confine([*map(Path, _READ), *lab], execute, [folder, Path("/dev/null")], names=[PACKAGE.parent])
