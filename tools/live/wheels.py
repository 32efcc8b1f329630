"""`python -m tools.live.wheels FOLDER` fetches NumPy, ml_dtypes and matplotlib, as Pyodide has released them.

Names, versions and hashes are those of `pyodide-lock.json` in the package of npm, which `tools.live.packages` pins by
its own hash. The files come from where Pyodide's documentation says that its releases lie.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import URLError

from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError
from tools.live.packages import PYODIDE, unpacked

ADDRESS = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE.version}/full/"
WANTED = ("numpy", "ml-dtypes", "matplotlib")


def wanted(lock: dict[str, Any], roots: tuple[str, ...] = WANTED) -> dict[str, str]:
    """{file name: SHA-256} of the packages `roots` of a pyodide-lock.json, and of all that they depend on."""
    found, left = {}, list(roots)
    while left:
        one = lock["packages"][left.pop()]
        if one["file_name"] not in found:
            found[one["file_name"]] = one["sha256"]
            left += one["depends"]
    return dict(sorted(found.items()))


def fetch(files: dict[str, str], folder: Path, address: str = ADDRESS) -> list[str]:
    """Put files into a folder, those that it lacks. Returns the names of those that were fetched.

    Raises `LabError` for one that cannot be had, or that is not the file that the hash names; that one is not kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = []
    for name, digest in files.items():
        path = folder / name
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
            continue
        try:
            with urllib.request.urlopen(address + name) as answer:
                data = answer.read()
        except (URLError, OSError) as error:
            raise LabError(f"{name} cannot be fetched from {address}: {error}.") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise LabError(f"{address}{name} is not the file that Pyodide {PYODIDE.version} names; it was not kept.")
        path.write_bytes(data)
        new.append(name)
    return new


def main(arguments: list[str] | None = None) -> int:
    """Fetch them; exit code 1 and a sentence if one cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m tools.live.wheels", description="Fetch packages of Pyodide.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("build/npm"), help="where packages of npm are kept")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as made:
            unpacked(PYODIDE, Path(made), options.cache)
            lock = json.loads(Path(made, "pyodide-lock.json").read_text(encoding="utf-8"))
        files = wanted(lock)
        new = fetch(files, options.folder)
    except SimulatorError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{options.folder} has {len(files)} packages for Pyodide {PYODIDE.version}; {len(new)} were fetched now.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
