"""What the live page takes from npm and from a folder of packages for Pyodide: fetched, checked and unpacked."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from gemm_results.errors import LabError


@dataclass(frozen=True)
class Npm:
    """A package of npm at one version. sha512: of its file, as npm gives it.   files: what the page needs of it."""

    name: str
    version: str
    sha512: str
    files: tuple[str, ...]

    @property
    def file(self) -> str:
        """The name that `npm pack` gives its file."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"


PYODIDE = Npm(
    "pyodide",
    "314.0.7",
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==",
    ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"),
)
CLANG = Npm(
    "@yowasp/clang",
    "22.0.0-git20542-10",
    "V31/z9GrJECKeACTDUyvg2llbEUiFi3bxtL5HSg7H/6sydSxdI/AoVAD9F5ozrfLjotWl0B9rghR87m+DUM/zg==",
    ("gen/bundle.js", "gen/llvm.core.wasm", "gen/llvm.core2.wasm", "gen/llvm.core3.wasm", "gen/llvm.core4.wasm"),
)
ACE = Npm(
    "ace-builds",
    "1.45.2",
    "a0IADaETGBnBW5CIkniUJn7F+NyTuHWKqlv1A8FXaMmFflJsMGnU3TzkiyslInqIZ3odfcVKOdXBGIKBefzFDA==",
    tuple(
        f"src-min-noconflict/{name}.js"
        for name in ("ace", "mode-c_cpp", "theme-chrome", "theme-tomorrow_night", "ext-searchbox")
    ),
)
AXE = Npm(  # for the tests of the site: the rules of accessible pages
    "axe-core",
    "4.14.1",
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    ("axe.min.js",),
)
NEEDED = ("numpy", "ml_dtypes")  # packages built for Pyodide, as NAME-VERSION-*.zip or .whl


def unpacked(package: Npm, into: Path, cache: Path) -> None:
    """Put the package's files into a folder, without the folders that they have in the package.

    cache: where its file is kept. Raises `LabError` if npm cannot fetch it, or if it is not the file that it was.
    """
    cache.mkdir(parents=True, exist_ok=True)
    archive = cache / package.file
    if not archive.is_file():
        npm = shutil.which("npm")
        if npm is None:
            raise LabError("The live page needs npm, which comes with Node.js: install it, or leave the live page out.")
        done = subprocess.run(
            [npm, "pack", "--silent", f"{package.name}@{package.version}"],
            cwd=cache,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not archive.is_file():
            raise LabError(f"npm could not fetch {package.name} {package.version}: {done.stderr.strip()[-300:]}")
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package.sha512:
        archive.unlink()
        raise LabError(f"{package.file} is not the file that it was when this version was chosen; it was deleted.")
    into.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        for name in package.files:
            data = tar.extractfile(f"package/{name}")
            assert data is not None, name
            (into / name.rsplit("/", 1)[-1]).write_bytes(data.read())


def for_pyodide(folder: Path | None) -> dict[str, Path]:
    """{package: its file} in a folder of packages that were built for Pyodide.

    Raises `LabError` that names what is missing.
    """
    found = {}
    for name in NEEDED:
        files = sorted(folder.glob(f"{name}-*.zip")) + sorted(folder.glob(f"{name}-*.whl")) if folder else []
        if files:
            found[name] = files[-1]
    if missing := [name for name in NEEDED if name not in found]:
        raise LabError(
            f"The live page needs {' and '.join(missing)} built for Pyodide {PYODIDE.version}: "
            "name the folder that has them, make site WASM_WHEELS=FOLDER."
        )
    return found
