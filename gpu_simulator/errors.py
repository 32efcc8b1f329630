"""The errors a learner can meet. Each message is a sentence: what is wrong, and what would work.

Errors that need more than a message live where they arise (`compiler/diagnostics.py`, `gpu_runner`) and inherit
from `LabError`, so that `except LabError` catches everything the lab raises on purpose.
"""

from __future__ import annotations

from html import escape


class LabError(Exception):
    """Something the learner can put right; `str(error)` is the sentence that says how."""

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(type(self).__name__)}</b>: {escape(self.message)}</p>"


class UnknownKernel(LabError):
    """No kernel or ladder has this name; the message lists names that are close."""


class SizeError(LabError):
    """A matrix size that a kernel or a tiling cannot take; the message names one that works."""


class ConfigError(LabError):
    """A configuration value, name or environment variable that cannot be used."""


class LaunchError(LabError):
    """A kernel that cannot be started here: wrong arguments, or more resources than an SM has."""


class NotJudged(LabError):
    """The machine, not the answer, ended the work: a process was killed, or no file could be written.

    It is neither a pass nor a fail. Whoever judges lets it through, and `classroom.grading` makes it the third verdict.
    """


class MissingDependency(LabError):
    """A package that is not installed; the message says what to install."""
