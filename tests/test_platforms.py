"""Colab, Kaggle, Binder, Codespaces and a JupyterHub: what the lab needs there fits to what is there already.

tests/platforms holds the versions of each platform. The tests that ask a package index are long, and skip without one.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import colab, publish, release
from tools.locks import PLATFORMS, PYTHONS, SYSTEMS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests/platforms"
LAB = ["gemm_lab", "gpu_simulator", "gemm_lab_lessons"]
# What pip may put beside the versions of a platform, or replace there: CUDA's packages, and what no platform has.
CUDA = re.compile(r"nvidia-|cuda-|cupy-")


def pins(*names: str) -> dict[str, str]:
    """{package: specifier} of a platform; of several files the later one counts."""
    lines = [line for name in names for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()]
    found = [Requirement(line) for line in lines if not line.startswith("#")]
    return {canonicalize_name(one.name): str(one.specifier) for one in found}


def python_of(name: str) -> str:
    return re.match(r"# Python (3\.\d+)\. ", (FOLDER / f"{name}.txt").read_text(encoding="utf-8"))[1]


PLATFORM_PINS = {
    "colab": pins("colab"),
    "kaggle": pins("colab", "kaggle"),
    "binder": pins("binder"),
    "jupyterhub": pins("jupyterhub"),
}


def faults(resolved: dict[str, str], has: dict[str, str], server: bool) -> list[str]:
    """What an installation would do that it must not: replace a package of the platform, or bring a second server.

    resolved: {package: version} after the installation.   has: the versions of the platform.   server: whether the
    platform's own notebook server stands in `resolved`.
    """
    found = [
        f"replaces {name}{has[name]} by {version}"
        for name, version in resolved.items()
        if name in has and not Requirement(f"{name}{has[name]}").specifier.contains(version)
    ]
    found += (
        [] if server else [f"brings {name}" for name in ("jupyterlab", "nbclient") if name in set(resolved) - set(has)]
    )
    return found + [f"lacks {name}" for name in map(canonicalize_name, LAB) if name not in resolved]


def test_faults_are_seen():
    right = {"gemm-lab": "1", "gpu-simulator": "1", "gemm-lab-lessons": "1", "numpy": "2.1.3"}
    assert faults(right, PLATFORM_PINS["colab"], False) == []
    assert faults(right | {"numpy": "2.4.6"}, PLATFORM_PINS["colab"], False) == ["replaces numpy==2.1.3 by 2.4.6"]
    assert faults(right | {"jupyterlab": "4.6.6"}, PLATFORM_PINS["colab"], False) == ["brings jupyterlab"]
    assert faults(right | {"notebook": "6.5.7"}, PLATFORM_PINS["jupyterhub"], True) == [
        "replaces notebook==7.* by 6.5.7"
    ]
    assert faults({}, {}, True) == ["lacks gemm-lab", "lacks gpu-simulator", "lacks gemm-lab-lessons"]


def test_the_facts_are_those_of_the_platforms():
    """Versions that decide something: the kernel of Colab runs with them, and Kaggle's server holds nbclient back."""
    assert [PLATFORM_PINS["colab"][name] for name in ("numpy", "ipywidgets", "ipython")] == [
        "==2.1.3",
        "==7.7.1",
        "==7.34.0",
    ]
    assert (
        PLATFORM_PINS["colab"]["cuda-bindings"] == "==12.9.7" and PLATFORM_PINS["colab"]["cupy-cuda12x"] == "==14.0.1"
    )
    assert "jupyterlab" not in PLATFORM_PINS["colab"]
    assert PLATFORM_PINS["kaggle"]["ipywidgets"] == "==8.1.5" and PLATFORM_PINS["kaggle"]["numpy"] == "==2.1.3"
    assert {python_of(name) for name in PLATFORM_PINS} <= set(PYTHONS)


# ---- Resolved, with a package index ----


def resolve(
    folder: Path, python: str, wanted: list[str], limits: dict[str, str], *options: str
) -> dict[str, str] | str:
    """{package: version} that pip would install for a Python on Linux; what pip says if nothing fits together."""
    (folder / "limits.txt").write_text("".join(f"{name}{limit}\n" for name, limit in limits.items()))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--retries=0"]
    command += ["--only-binary=:all:", "--python-version", python, "--target", str(folder / "nothing")]
    command += [word for platform in PLATFORMS for word in ("--platform", platform)]
    command += ["--report", str(folder / "report.json"), "--constraint", str(folder / "limits.txt"), *options, *wanted]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    told = json.loads((folder / "report.json").read_text())["install"]
    return {canonicalize_name(one["metadata"]["name"]): one["metadata"]["version"] for one in told}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """A folder with the wheels of the release, where a package index answers."""
    folder = tmp_path_factory.mktemp("wheels")
    if isinstance(resolve(folder, "3.12", ["tqdm"], {}, "--no-deps"), str):
        pytest.skip("no package index answers here, so nothing can be resolved")
    for project in (".", "packages/gpu_simulator", "packages/gemm_lab_lessons"):
        release.build(ROOT / project, folder, "wheel")
    return folder


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("platform", PLATFORM_PINS)
def test_the_lab_fits_to_the_versions_of_the_platform(platform, wheels, tmp_path):
    gpu = "[cuda12]" if platform in ("colab", "kaggle") else ""
    server = {"binder": ["jupyterlab"], "jupyterhub": list(PLATFORM_PINS["jupyterhub"])}.get(platform, [])
    wanted = [f"gemm_lab{gpu}", *LAB[1:], *server]
    has = PLATFORM_PINS[platform]
    found = resolve(tmp_path, python_of(platform), wanted, has, "--find-links", str(wheels))
    assert isinstance(found, dict), found
    assert faults(found, has, bool(server)) == []
    new = {name for name in set(found) - set(has) if not CUDA.match(name)}
    if platform in ("colab", "kaggle"):
        ours = {*map(canonicalize_name, LAB)}
        assert ours <= new <= ours | {"comm", "jedi", "overrides"}, "beside CUDA's packages"
        assert found["nvidia-cuda-nvrtc-cu12"].startswith("12.9."), "newer than the driver: docs/PLATFORMS.md says so"


@pytest.mark.long
@pytest.mark.timeout(900)
def test_versions_that_do_not_fit_are_seen(wheels, tmp_path):
    said = resolve(tmp_path, "3.13", LAB, {"ipywidgets": "==7.6.5"}, "--find-links", str(wheels))
    assert isinstance(said, str) and "gemm_lab" in said.replace("-", "_")
    found = resolve(tmp_path, "3.13", ["gemm_lab[lab]", *LAB[1:]], {}, "--find-links", str(wheels))
    assert "brings jupyterlab" in faults(found, PLATFORM_PINS["colab"], False)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_locks_that_codespaces_installs_are_at_the_index(wheels, tmp_path):
    """Each pin for the container's Python, as pip finds it without resolving."""
    python = re.search(r"^FROM python:(3\.\d+)\.", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.M)[1]
    machine = {"python_version": python, "python_full_version": f"{python}.7", **SYSTEMS[0], "extra": ""}
    texts = [(ROOT / f"locks/{name}.txt").read_text(encoding="utf-8") for name in ("lab", "test")]
    found = {Requirement(line) for text in texts for line in re.findall(r"^([\w.-]+==.*) \\$", text, re.M)}
    taken = {one.name: str(one.specifier) for one in found if one.marker is None or one.marker.evaluate(machine)}
    wanted = [f"{name}{version}" for name, version in taken.items()]
    resolved = resolve(tmp_path, python, wanted, {}, "--no-deps")
    assert isinstance(resolved, dict), resolved
    assert len(resolved) == len(taken) > 100 and "jupyterlab" in resolved


# ---- The files and the links of each platform ----


def test_binder_installs_the_folders_that_are_there_beside_its_own_server():
    lines = (ROOT / ".binder/requirements.txt").read_text(encoding="utf-8").splitlines()
    folders = [line.removeprefix("-e ") for line in lines if not line.startswith("#")]
    assert folders == ["./packages/gpu_simulator", ".", "./packages/gemm_lab_lessons"], (
        "no extra: Binder has a JupyterLab and no GPU"
    )
    assert all((ROOT / folder / "pyproject.toml").is_file() for folder in folders)
    assert (ROOT / ".binder/runtime.txt").read_text() == f"python-{python_of('binder')}\n"
    script = ROOT / ".binder/postBuild"
    assert os.access(script, os.X_OK) and script.read_text().startswith("#!") and "gemm_lab.trust" in script.read_text()


def test_codespaces_makes_its_container_from_the_locks():
    told = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert "--require-hashes --requirement locks/test.txt" in told["postCreateCommand"]
    assert (ROOT / ".devcontainer" / told["build"]["dockerfile"]).resolve() == ROOT / "Dockerfile"


HUB = "https://hub.example.edu"


def test_a_hub_gets_the_repository_and_opens_the_notebook():
    link = colab.hub_link("00_start_here", "https://github.com/octocat/gemm_lab", f"{HUB}/")
    assert link == (
        f"{HUB}/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgithub.com%2Foctocat%2Fgemm_lab&branch=main"
        "&urlpath=lab%2Ftree%2Fgemm_lab%2Fnotebooks%2F00_start_here.ipynb"
    )


@pytest.mark.parametrize("hub", ["hub.example.edu", "http://hub.example.edu", f"{HUB}/?x=1", f"{HUB}/a b", "https://"])
def test_what_is_no_address_of_a_hub_is_refused(hub, capsys):
    assert publish.main(["octocat/gemm_lab", "--hub", hub]) == 1
    assert "is no address of a JupyterHub" in capsys.readouterr().err


# ---- The page ----

PAGE = (ROOT / "docs/PLATFORMS.md").read_text(encoding="utf-8")


def test_the_page_names_each_platform_and_what_was_not_run():
    for name in ("Colab", "Kaggle", "Binder", "Codespaces", "JupyterHub"):
        assert re.search(rf"^## .*{name}", PAGE, re.M), name
    assert PAGE.count("**Not run there.**") == 5
    for name in PLATFORM_PINS:
        assert f"tests/platforms/{name}.txt" in PAGE


def opens(text: str) -> list[str]:
    """Links of a text that open a repository on a platform."""
    hosts = r"colab\.research\.google\.com/github|kaggle\.com/kernels/welcome|mybinder\.org/v2|codespaces\.new|/git-pull\?repo"
    return re.findall(rf"https://[^\s)`]*(?:{hosts})[^\s)`]*", text)


def test_no_link_stands_anywhere_before_an_address_is_published():
    assert opens("see https://codespaces.new/octocat/gemm_lab")
    if colab.address() is None:
        pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("notebooks/*.ipynb")]
        assert [page.name for page in pages if opens(page.read_text(encoding="utf-8"))] == []
