"""The packages that the kernel of JupyterLite loads: pure Python by our locks, and what was built for Pyodide.

Pyodide finds them in a file of its own, `pyodide-lock.json`, which has a file name and a hash for each package.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gemm_results.errors import LabError
from tools.live import packages

ROOT = Path(__file__).resolve().parents[2]
# What the lab imports in the page, and what JupyterLite's kernel installs before it starts.
NEEDED = ("anywidget", "comm", "ipython", "ipywidgets", "jedi", "micropip", "tqdm")
LEFT_OUT = ("jupyterlab-widgets", "widgetsnbextension")  # JavaScript of other front ends, which no module imports
ABI = "cp314-cp314-pyemscripten_2026_0_wasm32"
PYODIDE = {
    "python_version": "3.14",
    "python_full_version": "3.14.2",
    "sys_platform": "emscripten",
    "platform_system": "Emscripten",
    "platform_machine": "wasm32",
    "os_name": "posix",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
    "extra": "",
}


def normal(name: str) -> str:
    """The name of a package as indexes compare it: "ml_dtypes" and "ML-dtypes" are "ml-dtypes"."""
    return re.sub(r"[-_.]+", "-", name).lower()


def chosen(roots: Iterable[str] = NEEDED) -> dict[str, str]:
    """{package: its lines in our locks, without a marker} of the roots and all that they require in Pyodide.

    Raises `LabError` for a package that no lock has for Pyodide's Python.
    """
    from packaging.requirements import Requirement

    locked: dict[str, str] = {}
    for lock in ("lab", "site"):
        text = (ROOT / "locks" / f"{lock}.txt").read_text(encoding="utf-8")
        for lines in re.findall(r"^[\w.-]+==.*(?:\n    .*)*\n", text, re.M):
            pin = Requirement(lines.partition(" \\\n")[0])
            if pin.marker is None or pin.marker.evaluate(PYODIDE):
                # Without the marker, which pip would read for its own Python.
                locked[normal(pin.name)] = re.sub(r" ;.*(?= \\\n)", "", lines, count=1)
    requires = json.loads((ROOT / "locks" / "requires.json").read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    wanted = [normal(name) for name in roots]
    while wanted:
        name = wanted.pop()
        if name in found or name in LEFT_OUT:
            continue
        if name not in locked:
            raise LabError(f"No lock has {name} for Python {PYODIDE['python_version']}: make update KEEP=1 adds it.")
        found[name] = locked[name]
        for line in requires[locked[name].split()[0]]:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate(PYODIDE):
                wanted.append(normal(needed.name))
    return dict(sorted(found.items()))


def download(lines: Iterable[str], into: Path) -> list[Path]:
    """Fetch the wheels of these lines of locks, each by its hash. Raises `LabError` if one cannot be had."""
    with tempfile.TemporaryDirectory() as made:
        wanted = Path(made, "wanted.txt")
        wanted.write_text("".join(lines), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", "--platform", "any", "--python-version", PYODIDE["python_version"]]
        command += ["--require-hashes", "--requirement", str(wanted), "--dest", str(into)]
        if subprocess.run(command, check=False).returncode:
            raise LabError("pip could not fetch the packages of JupyterLite's kernel; the lines above say why.")
    return sorted(into.glob("*.whl"))


def as_wheel(
    archive: Path, name: str, version: str, tag: str, into: Path, extra: dict[str, bytes] | None = None
) -> Path:
    """Write an archive of importable files as a wheel, with `extra` files by their paths. Returns the wheel."""
    wheel = into / f"{name}-{version}-{tag}.whl"
    about = f"{name}-{version}.dist-info"
    shutil.copyfile(archive, wheel)
    with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED) as file:
        for path, data in (extra or {}).items():
            file.writestr(path, data)
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
        file.writestr(f"{about}/RECORD", "")
    return wheel


def built_for_pyodide(folder: Path | None, into: Path) -> list[Path]:
    """Copy NumPy and ml_dtypes from a folder as wheels, and those of Pyodide's own wheels that lie there.

    So a folder with Pyodide's matplotlib and what it needs gives the lab its plots. Raises `LabError` if NumPy or
    ml_dtypes is missing, and for a file that has the name of one of Pyodide's wheels, and other contents.
    """
    found = []
    for name, archive in packages.for_pyodide(folder).items():
        if archive.suffix == ".whl":
            found.append(Path(shutil.copy(archive, into)))
        else:
            found.append(as_wheel(archive, name, archive.name.split("-")[1], ABI, into))
    known = json.loads((into / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    for entry in known.values():
        wheel = folder / entry["file_name"] if folder else Path()
        if wheel.is_file():
            if hashlib.sha256(wheel.read_bytes()).hexdigest() != entry["sha256"]:
                raise LabError(f"{wheel.name} is not the file that Pyodide {packages.PYODIDE.version} names.")
            found.append(Path(shutil.copy(wheel, into)))
    return sorted(set(found))


def write_lock(folder: Path, depends: dict[str, list[str]]) -> None:
    """Replace the packages in the folder's pyodide-lock.json by the wheels that lie there.

    depends: {package: the packages that are loaded with it}, for those whose imports alone do not say so.
    """
    file = folder / "pyodide-lock.json"
    lock = json.loads(file.read_text(encoding="utf-8"))
    old, found = lock["packages"], {}
    for wheel in sorted(folder.glob("*.whl")):
        name, version = wheel.name.split("-")[:2]
        key = normal(name)
        found[key] = {
            "name": key,
            "version": version,
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": _imports(wheel),
            "depends": depends.get(key) or _known(old, key),
            "unvendored_tests": False,
        }
    for entry in found.values():
        entry["depends"] = [name for name in map(normal, entry["depends"]) if name in found]
    lock["packages"] = found
    file.write_text(json.dumps(lock), encoding="utf-8")


def _known(old: dict[str, Any], name: str) -> list[str]:
    return next((entry["depends"] for key, entry in old.items() if normal(key) == name), [])


def _imports(wheel: Path) -> list[str]:
    """The modules that a wheel brings, by their top-level names."""
    with zipfile.ZipFile(wheel) as file:
        tops = {name.partition("/")[0] for name in file.namelist() if name.endswith(".py") or "/" in name}
    names = {top.removesuffix(".py") for top in tops if not top.endswith((".dist-info", ".data", ".libs"))}
    return sorted(name for name in names if name.isidentifier())
