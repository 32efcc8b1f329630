"""The functions that generated code calls by name."""

from __future__ import annotations

RUNTIME: dict = {}


def runtime(function):
    """Make a function callable by its name from generated code."""
    RUNTIME[function.__name__] = function
    return function
