"""Compiles CUDA source for tests, with a cache on disk.

A test is skipped if NVRTC is not installed, or if it includes headers of the kernels and is not in their checkout.
"""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from gpu_simulator import compiler
from gpu_simulator.compiler import clang, nvrtc_library
from gpu_simulator.errors import MissingDependency

USER = os.getuid() if hasattr(os, "getuid") else ""
CACHE = Path(tempfile.gettempdir()) / f"gpu_simulator_tests_{USER}"
HEADERS = Path(__file__).resolve().parents[3] / "kernels" / "include"


def is_here() -> bool:
    """Whether CUDA source can be compiled."""
    try:
        return bool(nvrtc_library.toolkit_includes()) and find_spec("psutil") is not None
    except MissingDependency:
        return False


def need_compiler() -> None:
    """Skip the test, or the module, if CUDA source cannot be compiled."""
    if not is_here():
        pytest.skip("NVRTC is not installed: pip install 'gpu_simulator[compiler]'", allow_module_level=True)


def need_clang() -> None:
    """Skip the test if clang is not installed."""
    if not clang.installed():
        pytest.skip("clang is not installed: pip install 'gpu_simulator[clang]'")


def compile(source, **options):
    """`gpu_simulator.compiler.compile` with the tests' cache, and the headers of the kernels for who includes them."""
    need_compiler()
    if '#include "ptx/' in source:
        if not HEADERS.is_dir():
            pytest.skip("kernels/include of the checkout is not here", allow_module_level=True)
        options = {"include": [HEADERS], **options}
    return compiler.compile(source, **{"cache": CACHE, **options})
