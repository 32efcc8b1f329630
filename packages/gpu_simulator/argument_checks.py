"""Checks the arguments of a call against the function's annotations, and formats values for error messages."""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
import re
from collections.abc import Callable
from typing import Any, TypeVar

from gpu_simulator.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])


def as_whole(value: object) -> int | None:
    """`value` as an int if it is an integer of Python or NumPy; None for anything else, including True and False."""
    if "bool" in type(value).__name__:
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except Exception:  # TypeError, or any error from the value's own __index__
        return None


def shown(value: object, most: int = 60) -> str:
    """`repr(value)` for a message: on one line, and cut to `most` characters."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # from the value's own __repr__
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else text[: most - 1] + "…"


_WHOLES = re.compile(r"tuple\[int(, int)+\]$")
_WORDS = {"int": "a whole number", "float": "a number", "str": "a text in quotes", "bool": "True or False"}


def checked(function: F) -> F:
    """Decorator that checks arguments against annotations; a wrong type raises a `ConfigError` that names the argument.

    Supported annotations are int, float, str, bool, None, tuple[int, …], classes by name, and unions of these with `|`;
    an argument with any other annotation is not checked. The function receives a NumPy integer as an int, and a list of
    integers as a tuple where a tuple is annotated.
    """
    signature = inspect.signature(function)
    kinds = {name: _kinds(parameter.annotation) for name, parameter in signature.parameters.items()}
    several = {
        name: parameter.kind
        for name, parameter in signature.parameters.items()
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        given = signature.bind(*args, **named)
        for name, value in given.arguments.items():
            if not kinds[name]:
                continue
            if several.get(name) == inspect.Parameter.VAR_POSITIONAL:
                given.arguments[name] = tuple(_fitting(item, kinds[name], name) for item in value)
            elif name in several:
                given.arguments[name] = {key: _fitting(item, kinds[name], key) for key, item in value.items()}
            else:
                given.arguments[name] = _fitting(value, kinds[name], name)
        return function(*given.args, **given.kwargs)

    return call  # type: ignore[return-value]


def _kinds(annotation: Any) -> tuple[str, ...]:
    """The alternatives of an annotation; empty if `checked` does not support all of them."""
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    parts = tuple(part.strip() for part in text.split("|"))
    known = all((part.isidentifier() and part not in ("Any", "object")) or _WHOLES.match(part) for part in parts)
    return parts if known and annotation is not inspect.Parameter.empty else ()


def _fitting(value: Any, kinds: tuple[str, ...], name: str) -> Any:
    if value is None and "None" in kinds:
        return value
    classes = {cls.__name__ for cls in type(value).__mro__}
    truth = bool(classes & {"bool", "bool_"})
    if truth and "bool" in kinds:
        return bool(value)
    if classes & set(kinds) and not truth:
        return value
    number = as_whole(value)
    if number is not None and "int" in kinds:
        return number
    if "float" in kinds and not truth and isinstance(value, numbers.Real):
        return value
    counts = {kind: kind.count("int") for kind in kinds if _WHOLES.match(kind)}
    if isinstance(value, (tuple, list)) and len(value) in counts.values():
        several = tuple(as_whole(item) for item in value)
        if None not in several:
            return several
    words = " or ".join(
        f"{counts[kind]} whole numbers in brackets" if kind in counts else _WORDS.get(kind, f"a {kind}")
        for kind in kinds
        if kind != "None"
    )
    raise ConfigError(f"{name} must be {words}{' or None' * ('None' in kinds)}, not {shown(value)}.")
