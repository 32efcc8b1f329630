"""The errors that a learner can meet. Each message is a sentence: what is wrong, and what would work.

Errors that need more than a message are defined where they are raised (`compiler/diagnostics.py`, `gpu_runner`). They
inherit from `LabError`, so that `except LabError` catches everything that the lab raises on purpose.
"""

from __future__ import annotations

import sys
from html import escape

WITHOUT_MACHINE_CODE = (
    "it was compiled without NVIDIA's compiler, which makes the machine code and counts the registers. "
    + (
        "In a web page that compiler does not run; on your machine, this cell works."
        if sys.platform == "emscripten"
        else "On Linux and Windows: pip install cuda-bindings 'cuda-toolkit[nvrtc,cudart,crt,cccl]' psutil"
    )
)


class LabError(Exception):
    """An error that the learner can correct; `str(error)` says how."""

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        return f"<p><b>✗ {escape(type(self).__name__)}</b>: {escape(self.message)}</p>"


class UnknownKernel(LabError):
    """No kernel or ladder has this name; the message lists names that are close."""


class SizeError(LabError):
    """A matrix size that a kernel or a tiling does not support; the message names one that works."""


class ConfigError(LabError):
    """A configuration value, name or environment variable that cannot be used."""


class LaunchError(LabError):
    """A kernel that cannot be launched: wrong arguments, or more resources than an SM has."""


class NotJudged(LabError):
    """The work stopped because of the machine, not because of the answer: a process was killed, a file not written.

    It is neither a pass nor a fail. Checks let this error propagate, and `gemm_lab_classroom.grading` gives it a
    verdict of its own.
    """


class MissingDependency(LabError):
    """A required package is not installed; the message says what to install."""


class NotHere(MissingDependency):
    """What is required cannot be had here, such as machine code in a web page. A notebook shows it as a note."""
