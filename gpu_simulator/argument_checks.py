"""What a learner may give a function: checks by its annotations, and how a message shows what was given."""

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
    """`value` as an int if it is a whole number of Python or NumPy; None for anything else, True and False too."""
    if "bool" in type(value).__name__:
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except Exception:  # TypeError, or whatever a class of the caller raises
        return None


def shown(value: object, most: int = 60) -> str:
    """`repr(value)` on one line and cut to `most` characters, for a message."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of the value's own class
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else text[: most - 1] + "…"


_WHOLES = re.compile(r"tuple\[int(, int)+\]$")
_WORDS = {"int": "a whole number", "float": "a number", "str": "a text in quotes", "bool": "True or False"}


def checked(function: F) -> F:
    """Check what a function is given by its annotations: a wrong type is a `ConfigError` that names the argument.

    Looked at are int, float, str, bool, None, tuples of so many int, and classes by name, also joined by `|`; an
    argument annotated with anything else passes. A whole number of NumPy arrives as an int, a list of them as a tuple.
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
    """The parts of an annotation that `checked` understands; none where there is a part that it does not."""
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
