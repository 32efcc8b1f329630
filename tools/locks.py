"""Writes locks/: for each set of packages, the exact versions and the hashes of their files. `make update` runs it.

`lab`, `cuda13` and `cuda12` are complete environments; an environment is made from one of them. `clang`, `classroom`,
`course`, `site` and `test` can be added to each of the three. `cutlass` needs the bindings of CUDA 13, so it can be
added to `lab` and `cuda13` only. `simulator` is for gpu_simulator alone. One file is for every Python from 3.10 on and
for Linux, Windows and macOS; environment markers say which lines apply. Every locked package has a wheel, so nothing
is built.

torch itself is in none of them, because its build depends on the machine; its version is in
locks/constraints.txt. What it needs is in `torch`, and what a build for CUDA needs beside that in `torch_cuda`.

`requires.json` says what each locked package requires. With it a test can hold that every lock is complete.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
SYSTEMS = (
    {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64", "os_name": "posix"},
    {"sys_platform": "win32", "platform_system": "Windows", "platform_machine": "AMD64", "os_name": "nt"},
    {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64", "os_name": "posix"},
)
WHOLE = ("lab", "cuda13", "cuda12")
ADDED = ("clang", "classroom", "course", "cutlass", "simulator", "site", "test")
# What pip may choose from when it is asked for metadata: one system of each kind.
PLATFORMS = (
    "any",
    "win_amd64",
    *(f"manylinux{n}_x86_64" for n in (2014, 2010, 1, *(f"_2_{n}" for n in range(17, 40)))),
)
HEADER = "# Made by `make update` from pyproject.toml, for every system and every Python. Do not edit.\n"
# Older releases of cuda-python do not require cuda-bindings, so the resolver could combine them with any version of it.
CUTLASS_WITH = "cuda-python>=13"
PIP = "pip>=24"  # that of Python 3.10.0 cannot install a folder in place
PINNED = re.compile(r"^[\w.-]+==", re.M)
CUDA = ("cuda-", "cupy-", "nvidia-")
EXTRA = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")


def requirements() -> dict[str, list[str]]:
    """{name of a lock: its requirements}, from pyproject.toml, and for `simulator` from its own pyproject.toml."""
    file = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, build = file["project"], file["build-system"]["requires"]
    simulator = tomllib.loads((ROOT / "packages/gpu_simulator/pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = [line for line in project["dependencies"] if not line.startswith("gpu_simulator")]  # a folder of this one
    extras = project["optional-dependencies"]
    whole = [*base, *build, PIP, *extras["lab"]]
    sources = {name: whole + (extras[name] if name != "lab" else []) for name in WHOLE}
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
        command += ["--no-annotate", "--python-version", PYTHONS[0], "--constraint", str(limits)]
        command += ["--only-binary", ":all:"]
        command += ["--generate-hashes"] if hashes else []
        done = subprocess.run(command, input="\n".join(wanted), stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def kept(names: list[str]) -> str:
    """The packages that are locked now, one per line, as constraints for `resolved`. A new extra has no lock yet."""
    paths = [ROOT / "locks" / f"{name}.txt" for name in names]
    texts = [path.read_text(encoding="utf-8") for path in paths if path.is_file()]
    return "\n".join(sorted({one.partition(" \\\n")[0] for text in texts for one in packages(text)}))


def packages(text: str) -> list[str]:
    """The locked packages of a lock's text, each with its hashes and the line break behind them."""
    return re.findall(r"^[\w.-]+==.*(?:\n    .*)*\n", text, re.M)


def requires(pins: list[str]) -> dict[str, list[str]]:
    """{"anyio==4.16.0": the requirements in its metadata}.

    pins: lines of locks, such as "anyio==4.16.0 ; python_version > '3.10'".
    Raises `CalledProcessError` if a package has no wheel for Linux or Windows and one of our Pythons.
    """
    found: dict[str, list[str]] = {}
    for python in PYTHONS:
        taken = {"python_version": python, "python_full_version": f"{python}.9"}
        wanted: dict[str, str] = {}  # one version of each package at a time
        for pin in map(Requirement, pins):
            name = f"{pin.name}{pin.specifier}"
            if name not in found and any(pin.marker is None or pin.marker.evaluate(taken | one) for one in SYSTEMS):
                wanted[pin.name] = name
        if wanted:
            found |= _metadata(list(wanted.values()), python)
    return {pin: found[pin] for pin in sorted(found)}


def needed(metadata: dict[str, list[str]], wanted: list[str]) -> dict[str, list[str]]:
    """`metadata` of `requires` without the requirements of extras that neither `wanted` nor a package here asks for."""
    asked, before, left = {("", "")}, set(), metadata
    while asked != before:
        before = set(asked)
        left = {
            pin: [line for line in lines if {(pin.partition("==")[0], extra) for extra in EXTRA.findall(line)} <= asked]
            for pin, lines in metadata.items()
        }
        lines = [*wanted, *(line for part in left.values() for line in part)]
        asked |= {(_normal(one.name), extra) for one in map(Requirement, lines) for extra in one.extras}
    return left


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _metadata(pins: list[str], python: str) -> dict[str, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps", "--ignore-installed"]
        command += ["--ignore-requires-python", "--only-binary", ":all:", "--python-version", python]
        command += [word for platform in PLATFORMS for word in ("--platform", platform)]
        command += ["--target", folder, "--report", str(report), *pins]
        subprocess.run(command, check=True)
        installed = json.loads(report.read_text(encoding="utf-8"))["install"]
    by_name = {_normal(pin.partition("==")[0]): pin for pin in pins}
    facts = [one["metadata"] for one in installed]
    return {by_name[_normal(one["name"])]: one.get("requires_dist", []) for one in facts}


def main() -> None:
    """Resolve all requirements together, so that the locks agree, then write each lock. --keep: new packages alone."""
    keep = "--keep" in sys.argv[1:]
    sources = requirements()
    torch = (ROOT / "locks/constraints.txt").read_text(encoding="utf-8")
    together = [wanted for name, part in sources.items() if name != "cuda12" for wanted in part]
    versions = resolved([*together, torch, CUTLASS_WITH], kept([n for n in sources if n != "cuda12"]) if keep else "")
    without_cuda = "\n".join(line for line in versions.splitlines() if not line.startswith(CUDA))
    without_cuda += "\n" + kept(["cuda12"]) if keep else ""
    texts = {
        name: resolved(wanted, without_cuda if name == "cuda12" else versions, hashes=True)
        for name, wanted in sources.items()
    }
    of_torch = [one for one in packages(resolved([torch], versions, hashes=True)) if not one.startswith("torch==")]
    texts["torch"] = "".join(one for one in of_torch if not one.startswith((*CUDA, "triton")))
    texts["torch_cuda"] = "".join(one for one in of_torch if one.startswith((*CUDA, "triton")))
    for name, text in texts.items():
        (ROOT / "locks" / f"{name}.txt").write_text(HEADER + text, encoding="utf-8")
        print(f"locks/{name}.txt: {len(PINNED.findall(text))} packages")
    pins = {one.partition(" \\\n")[0] for text in texts.values() for one in packages(text)}
    facts = needed(requires(sorted(pins)), [line for wanted in sources.values() for line in wanted])
    rows = ",\n".join(f"{json.dumps(pin)}: {json.dumps(lines)}" for pin, lines in facts.items())
    (ROOT / "locks" / "requires.json").write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
