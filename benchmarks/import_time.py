"""How many times as long as `import numpy` an `import gemm_lab` takes, and one with the first kernel loaded.

Run it with `python benchmarks/import_time.py`. Each import has a fresh interpreter, whose start is part of its time.
"""

import subprocess
import sys

from interleaved import ratios

IMPORTS = {"import gemm_lab": "import gemm_lab", "and a kernel": "import gemm_lab; gemm_lab.kernel('t4/03')"}


def main() -> None:
    """Measure and print."""

    def fresh(code):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    found = ratios({name: fresh(code) for name, code in IMPORTS.items()}, fresh("import numpy"))
    for name, ratio in found.items():
        print(f"{name:20} {ratio:6.2f}")


if __name__ == "__main__":
    main()
