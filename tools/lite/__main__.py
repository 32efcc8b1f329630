"""`python -m tools.lite build/site/lite --wheels FOLDER` writes JupyterLite with the lab into a folder.

The live page goes into the folder `live` beside it, because both use the same compiler.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gpu_simulator.errors import LabError
from tools.lite.build import build
from tools.live import build as live


def main(arguments: list[str] | None = None) -> int:
    """Build both; exit code 1 and a sentence if something is missing."""
    parser = argparse.ArgumentParser(prog="python -m tools.lite", description="Write JupyterLite into a folder.")
    parser.add_argument("into", type=Path)
    parser.add_argument("--wheels", type=Path, default=None, help="folder with NumPy and ml_dtypes for Pyodide")
    parser.add_argument("--cache", type=Path, default=Path("build/npm"), help="where fetched packages are kept")
    options = parser.parse_args(arguments)
    beside = options.into.resolve().with_name("live")
    try:
        live.build(beside, options.wheels, options.cache)
        sizes = build(options.into, beside, options.wheels, options.cache)
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    print(*(f"{name}: {size / 1e6:.1f} MB" for name, size in sizes.items()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
