"""tools/install.py with a small index of its own, in which newer releases exist than those that are locked."""

import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A build backend in the folder itself: an environment without packages can run it.
BACKEND = """
import zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "here-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr("here-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: here\\nVersion: 1.0\\nRequires-Dist: alpha>=2\\n")
        wheel.writestr("here-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("here-1.0.dist-info/RECORD", "")
    return name
"""
PROJECT = """
[build-system]
requires = ["hatchling>=99999"]
build-backend = "backend"
backend-path = ["."]
"""


def release(folder: Path, name: str, version: str, *requires: str) -> str:
    """Write the wheel of a package; return its line in a lock."""
    path, facts = folder / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {line}\n" for line in requires)
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", f"version = {version!r}\n")
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nProvides-Extra: fast\n"
        wheel.writestr(f"{facts}/METADATA", head + needs)
        wheel.writestr(f"{facts}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{facts}/RECORD", "")
    return f"{name}=={version} \\\n    --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture
def project(tmp_path):
    """A checkout with two locks, alpha with beta[fast] and gamma, each of which has a release that is newer."""
    index, locks = tmp_path / "index", tmp_path / "locks"
    index.mkdir(), locks.mkdir(), (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/install.py", tmp_path / "tools")
    alpha = release(index, "alpha", "1.0", "beta[fast]>=1")
    beta = release(index, "beta", "1.0", "gamma; extra == 'fast'")
    gamma = release(index, "gamma", "1.0")
    for name in ("alpha", "beta", "gamma"):
        release(index, name, "2.0", "unheard-of")
    (locks / "lab.txt").write_text("# made by a test\n" + gamma)
    (locks / "test.txt").write_text(alpha + beta)
    release(index, "torch", "9.0", "filelock", "nvidia-nothing; extra == 'other'")
    (locks / "constraints.txt").write_text("torch==9.0\n")
    (locks / "torch.txt").write_text(release(index, "filelock", "1.0"))
    (locks / "torch_cuda.txt").write_text("no-such-library==1.0 --hash=sha256:00\n")
    for folder, name in ((tmp_path, "here"), (tmp_path / "packages/gpu_simulator", "gpu_simulator")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pyproject.toml").write_text(PROJECT)
        (folder / "backend.py").write_text(BACKEND.replace("here", name))
    return tmp_path


def environment_of(project: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "VIRTUAL_ENV"))}
    own = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(project / "index"),
        "PIP_NO_CACHE_DIR": "1",
    }
    return kept | own


def python_with(pip: str, project: Path) -> Path:
    """The Python of a new environment in `project`, with one version of pip, or with the one that this Python brings."""
    folder = project / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=300)
    python = folder / "bin/python" if os.name == "posix" else folder / "Scripts/python.exe"
    if pip != "bundled":
        from_an_index([python, "-m", "pip", "install", "--upgrade", pip])
    return python


def from_an_index(command: list) -> None:
    if subprocess.run([*command, "--quiet", "--retries=0"], capture_output=True, timeout=300).returncode:
        pytest.skip("no index of packages is in reach")


def installed(python: Path) -> set[str]:
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=freeze"], check=True, capture_output=True, text=True
    )
    return {line for line in listed.stdout.split() if not line.startswith(("pip=", "setuptools=", "wheel="))}


def run(project: Path, python: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = [python, project / "tools/install.py", *arguments]
    return subprocess.run(command, env=environment_of(project), capture_output=True, text=True, timeout=300)


# The pip of Python 3.10.0 cannot install a folder in place; so the locks have a pip, which takes over for that step.
@pytest.mark.sampled(every=3, first=1)
@pytest.mark.parametrize("pip", ["bundled", "pip==21.2.4", "pip"])
def test_locked_versions_come_in_although_newer_ones_exist(pip, project):
    python = python_with(pip, project)
    if pip == "pip==21.2.4":
        from_an_index([python, "-m", "pip", "download", "pip==24.0", "--no-deps", "--dest", project / "index"])
        (wheel,) = (project / "index").glob("pip-*.whl")
        with (project / "locks/lab.txt").open("a") as lock:
            lock.write(f"pip==24.0 \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    done = run(project, python, "lab", "test", "--torch")
    assert done.returncode == 0, done.stdout + done.stderr
    expected = {"alpha==1.0", "beta==1.0", "gamma==1.0", "torch==9.0", "filelock==1.0"}
    assert expected <= installed(python) and "here==1.0" in str(installed(python))
    assert "gpu_simulator==1.0" in str(installed(python)).replace("-", "_")
    assert "packages into" in done.stdout and "installing this folder" in done.stdout


def test_a_file_with_another_hash_is_refused_in_a_sentence(project):
    python = python_with("bundled", project)
    (project / "index/gamma-1.0-py3-none-any.whl").unlink()
    release(project / "index", "gamma", "1.0", "something-new")
    done = run(project, python, "lab")
    assert done.returncode == 1 and "gamma" not in str(installed(python))
    assert "Installing packages failed; pip's reason stands above." in done.stderr and "Traceback" not in done.stderr
    assert "A file is another one than locks/ names" in done.stderr
    assert "LOCKED=0" not in done.stderr and "network" not in done.stderr  # neither is the reason


def test_a_failure_does_not_speak_of_packages_for_other_machines(project):
    python = python_with("bundled", project)
    with (project / "locks/lab.txt").open("a") as lock:
        lock.write("elsewhere==1.0 ; sys_platform == 'other' --hash=sha256:00\n")
        lock.write(f"absent==1.0 --hash=sha256:{'0' * 64}\n")
    done = run(project, python, "lab")
    assert done.returncode == 1 and "elsewhere" not in done.stderr
    assert "absent==1.0" in done.stderr and "It needs a network." in done.stderr and "LOCKED=0" in done.stderr


def test_an_interruption_is_a_sentence(project, monkeypatch):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    monkeypatch.setattr(sys, "argv", ["install.py", "lab"])
    with pytest.raises(SystemExit, match="Run the same command again"):
        runpy.run_path(str(project / "tools/install.py"), run_name="__main__")
