"""Writes locks/: for every set of packages the exact versions and the hashes of their files. `make update` runs it.

`lab`, `cuda13` and `cuda12` are whole environments, and an environment takes one of them. `classroom`, `course` and
`test` can be added to each of the three; `cutlass` needs CUDA 13's bindings, so it goes with `lab` and `cuda13` only.
`simulator` is for gpu_simulator alone. torch is in none: a machine takes the build that suits it, in the version of
constraints.txt. One file serves every Python from 3.10 on, Linux, Windows and macOS; markers say which line is for
which of them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
OLDEST_PYTHON = "3.10"
WHOLE = ("lab", "cuda13", "cuda12")
ADDED = ("classroom", "course", "cutlass", "simulator", "test")
HEADER = "# Made by `make update` from pyproject.toml, for every system and every Python. Do not edit.\n"
# A cuda-python older than this names no cuda-bindings, so the resolver would take it beside any of them.
CUTLASS_WITH = "cuda-python>=13"
PINNED = re.compile(r"^[\w.-]+==", re.M)
CUDA = ("cuda-", "cupy-", "nvidia-")


def requirements() -> dict[str, list[str]]:
    """What each lock is made from: the requirements of pyproject.toml, and those of the simulator's own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    simulator = tomllib.loads((ROOT / "gpu_simulator/pyproject.toml").read_text(encoding="utf-8"))["project"]
    base, extras = project["dependencies"], project["optional-dependencies"]
    sources = {name: base + extras.get(name, []) for name in WHOLE}
    sources |= {name: extras[name] for name in ADDED if name != "simulator"}
    sources["simulator"] = sum(simulator["optional-dependencies"].values(), simulator["dependencies"])
    return sources


def resolved(wanted: list[str], constraints: str, hashes: bool = False) -> str:
    """The versions that uv chooses for `wanted`, one requirement a line; with `hashes`, those of all their files.

    `constraints` is text in the form of a requirements file. Raises CalledProcessError where nothing fits.
    """
    with tempfile.TemporaryDirectory() as folder:
        limits = Path(folder, "limits.txt")
        limits.write_text(constraints, encoding="utf-8")
        command = [sys.executable, "-m", "uv", "pip", "compile", "-", "--quiet", "--universal", "--no-header"]
        command += ["--no-annotate", "--python-version", OLDEST_PYTHON, "--constraint", str(limits)]
        command += ["--generate-hashes"] if hashes else []
        done = subprocess.run(command, input="\n".join(wanted), stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def main() -> None:
    """Resolve everything once, so that the locks agree, then write the part of each."""
    sources = requirements()
    torch = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    together = [wanted for name, part in sources.items() if name != "cuda12" for wanted in part]
    versions = resolved([*together, torch, CUTLASS_WITH], "")
    without_cuda = "\n".join(line for line in versions.splitlines() if not line.startswith(CUDA))
    for name, wanted in sources.items():
        text = resolved(wanted, without_cuda if name == "cuda12" else versions, hashes=True)
        (ROOT / "locks" / f"{name}.txt").write_text(HEADER + text, encoding="utf-8")
        print(f"locks/{name}.txt: {len(PINNED.findall(text))} packages")


if __name__ == "__main__":
    main()
