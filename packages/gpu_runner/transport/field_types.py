"""Checks whether a value has the type that a field requires, and converts it where only the form differs.

Types are given as Python's hints: `int`, `tuple[int, ...]`, `str | None`. A hint may also be a mapping of names to
hints: it stands for a dictionary with these keys, of which those that begin with "?" may be missing; "*" allows others.
A list is accepted for a tuple and a tuple for a list, because callers use both; a whole number is accepted for a float,
and NumPy's numbers for Python's.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union

import numpy as np


def fitted(value: Any, hint: Any, name: str) -> Any:
    """The value, converted where only the form differs. Raises `ValueError` that names the field that does not fit."""
    if hint is Any:
        return value
    if isinstance(hint, Mapping):
        return _keys(value, hint, name)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        for one in inner:
            try:
                return fitted(value, one, name)
            except ValueError:
                continue
        raise _wrong(value, hint, name)
    if origin is Literal:
        if not isinstance(value, (str, int)) or value not in inner:
            raise _wrong(value, hint, name)
        return value
    if (origin or hint) in (list, tuple):
        return _sequence(value, origin or hint, inner, name)
    if (origin or hint) is dict:
        if not isinstance(value, dict):
            raise _wrong(value, hint, name)
        key, item = inner or (Any, Any)
        return {fitted(k, key, name): fitted(v, item, name) for k, v in value.items()}
    return _single(value, hint, name)


def _single(value: Any, hint: Any, name: str) -> Any:
    if hint is None or hint is type(None):
        if value is not None:
            raise _wrong(value, hint, name)
        return None
    if hint is bool:
        if not isinstance(value, (bool, np.bool_)):
            raise _wrong(value, hint, name)
        return bool(value)
    if hint is int and isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if hint is float and isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return float(value)
    if hint in (int, float) or not isinstance(value, hint):
        raise _wrong(value, hint, name)
    return value


def _sequence(value: Any, kind: type, inner: tuple[Any, ...], name: str) -> Any:
    if not isinstance(value, (list, tuple)):
        raise _wrong(value, kind, name)
    if not inner:
        return kind(value)
    if kind is list or inner[-1] is Ellipsis:
        return kind(fitted(item, inner[0], name) for item in value)
    if len(value) != len(inner):
        raise ValueError(f"{name} has {len(value)} parts and should have {len(inner)}.")
    return kind(fitted(item, one, name) for item, one in zip(value, inner, strict=True))


def _keys(value: Any, hints: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(value, dict, name)
    allowed = {key.removeprefix("?"): hint for key, hint in hints.items() if key != "*"}
    unknown = [key for key in value if key not in allowed and "*" not in hints]
    missing = [key for key in allowed if key in hints and key not in value]
    if unknown or missing:
        said = f"no {unknown[0]!s:.40}" if unknown else f"a {missing[0]}"
        raise ValueError(f"{name} should have {said}.")
    return {key: fitted(item, allowed.get(key, Any), f"{name}.{key}") for key, item in value.items()}


def _wrong(value: Any, hint: Any, name: str) -> ValueError:
    wanted = getattr(hint, "__name__", str(hint)).replace("typing.", "")
    return ValueError(f"{name} is a {type(value).__name__} and should be {wanted}.")
