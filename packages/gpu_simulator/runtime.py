"""The functions that generated code calls by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
RUNTIME: dict = {}


def runtime(function: Function) -> Function:
    """Make a function callable by its name from generated code."""
    RUNTIME[function.__name__] = function
    return function
