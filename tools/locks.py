"""Writes locks/: for each set of packages, the exact versions and the hashes of their files. `make update` runs it.

`lab`, `cuda13` and `cuda12` are complete environments; an environment is made from one of them. `classroom`, `course`
and `test` can be added to each of the three. `cutlass` needs the bindings of CUDA 13, so it can be added to `lab` and
`cuda13` only. `simulator` is for gpu_simulator alone. torch is in none of them, because its build depends on the
machine; its version is in constraints.txt. One file is for every Python from 3.10 on and for Linux, Windows and macOS;
environment markers say which lines apply.
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
# Older releases of cuda-python do not require cuda-bindings, so the resolver could combine them with any version of it.
CUTLASS_WITH = "cuda-python>=13"
PINNED = re.compile(r"^[\w.-]+==", re.M)
CUDA = ("cuda-", "cupy-", "nvidia-")


def requirements() -> dict[str, list[str]]:
    """{name of a lock: its requirements}, from pyproject.toml, and for `simulator` from its own pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    simulator = tomllib.loads((ROOT / "gpu_simulator/pyproject.toml").read_text(encoding="utf-8"))["project"]
    base, extras = project["dependencies"], project["optional-dependencies"]
    sources = {name: base + extras.get(name, []) for name in WHOLE}
    sources |= {name: extras[name] for name in ADDED if name != "simulator"}
    sources["simulator"] = sum(simulator["optional-dependencies"].values(), simulator["dependencies"])
    return sources


def resolved(wanted: list[str], constraints: str, hashes: bool = False) -> str:
    """The versions that uv chooses for `wanted`, one requirement per line, with the hashes of all files if `hashes`.

    constraints: text of a requirements file. Raises `CalledProcessError` if no versions fit together.
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
    """Resolve all requirements together, so that the locks agree, then write each lock."""
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
