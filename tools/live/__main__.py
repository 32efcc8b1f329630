"""`python -m tools.live build/site/live --wheels FOLDER` writes the live page into a folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from gpu_simulator.errors import SimulatorError
from tools.live.build import build


def main(
    arguments: list[str] | None = None,
    module: str = "tools.live",
    what: str = "the live page",
    build: Callable[[Path, Path | None, Path], dict[str, int]] = build,
) -> int:
    """Build the page, or `what` another module builds; exit code 1 and a sentence if something is missing."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=f"Write {what} into a folder.")
    parser.add_argument("into", type=Path)
    parser.add_argument("--wheels", type=Path, default=None, help="folder with NumPy and ml_dtypes for Pyodide")
    parser.add_argument("--cache", type=Path, default=Path("build/npm"), help="where packages of npm are kept")
    options = parser.parse_args(arguments)
    try:
        sizes = build(options.into, options.wheels, options.cache)
    except SimulatorError as error:
        print(error, file=sys.stderr)
        return 1
    print(*(f"{name}: {size / 1e6:.1f} MB to load" for name, size in sizes.items()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
