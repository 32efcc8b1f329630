"""Workflows, templates and the citation follow their schemas, the workflows' linter finds nothing, and locks are whole."""

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = {
    "vendor.github-workflows": [
        ".github/workflows/tests.yml",
        ".github/workflows/nightly.yml",
        ".github/workflows/release.yml",
    ],
    "vendor.github-issue-forms": [".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/lesson.yml"],
    "vendor.github-issue-config": [".github/ISSUE_TEMPLATE/config.yml"],
    "vendor.citation-file-format": ["CITATION.cff"],
}


def printed(tool, *arguments):
    found = shutil.which(tool, path=Path(sys.executable).parent)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    done = subprocess.run([found, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_follow_their_schemas(schema):
    code, said = printed("check-jsonschema", "--builtin-schema", schema, *SCHEMAS[schema])
    assert code == 0, said


def test_no_workflow_is_forgotten():
    assert sorted(SCHEMAS["vendor.github-workflows"]) == sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / ".github/workflows").iterdir()
    )


def test_the_workflows_are_safe():
    code, said = printed("zizmor", "--offline", "--no-progress", ".github/workflows")
    assert code == 0, said


# ---- Locks ----

LOCKS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "locks").glob("*.txt"))}
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")


def project(folder: str = "") -> dict:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


EXTRAS = project()["optional-dependencies"]


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


def test_every_extra_but_torch_has_a_lock():
    assert set(LOCKS) - {"simulator"} == {"lab", *EXTRAS} - {"torch"}


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


PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
SYSTEMS = (
    ("linux", "Linux", "x86_64", "posix"),
    ("win32", "Windows", "AMD64", "nt"),
    ("darwin", "Darwin", "arm64", "posix"),
)


def machines():
    for python in PYTHONS:
        for sys_platform, system, machine, os_name in SYSTEMS:
            yield {
                "python_version": python,
                "python_full_version": f"{python}.4",
                "sys_platform": sys_platform,
                "platform_system": system,
                "platform_machine": machine,
                "os_name": os_name,
                "extra": "",
            }


def chosen(requirements, machine) -> dict[str, str]:
    """The version of each package that a machine takes; it must be one."""
    found = {}
    for requirement in requirements:
        if requirement.marker is None or requirement.marker.evaluate(machine):
            assert requirement.name not in found, f"two versions of {requirement.name} for {machine}"
            found[canonicalize_name(requirement.name)] = next(iter(requirement.specifier)).version
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


@pytest.mark.parametrize("name", [name for name in LOCKS if name != "simulator"])
def test_a_lock_fulfils_pyproject_on_every_python(name):
    whole = name in ("lab", "cuda12", "cuda13")
    assert missing(EXTRAS.get(name, []) + whole * project()["dependencies"], name) == []


@pytest.mark.skipif(not (ROOT / "gpu_simulator/pyproject.toml").is_file(), reason="the simulator is no project here")
def test_the_simulators_lock_fulfils_its_own_pyproject():
    simulator = project("gpu_simulator")
    assert missing(sum(simulator["optional-dependencies"].values(), simulator["dependencies"]), "simulator") == []


def test_a_requirement_without_a_version_in_the_lock_is_seen():
    assert ("numpy>=99", "3.12 linux") in missing(["numpy>=99"], "lab")
    assert missing(["no-such-package"], "lab") and not missing(["no-such-package; python_version < '3'"], "lab")


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
    for name in ("test", "course", "classroom"):
        assert disagreements("cuda12", name) == set(), "these are installed beside it"
