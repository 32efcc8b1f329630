"""Installs locked packages and this folder into the environment of the Python that runs it.

`make lab` and `make test` use it. `python tools/install.py lab test --torch` takes locks/lab.txt, locks/test.txt, and
the torch of locks/constraints.txt with what it needs. The locks are complete (tests/test_locks.py), so pip is told to
install exactly their files and to resolve nothing: what it would choose depends on its version, and on what was
released since. This file runs before any package is there, so it needs the standard library alone.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import deque
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = [sys.executable, "-m", "pip", "install", "--no-deps", "--disable-pip-version-check", "--progress-bar=off"]
# Folders of this checkout that have a pyproject.toml of their own.
PRODUCTS = ("packages/gpu_simulator", "packages/gemm_lab_lessons", "packages/gemm_lab_classroom")
PINNED = re.compile(r"^[\w.-]+==", re.M)
TAKEN_UP = re.compile(r"(?:Collecting|Requirement already satisfied:|Processing) (?:\S*/)?([\w.]+)")
OF_OTHER_MACHINES = re.compile(r"Ignoring \S+: markers ")
LINES_OF_A_FAILURE, STEPS_IN_A_LOG = 20, 25
# What pip says when it fails, and what helps then.
REMEDIES = {
    "DO NOT MATCH THE HASHES": "A file is another one than locks/ names, so it was not installed. Try again; if it "
    "stays so, ask who changed it: `git diff locks`, or whoever runs your index of packages.",
    "Retrying (": "It needs a network.",
    "No matching distribution": "It needs a network. If it has one, LOCKED=0 behind the make command takes the "
    "versions that fit this machine.",
}


def locks_of(names: list[str], torch: bool) -> list[Path]:
    """The files of the locks `names` and of the installed torch; CUDA's libraries only if its build needs them."""
    if torch:
        needs_cuda = any("nvidia" in line and "extra" not in line for line in distribution("torch").requires or ())
        names = [*names, "torch", *["torch_cuda"] * needs_cuda]
    return [ROOT / "locks" / f"{name}.txt" for name in names]


def pip(what: str, arguments: list[str], count: int = 1) -> None:
    """Run `pip install` and show how many of `count` packages it has taken up.

    Raises `SystemExit` with a sentence if pip fails.
    """
    print(f"{what} ...", flush=True)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        PIP + arguments,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    last, done, live = deque(maxlen=LINES_OF_A_FAILURE), 0, sys.stdout.isatty()
    for line in process.stdout:
        if OF_OTHER_MACHINES.match(line):
            continue
        last.append(line.rstrip())
        found = TAKEN_UP.match(line.strip())
        done += bool(found)
        if live and found:
            print(f"\r  {done} of {count}: {found[1]}".ljust(72), end="", flush=True)
        elif found and count > 1 and done % STEPS_IN_A_LOG == 0:
            print(f"  {done} of {count}", flush=True)
    if live:
        print("\r".ljust(72), end="\r", flush=True)
    if process.wait():
        print("\n".join(last), file=sys.stderr)
        remedy = next((helps for says, helps in REMEDIES.items() if any(says in line for line in last)), "")
        raise SystemExit(f"{what[0].upper()}{what[1:]} failed; pip's reason stands above. {remedy}".rstrip())


def main() -> None:
    """Parse the command line and install."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("locks", nargs="+", help="names of files in locks/, such as lab test")
    parser.add_argument("--torch", action="store_true", help="also the torch of locks/constraints.txt")
    parser.add_argument("--packages-alone", action="store_true", help="without this folder: the container has it later")
    options = parser.parse_args()
    if options.torch:
        pip("installing torch, a large download", ["--requirement", "locks/constraints.txt"])
    files = locks_of(options.locks, options.torch)
    count = len({name for file in files for name in PINNED.findall(file.read_text(encoding="utf-8"))})
    requirements = [part for file in files for part in ("--requirement", str(file.relative_to(ROOT)))]
    print(f"{count} packages into {sys.prefix}: this takes about a minute")
    pip("installing packages", ["--require-hashes", "--only-binary=:all:", *requirements], count)
    if not options.packages_alone:
        products = [f"./{name}" for name in PRODUCTS if (ROOT / name).is_dir()]
        editable = [part for folder in [*products, "."] for part in ("--editable", folder)]
        pip("installing this folder", ["--no-build-isolation", *editable])


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("\nInterrupted. Run the same command again: it installs what is missing.") from None
