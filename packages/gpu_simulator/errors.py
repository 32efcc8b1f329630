"""The errors that the simulator raises on purpose. Each message is a sentence: what is wrong, and what would work.

Those of one package or with more than a message are defined where they are raised (`compiler/diagnostics.py`). All
inherit from `SimulatorError`, as do those of the packages that use this one; `except SimulatorError` catches them all.
"""

from __future__ import annotations

import sys
from html import escape

NVRTC = "cuda-bindings 'cuda-toolkit[nvrtc,cudart,crt,cccl]' psutil"  # packages of the extra `compiler`
WITHOUT_MACHINE_CODE = (
    "it was compiled without NVIDIA's compiler, which makes the machine code and counts the registers. "
    + (
        "In a web page that compiler does not run; on your machine, this cell works."
        if sys.platform == "emscripten"
        else f"On Linux and Windows: pip install {NVRTC}"
    )
)


def install_command(extra: str, packages: str) -> str:
    """What to type for an extra of gpu_simulator: its name, or its packages where it was not installed by this name."""
    from importlib.metadata import PackageNotFoundError, distribution  # few need it

    try:
        distribution("gpu_simulator")
    except PackageNotFoundError:
        return f"pip install {packages}"
    return f'pip install "gpu_simulator[{extra}]"'


class SimulatorError(Exception):
    """An error that its reader can correct; `str(error)` says how."""

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        return f"<p><b>✗ {escape(type(self).__name__)}</b>: {escape(self.message)}</p>"


LabError = SimulatorError  # its name in 1.0, which answers until 2.0


class SizeError(SimulatorError):
    """A matrix size that a kernel or a tiling does not support; the message names one that works."""


class ConfigError(SimulatorError):
    """A configuration value, name or environment variable that cannot be used."""


class LaunchError(SimulatorError):
    """A kernel that cannot be launched: wrong arguments, or more resources than an SM has."""


class MissingDependency(SimulatorError):
    """A required package is not installed; the message says what to install."""


class NotHere(MissingDependency):
    """What is required cannot be had here, such as machine code in a web page. A notebook shows it as a note."""
