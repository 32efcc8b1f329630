"""A release: one version everywhere, archives that hold the same as the wheels, pages that an index can show."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from PIL import Image

from gemm_lab import __version__
from gpu_simulator import __version__ as simulator_version
from tools import release
from tools.install import PRODUCTS

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = {"gemm_lab": ".", **{folder.removeprefix("packages/"): folder for folder in PRODUCTS}}
VERSIONS = dict.fromkeys(PROJECTS, __version__) | {"gpu_simulator": simulator_version}


# ---- One version ----


def test_every_file_names_the_same_version():
    assert release.version() == __version__
    assert re.search(rf"^## {re.escape(__version__)} \(\d{{4}}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert len(release.versions()) == 6 and set().union(*release.versions().values()) == {__version__}


def test_the_simulator_has_a_version_of_its_own():
    assert release.version(simulator=True) == simulator_version
    assert set().union(*release.versions(simulator=True).values()) == {simulator_version}


@pytest.fixture
def copy(tmp_path):
    """The files that name a version, alone in a folder."""
    for file in [*release.versions(), *release.versions(simulator=True)]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


@pytest.mark.parametrize("file", release.versions())
@pytest.mark.parametrize("other", ["9.9.9", ""])
def test_another_version_in_one_file_is_refused(copy, file, other):
    text = (copy / file).read_text(encoding="utf-8")
    (copy / file).write_text(text.replace(__version__, other, 1), encoding="utf-8")
    with pytest.raises(SystemExit, match=f"do not agree on one version.*{re.escape(file)}: "):
        release.version(copy)


@pytest.mark.parametrize("file", release.versions(simulator=True))
def test_another_version_in_one_file_of_the_simulator_is_refused(copy, file):
    text = (copy / file).read_text(encoding="utf-8")
    (copy / file).write_text(text.replace(simulator_version, "9.9.9", 1), encoding="utf-8")
    with pytest.raises(SystemExit, match="do not agree on one version"):
        release.version(copy, simulator=True)
    assert release.version(copy) == __version__, "the other packages go on"


@pytest.mark.parametrize(("other", "taken"), [("1.0.1", True), ("1.7.0", True), ("2.0.0", False), ("0.9.0", False)])
def test_gemm_lab_takes_later_simulators_of_the_same_major_version(copy, other, taken):
    for file in release.versions(simulator=True):
        text = (copy / file).read_text(encoding="utf-8")
        (copy / file).write_text(text.replace(simulator_version, other, 1), encoding="utf-8")
    if taken:
        assert release.version(copy, simulator=True) == other and release.version(copy) == __version__
    else:
        with pytest.raises(SystemExit, match=rf"asks for gpu_simulator ~=1.0, and packages/gpu_simulator is {other}"):
            release.version(copy, simulator=True)


def test_a_pin_of_another_version_is_refused(copy):
    text = (copy / "packages/gemm_lab_lessons/pyproject.toml").read_text(encoding="utf-8")
    pin = f"gemm_lab=={__version__}"
    assert pin in text
    (copy / "packages/gemm_lab_lessons/pyproject.toml").write_text(text.replace(pin, "gemm_lab==0.9"), encoding="utf-8")
    with pytest.raises(SystemExit, match="0.9, "):
        release.version(copy)


def test_a_tag_of_another_version_and_a_full_folder_are_refused(tmp_path):
    with pytest.raises(SystemExit, match="The tag v0.0.1 does not name the version"):
        release.main([str(tmp_path), "--tag", "v0.0.1"])
    (tmp_path / "old.whl").touch()
    with pytest.raises(SystemExit, match="is not empty"):
        release.main([str(tmp_path), "--tag", f"v{__version__}"])
    with pytest.raises(SystemExit, match="could not be built"):
        release.build(tmp_path, tmp_path, "wheel")


# ---- Wheels and source archives ----


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """All files of the release, in a folder."""
    into = tmp_path_factory.mktemp("dist")
    release.release(into)
    return into


def test_there_is_a_wheel_and_an_archive_of_each_package_and_the_hashes_are_theirs(dist):
    names = {path.name for path in dist.iterdir()}
    wheels = {f"{name}-{version}-py3-none-any.whl" for name, version in VERSIONS.items()}
    archives = {f"{name}-{version}.tar.gz" for name, version in VERSIONS.items()}
    assert names == wheels | archives | {"requirements.txt"}
    lines = (dist / "requirements.txt").read_text().splitlines()
    for name, line in zip(
        release.OF_NOTEBOOKS,
        sorted(lines, key=lambda text: release.OF_NOTEBOOKS.index(text.partition("=")[0])),
        strict=True,
    ):
        version = VERSIONS[name]
        digest = hashlib.sha256((dist / f"{name}-{version}-py3-none-any.whl").read_bytes()).hexdigest()
        assert line == f"{name}=={version} --hash=sha256:{digest}"


def held(wheel: Path) -> dict[str, bytes]:
    """{name: content} of the files of a wheel."""
    archive = zipfile.ZipFile(wheel)
    return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("name", PROJECTS)
def test_a_source_archive_builds_the_same_wheel(dist, name, tmp_path):
    whole = f"{name}-{VERSIONS[name]}"
    with tarfile.open(dist / f"{whole}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "made").mkdir()
    made = release.build(tmp_path / whole, tmp_path / "made", "wheel")
    first = held(dist / made.name)
    assert held(made) == first
    source = next(path for path in (tmp_path / whole).rglob("__init__.py"))
    source.write_text("changed = True\n")
    assert held(release.build(tmp_path / whole, made.parent / "..", "wheel")) != first


# ---- What an index shows ----


def faults(metadata: str) -> list[str]:
    """What a package's page would lack or show broken: relative links, pictures that are not there, no keywords."""
    told = message_from_string(metadata)
    text = told.get_payload()
    found = [f"relative link {link}" for link in re.findall(r"\]\((?!https://)([^)]+)\)", text)]
    found += [f"picture {src}" for src in re.findall(r"<img[^>]*src=\"(?!https://)([^\"]+)", text)]
    found += [] if text.lstrip().startswith("# ") else ["no title"]
    found += [field for field in ("Keywords", "Classifier", "Summary", "License-Expression") if not told[field]]
    kinds = told.get_all("Classifier", [])
    found += [
        f"no Python 3.{minor}" for minor in range(10, 15) if f"Programming Language :: Python :: 3.{minor}" not in kinds
    ]
    return found + (["no Markdown"] if told["Description-Content-Type"] != "text/markdown" else [])


def metadata_of(dist: Path, name: str) -> str:
    whole = f"{name}-{VERSIONS[name]}"
    return zipfile.ZipFile(dist / f"{whole}-py3-none-any.whl").read(f"{whole}.dist-info/METADATA").decode()


@pytest.mark.parametrize("name", ["gemm_lab", "gpu_simulator"])
def test_an_index_can_show_the_page(dist, name):
    metadata = metadata_of(dist, name)
    assert faults(metadata) == []
    assert "pip install" in metadata.partition("\n\n")[2], "it says how to begin"
    assert faults(metadata + "[x](docs/GLOSSARY.md)") == ["relative link docs/GLOSSARY.md"]
    assert faults(metadata + '<img width="1" src="images/a.png">') == ["picture images/a.png"]
    assert faults(re.sub("^Keywords.*\n", "", metadata, flags=re.M)) == ["Keywords"]
    assert "no Python 3.14" in faults(metadata.replace("3.14", "3.15"))


# ---- An installation from a folder, by hashes ----


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_the_wheels_install_by_hashes_from_a_folder_and_work(dist, tmp_path):
    """Without an index, once the locked packages are in the folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "XDG_STATE_HOME": str(tmp_path / "state")}

    def done(*words: object) -> subprocess.CompletedProcess:
        return subprocess.run([*map(str, words)], cwd=tmp_path, env=environment, capture_output=True, text=True)

    folder, pip = tmp_path / "folder", [sys.executable, "-m", "pip"]
    lock = ROOT / "locks/lab.txt"
    fetched = done(
        *pip, "download", "-q", "--no-deps", "--only-binary=:all:", "--require-hashes", "-d", folder, "-r", lock
    )
    if fetched.returncode:
        pytest.skip(f"the locked packages could not be fetched: {fetched.stderr.strip().splitlines()[-1]}")
    for wheel in dist.glob("*.whl"):
        shutil.copy(wheel, folder)
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = [
        python,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-index",
        "--find-links",
        folder,
        "--no-deps",
        "--require-hashes",
    ]
    wrong = tmp_path / "wrong.txt"
    wrong.write_text(re.sub("sha256:.{8}", "sha256:00000000", (dist / "requirements.txt").read_text(), count=1))
    refused = done(*command, "-r", wrong)
    assert refused.returncode and "DO NOT MATCH THE HASHES" in refused.stderr

    installed = done(*command, "-r", dist / "requirements.txt", "-r", lock)
    assert installed.returncode == 0, installed.stderr
    assert done(python, "-m", "pip", "check").returncode == 0
    program = python.parent / "gemm-lab"
    assert done(program, "--version").stdout == f"gemm-lab {__version__}\n"
    ran = done(program, "run", "t4/03_swizzled", "-n", "256", "--verify", "--backend", "simulator")
    assert ran.returncode == 0 and ran.stdout.startswith("PASS"), ran.stdout + ran.stderr
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "gemm_lab/README.md").read_text(), re.S)
    said = done(python, "-c", example)
    assert re.fullmatch(r"PASS [\d,]+\n", said.stdout), said.stdout + said.stderr
    assert str(tmp_path) in done(python, "-c", "import gemm_lab, gpu_simulator; print(gpu_simulator.__file__)").stdout


# ---- The animated picture of README.md ----


def too_much(path: Path) -> list[str]:
    """Why a picture is no animated one that a page can carry."""
    image = Image.open(path)
    found = [] if getattr(image, "n_frames", 1) > 5 else ["it does not move"]
    found += ["it is too wide"] if image.width > 900 else []
    return found + (["it is too large"] if path.stat().st_size > 1.5e6 else [])


def test_the_readme_shows_an_animated_picture_that_a_page_can_carry(tmp_path):
    assert 'src="images/live_page.gif"' in (ROOT / "README.md").read_text(encoding="utf-8")
    assert too_much(ROOT / "images/live_page.gif") == []
    Image.new("L", (1000, 10)).save(tmp_path / "still.gif")
    assert too_much(tmp_path / "still.gif") == ["it does not move", "it is too wide"]
