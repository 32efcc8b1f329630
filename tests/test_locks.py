"""The locks: versions and hashes for every package, complete, in agreement, and what `pip` is told to do with them."""

import json
import re
import shutil
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.locks import PYTHONS, SYSTEMS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]

LOCKS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "locks").glob("*.txt"))}
TORCH = LOCKS.pop("constraints")  # the version of torch alone
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")


def project(folder: str = "") -> dict:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


EXTRAS = project()["optional-dependencies"]
CORE = [line for line in project()["dependencies"] if not line.startswith("gpu_simulator")]  # a folder of this project


def locked(text: str) -> dict[str, list[str]]:
    """Each locked requirement with the lines below it; any line that is neither is an error."""
    found, rest = {}, iter(text.splitlines())
    for line in rest:
        if line.startswith("#"):
            continue
        assert line.endswith(" \\"), f"no hash: {line}"
        hashes = found.setdefault(line.removesuffix(" \\"), [])
        for part in rest:
            assert HASH.fullmatch(part), part
            hashes.append(part)
            if not part.endswith("\\"):
                break
    return found


@cache
def versions(name: str) -> set[Requirement]:
    return {Requirement(line) for line in locked(LOCKS[name])}


def test_every_extra_has_a_lock():
    assert set(LOCKS) - {"simulator", "torch_cuda"} == set(EXTRAS)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_one_version_and_hashes_for_each_package(name):
    pinned = locked(LOCKS[name])
    assert pinned and all(pinned.values())
    for line in pinned:
        (exact,) = Requirement(line).specifier
        assert exact.operator == "==" and "*" not in exact.version, line
    assert "torch" not in {requirement.name for requirement in versions(name)}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host_and_no_path(name):
    assert not re.search(r"://|^-|@|/(?:tmp|work|opt|usr|var)/", LOCKS[name], re.M)
    assert LOCKS[name].splitlines()[0].startswith("# Made by `make update` from pyproject.toml")


@pytest.mark.parametrize("line", ["numpy==2.4.6", "numpy==2.4.6 \\\n    --hash=md5:00", "--index-url there"])
def test_a_line_without_a_hash_is_seen(line):
    with pytest.raises(AssertionError):
        locked(line)


def machines():
    for python in PYTHONS:
        for system in SYSTEMS:
            yield {"python_version": python, "python_full_version": f"{python}.4", **system, "extra": ""}


def chosen(requirements, machine) -> dict[str, str]:
    """The version of each package that a machine takes; it must be one."""
    found = {}
    for requirement in requirements:
        if requirement.marker is None or requirement.marker.evaluate(machine):
            name, version = canonicalize_name(requirement.name), next(iter(requirement.specifier)).version
            assert found.setdefault(name, version) == version, f"two versions of {name} for {machine}"
    return found


def missing(wanted: list[str], name: str) -> list[tuple[str, str]]:
    """The requirements that lock `name` does not fulfil, each with the Python and system of the machine."""
    pinned = versions(name)
    lacking = []
    for machine in machines():
        has = chosen(pinned, machine)
        for requirement in map(Requirement, wanted):
            needed = requirement.marker is None or requirement.marker.evaluate(machine)
            version = has.get(canonicalize_name(requirement.name))
            if needed and (version is None or not requirement.specifier.contains(version)):
                lacking.append((str(requirement), f"{machine['python_version']} {machine['sys_platform']}"))
    return lacking


@pytest.mark.parametrize("name", sorted(set(LOCKS) - {"simulator", "torch", "torch_cuda"}))
def test_a_lock_fulfils_pyproject_on_every_python(name):
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    whole = name in ("lab", "cuda12", "cuda13")
    assert missing(EXTRAS[name] + whole * (CORE + EXTRAS["lab"] + build), name) == []


@pytest.mark.skipif(
    not (ROOT / "packages/gpu_simulator/pyproject.toml").is_file(), reason="the simulator is no project here"
)
def test_the_simulators_lock_fulfils_its_own_pyproject():
    simulator = project("packages/gpu_simulator")
    assert missing(sum(simulator["optional-dependencies"].values(), simulator["dependencies"]), "simulator") == []


def test_a_requirement_without_a_version_in_the_lock_is_seen():
    assert ("numpy>=99", "3.12 linux") in missing(["numpy>=99"], "lab")
    assert missing(["no-such-package"], "lab") and not missing(["no-such-package; python_version < '3'"], "lab")


# ---- Locks are complete: pip installs them without resolving anything ----

REQUIRES = json.loads((ROOT / "locks/requires.json").read_text(encoding="utf-8"))
# What is installed together. torch itself is in no lock; its metadata is read where it is installed.
TOGETHER = {name: ("lab", name) for name in ("clang", "test", "course", "classroom", "cutlass", "site", "torch")} | {
    "lab": ("lab",),
    "cuda12": ("cuda12",),
    "cuda13": ("cuda13",),
    "simulator": ("simulator",),
    "torch_cuda": ("lab", "torch", "torch_cuda"),
}


@cache
def parsed(line: str) -> Requirement:
    return Requirement(line)


def unmet(pins: set[Requirement], wanted: list[str], requires: dict[str, list[str]]) -> set[tuple[str, str]]:
    """(package, requirement) for each that a pinned package has on some machine and that no pin meets; "" for `wanted`."""
    lacking = set()
    for machine in machines():
        has = chosen(pins, machine)
        asked: dict[str, set[str]] = {}  # the extras that are asked for, by package
        open_ones = [("", line) for line in wanted]
        open_ones += [(name, line) for name, version in has.items() for line in requires[f"{name}=={version}"]]
        seen = None
        while asked != seen:  # an extra can ask for another
            seen = {name: set(extras) for name, extras in asked.items()}
            for name, line in open_ones:
                one = parsed(line)
                extras = {"", *asked.get(name, ())}
                if one.marker and not any(one.marker.evaluate(machine | {"extra": extra}) for extra in extras):
                    continue
                asked.setdefault(canonicalize_name(one.name), set()).update(one.extras)
                version = has.get(canonicalize_name(one.name))
                if version is None or not one.specifier.contains(version, prereleases=True):
                    lacking.add((name, line))
    return lacking


def wanted_by(name: str) -> list[str]:
    if name == "simulator":
        simulator = project("packages/gpu_simulator")
        return sum(simulator["optional-dependencies"].values(), simulator["dependencies"])
    return [] if name.startswith("torch") else CORE + EXTRAS["lab"] + EXTRAS[name]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_complete(name):
    """Each requirement of each pinned package, those of its extras included, is met by a pin, on every machine."""
    pins = set().union(*map(versions, TOGETHER[name]))
    assert unmet(pins, wanted_by(name), REQUIRES) == set()


def test_a_hole_in_a_lock_is_seen():
    pins = {one for one in versions("lab") | versions("test") if one.name != "coverage"}
    assert ("pytest-cov", "coverage[toml]>=7.10.6") in unmet(pins, EXTRAS["test"], REQUIRES)
    older = {one for one in versions("simulator") if one.name != "numpy"} | {Requirement("numpy==1.0")}
    with_older = REQUIRES | {"numpy==1.0": []}
    assert ("", "numpy>=1.26") in unmet(older, wanted_by("simulator"), with_older)
    # An extra that another one asks for: alpha[one] requires alpha[two], and that beta.
    chain = {"alpha==1": ["alpha[two]; extra == 'one'", "beta; extra == 'two'"]}
    assert unmet({Requirement("alpha==1")}, ["alpha[one]"], chain) == {("alpha", "beta; extra == 'two'")}
    assert unmet({Requirement("alpha==1")}, ["alpha"], chain) == set()


def test_the_requirements_of_locked_packages_are_those_of_the_installed_ones():
    """locks/requires.json names every locked package, and agrees with the metadata of those that are here."""
    assert set(REQUIRES) == {f"{one.name}{one.specifier}" for name in LOCKS for one in versions(name)}
    seen = 0
    for package in distributions():
        pin = f"{canonicalize_name(package.metadata['Name'])}=={package.version}"
        if pin in REQUIRES:
            here = {str(Requirement(line)) for line in package.requires or ()}
            stored = {str(Requirement(line)) for line in REQUIRES[pin]}
            assert stored <= here and all("extra" in line for line in here - stored), pin
            seen += 1
    assert seen > 50 or not shutil.which("ruff", path=Path(sys.executable).parent)


def test_the_locks_of_torch_are_what_the_installed_torch_requires():
    """One build of it: whichever this machine took."""
    try:
        torch = distribution("torch")
    except PackageNotFoundError:
        pytest.skip("torch is not installed")
    if f"torch=={torch.version.partition('+')[0]}" != TORCH.strip():
        pytest.skip("torch is not the one of locks/constraints.txt")
    pins = versions("lab") | versions("torch")
    pins |= versions("torch_cuda") if any("nvidia" in line for line in torch.requires) else set()
    assert unmet(pins, torch.requires, REQUIRES) == set()


def disagreements(one: str, other: str) -> set[tuple[str, str, str]]:
    found = set()
    for machine in machines():
        here, there = chosen(versions(one), machine), chosen(versions(other), machine)
        found |= {(name, here[name], there[name]) for name in here.keys() & there.keys() if here[name] != there[name]}
    return found


@pytest.mark.parametrize("name", [name for name in LOCKS if name not in ("lab", "cuda12")])
def test_locks_agree(name):
    assert disagreements("lab", name) == set()


@pytest.mark.long
def test_cuda12_differs_in_cuda_only():
    differing = disagreements("lab", "cuda12")
    assert differing and all(name.startswith("cuda-") for name, _, _ in differing)
    for name in ("test", "course", "classroom", "site"):
        assert disagreements("cuda12", name) == set(), "these are installed beside it"
