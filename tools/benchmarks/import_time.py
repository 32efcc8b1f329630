"""Measures `import gemm_lab`, with and without loading a first kernel, relative to `import numpy`.

Run it with `python tools/benchmarks/import_time.py`. Each import runs in a fresh interpreter, whose start is included.
"""

import subprocess
import sys

from interleaved import ratios

IMPORTS = {"import gemm_lab": "import gemm_lab", "and a kernel": "import gemm_lab; gemm_lab.kernel('t4/03')"}


def main() -> None:
    """Measure both imports and print the ratios."""

    def fresh(code):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    found = ratios({name: fresh(code) for name, code in IMPORTS.items()}, fresh("import numpy"))
    for name, ratio in found.items():
        print(f"{name:20} {ratio:6.2f}")


if __name__ == "__main__":
    main()
