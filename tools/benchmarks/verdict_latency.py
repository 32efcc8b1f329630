"""Measures how long a `%%kernel` cell takes until its verdict, relative to the time for compiling the kernel alone.

Run it with `python tools/benchmarks/verdict_latency.py`. Each edit is a new text, so nothing comes from the cache. It
prints a ratio for a line that does not compile, one for a wrong result on the simulator, and one for a right result.
"""

import contextlib
import itertools
import os
import tempfile

from interleaved import ratios

import gemm_lab as lab
from gemm_lab import catalog, compiling
from gemm_lab.notebook.cells import WrongResult, run_cell
from gpu_simulator.compiler import CompileError

LINE = "t4/03_swizzled --region layout --as mine"
NUMBER = itertools.count()


def verdict(text: str):
    """Run a cell with this text, and with a new number in a comment each time."""
    with contextlib.suppress(CompileError, WrongResult):
        run_cell(LINE, f"{text}  // {next(NUMBER)}", {})


def main() -> None:
    """Measure the three cases and print the ratios."""
    os.environ["GEMM_LAB_BACKEND"] = "simulator"
    spec = catalog.kernel("t4/03")
    right = lab.kernel("t4/03").regions["layout"]

    def compile_alone():
        compiling.compile(f"{spec.source}// {next(NUMBER)}\n", config=spec.configure(), arch="sm_75", name=spec.name)

    works = {
        "does not compile": lambda: verdict(right.replace("row % 8", "rwo % 8", 1)),
        "wrong result": lambda: verdict(right.replace("(chunk ^ row % 8)", "chunk")),
        "right": lambda: verdict(right),
    }
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GEMM_LAB_CACHE"] = folder
        for name, ratio in ratios(works, compile_alone).items():
            print(f"{name:20} {ratio:6.2f}")


if __name__ == "__main__":
    main()
