"""Builds the wheels and the source archives of a release: `make dist`.

    python -m tools.release [FOLDER] [--tag v1.0.0]

FOLDER, by default dist, gets both of each package, and requirements.txt with the hashes of the wheels that the
notebooks need. With it, pip installs exactly these files, and their dependencies by the hashes in locks:

    pip install --no-deps --require-hashes --find-links dist -r dist/requirements.txt -r locks/lab.txt

It needs hatchling and nothing else. Nothing is uploaded.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from pathlib import Path

from tools.install import PRODUCTS, ROOT

FOLDERS = (".", *PRODUCTS)
OF_NOTEBOOKS = ("gpu_simulator", "gemm_lab", "gemm_lab_lessons")
SIMULATOR = "packages/gpu_simulator"  # a product with versions of its own
# Where a version stands, and where one package asks for another one in the same version.
_VERSION = re.compile(r'^(?:version = |version: |__version__ = |  "version": )"?([^"\n,]*)"?,?$', re.M)
_PIN = re.compile(r'"gemm_lab(?:_lessons)?(?:\[\w+\])?==([^"]+)"')
# What gemm_lab asks for: this version of the simulator, or a later one of the same major version.
_ASKED = re.compile(r'"gpu_simulator~=(\d+)\.(\d+)"')


def versions(root: Path = ROOT, simulator: bool = False) -> dict[str, set[str]]:
    """{file: the versions of this project, or of the simulator, that it names} for every file that names one."""
    projects = [f"{folder}/pyproject.toml".removeprefix("./") for folder in FOLDERS if folder != SIMULATOR]
    files = [*projects, "CITATION.cff", "gemm_lab/__init__.py", "gemm_lab/labextension/package.json"]
    if simulator:
        files = projects = [f"{SIMULATOR}/{file}" for file in ("pyproject.toml", "__init__.py")]
    found = {}
    for file in files:
        text = (root / file).read_text(encoding="utf-8")
        found[file] = {*_VERSION.findall(text), *(_PIN.findall(text) if file in projects else [])}
    return found


def version(root: Path = ROOT, simulator: bool = False) -> str:
    """The version of the release, or of the simulator in it.

    Raises `SystemExit` with a sentence if files name different ones, or if gemm_lab does not take this simulator.
    """
    named = versions(root, simulator)
    if len(set().union(*named.values())) != 1 or not all(named.values()):
        places = "; ".join(f"{file}: {', '.join(sorted(has)) or 'none'}" for file, has in named.items())
        raise SystemExit(f"The files do not agree on one version. {places}")
    (found,) = set().union(*named.values())
    if simulator:
        asked = _ASKED.search((root / "pyproject.toml").read_text(encoding="utf-8"))
        major, minor, *_ = found.split(".")
        if asked is None or asked[1] != major or int(asked[2]) > int(minor):
            wanted = f"~={asked[1]}.{asked[2]}" if asked else "no version of it by ~="
            raise SystemExit(f"gemm_lab asks for gpu_simulator {wanted}, and {SIMULATOR} is {found}.")
    return found


def build(folder: Path, into: Path, target: str) -> Path:
    """Build the "wheel" or the "sdist" of the project in a folder; return the file. Raises `SystemExit` if it fails."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into.resolve())]
    before = set(into.glob("*"))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}The {target} of {folder} could not be built.")
    (made,) = set(into.glob("*")) - before
    return made


def release(into: Path) -> list[Path]:
    """Write all wheels, source archives and requirements.txt into an empty or new folder; returns the files."""
    into.mkdir(parents=True, exist_ok=True)
    if any(into.iterdir()):
        raise SystemExit(f"{into} is not empty; name another folder, or remove it first: a release is whole.")
    made = [build(ROOT / folder, into, target) for folder in FOLDERS for target in ("wheel", "sdist")]
    lines = []
    for path in made:
        name, number, *_ = path.name.split("-")
        if path.suffix == ".whl" and name in OF_NOTEBOOKS:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            lines.append(f"{name}=={number} --hash=sha256:{digest}\n")
    requirements = into / "requirements.txt"
    requirements.write_text("".join(lines), encoding="utf-8")
    return [*made, requirements]


def main(arguments: list[str] | None = None) -> int:
    """Check the versions and build; returns 0, or raises `SystemExit` with a sentence."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__.splitlines()[0])
    parser.add_argument("into", nargs="?", type=Path, default=ROOT / "dist", metavar="FOLDER")
    parser.add_argument("--tag", help="the tag of the release, which must name its version")
    options = parser.parse_args(arguments)
    number = version()
    version(simulator=True)
    if options.tag not in (None, f"v{number}"):
        raise SystemExit(f"The tag {options.tag} does not name the version {number}.")
    for path in release(options.into):
        print(f"{path.stat().st_size / 1e6:5.1f} MB  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
