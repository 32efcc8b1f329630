"""Compiles CUDA C++ to shared libraries with nvcc, and caches them on disk.

This serves baselines with host code, which NVRTC cannot compile. A learner's code is never compiled this way. nvcc is
part of the CUDA toolkit and may be missing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gpu_runner.faults import RunnerError
from gpu_runner.settings import libraries_dir
from gpu_simulator.errors import MissingDependency, SimulatorError

FLAGS = ("-shared", "-O3", "-std=c++17", "--expt-relaxed-constexpr", "-Xcompiler=-fPIC", "-cudart=static", "-DNDEBUG")
BUILD_LIMIT_S = 500.0
USUAL_FOLDERS = ("/usr/local/cuda/bin", "/opt/cuda/bin")


class BuildError(RunnerError):
    """nvcc could not compile a source; the message has its first error."""


@dataclass(frozen=True)
class Build:
    """One shared library: its source, macros, header folders, and exact architecture ("sm_90a").

    `headers` is the version of the headers in these folders; it is part of the library's name in the cache.
    """

    source: Path
    defines: Mapping[str, str | int]
    includes: tuple[Path, ...]
    arch: str
    headers: str

    def target(self, nvcc: Path) -> Path:
        """The path of the library in the cache. Its name is a hash of everything that can change the machine code."""
        text = self.source.read_text(encoding="utf-8")
        parts = (version(nvcc), FLAGS, text, sorted(self.defines.items()), self.arch, self.headers)
        return libraries_dir() / f"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}.so"


def find() -> Path:
    """The path of nvcc, from PATH, CUDA_HOME, CUDA_PATH or the toolkit's usual folders. Raises MissingDependency."""
    homes = [f"{os.environ[name]}/bin" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    for folder in (None, *homes, *USUAL_FOLDERS):
        found = shutil.which("nvcc", path=folder)
        if found:
            return Path(found)
    raise MissingDependency(
        "nvcc was not found on PATH, in CUDA_HOME or in /usr/local/cuda; it is part of the CUDA toolkit, "
        "which has to be installed for this."
    )


@lru_cache(maxsize=4)
def version(nvcc: Path) -> str:
    """The exact version of nvcc, such as "13.0.88". Raises MissingDependency."""
    try:
        said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingDependency(f"{nvcc} does not run ({error}); install the CUDA toolkit again.") from None
    match = re.search(r"\bV(\d+\.\d+\.\d+)", said)
    if not match:
        raise MissingDependency(f"{nvcc} does not say its version; is it NVIDIA's compiler?")
    return match[1]


def shared_library(build: Build, nvcc: Path) -> Path:
    """The path of the library of `build`, which is built if it is not in the cache. Raises BuildError."""
    target = build.target(nvcc)
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / "made.so"
        command = [nvcc, *FLAGS, f"-arch={build.arch}", *(f"-I{path}" for path in build.includes)]
        command += [f"-D{name}={value}" for name, value in build.defines.items()]
        try:
            done = subprocess.run(
                [*command, build.source, "-o", made], capture_output=True, text=True, timeout=BUILD_LIMIT_S
            )
        except subprocess.TimeoutExpired:
            raise BuildError(f"nvcc had not finished after {BUILD_LIMIT_S:g} s.") from None
        if done.returncode != 0 or not made.is_file():
            raise BuildError(f"nvcc did not build it: {first_error(done.stderr + done.stdout)}")
        made.replace(target)
    return target


def shared_libraries(
    builds: Mapping[str, Build], nvcc: Path, report: Callable[[str, int, int], None] = lambda name, done, total: None
) -> dict[str, Path | str]:
    """Build several libraries in parallel, one per processor: name -> the library's path, or why there is none.

    `report` is called with ("", 0, total) at the beginning and with (name, done, total) after each build. Libraries
    that are already in the cache are not reported.
    """
    targets = {name: build.target(nvcc) for name, build in builds.items()}
    found: dict[str, Path | str] = {name: path for name, path in targets.items() if path.is_file()}
    missing = [name for name in builds if name not in found]
    with ThreadPoolExecutor(min(len(missing), os.cpu_count() or 1) or 1) as pool:
        if missing:
            report("", 0, len(missing))
        running = {pool.submit(shared_library, builds[name], nvcc): name for name in missing}
        for done, future in enumerate(as_completed(running), 1):
            name = running[future]
            try:
                found[name] = future.result()
            except (SimulatorError, OSError) as error:
                found[name] = str(error)
            report(name, done, len(missing))
    return {name: found[name] for name in builds}


def first_error(text: str) -> str:
    """The first line of nvcc's output that is an error, without the folders in its path; else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = next((line for line in lines if re.search(r"\b(error|fatal)\b", line)), lines[-1] if lines else "no reason")
    return re.sub(r"^\S*/([^/\s]+)", r"\1", line)[:300]
