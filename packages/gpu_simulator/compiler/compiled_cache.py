"""Stores compiled kernels on disk, as data and not as code, in a folder that only its user can read or change.

A file consists of a line that names the format, the SHA-256 of the rest, one line of JSON, and the CUBIN. An entry is
used if it is complete, was written by this user, and contains the key that was asked for; so a renamed file is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from gpu_simulator.compiler.diagnostics import Diagnostic

_FIRST = b"gemm_lab compiled kernel 1\n"
_TYPES = {"str": str, "int": int, "Mapping[str, str]": dict, "Mapping[str, int]": dict}


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


C = TypeVar("C", bound=_Dataclass)


def read(folder: Path, key: str, kind: type[C]) -> C | None:
    """The `Compiled` (kind) that was written under `key`; None if there is none that can be trusted."""
    try:
        descriptor = os.open(_own_folder(folder) / f"{key}.kernel", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not _own(os.fstat(file.fileno())):
                return None
            data = file.read()
        return _parsed(data, key, kind)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # there is none, or it is damaged: compile again
        return None


def write(folder: Path, key: str, compiled: Any) -> None:
    """Store a `Compiled` under `key`. If the disk is full or read-only, nothing is stored and no error raised."""
    facts = {field.name: getattr(compiled, field.name) for field in fields(compiled) if field.name != "cubin"}
    facts |= {
        "warnings": [asdict(warning) for warning in compiled.warnings],
        "config": dict(compiled.config),
        "files": dict(compiled.files),
    }
    body = json.dumps(facts).encode() + b"\n" + bytes(compiled.cubin)
    partial: Path | None = None
    try:
        path = _own_folder(folder) / f"{key}.kernel"
        partial = path.with_suffix(f".{os.getpid()}_{id(compiled):x}.part")
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_FIRST + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        partial.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            if partial is not None:
                partial.unlink()


def _own_folder(folder: Path) -> Path:
    """The folder, which belongs to this user and is closed to others. Raises `OSError` if this is not possible."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = os.lstat(folder)
    if not stat.S_ISDIR(facts.st_mode) or not _own(facts, writable_by_others=True):
        raise PermissionError(f"{folder} belongs to somebody else")
    if hasattr(os, "geteuid") and facts.st_mode & 0o077:
        folder.chmod(0o700)
    return folder


def _own(facts: os.stat_result, writable_by_others: bool = False) -> bool:
    """Whether a file belongs to this user and nobody else may write to it.

    With `writable_by_others`, only the owner is checked; the caller then changes the permissions.
    """
    if not hasattr(os, "geteuid"):  # Windows: a user's cache folder is closed to other users
        return True
    return facts.st_uid == os.geteuid() and (writable_by_others or not facts.st_mode & 0o022)


def _parsed(data: bytes, key: str, kind: type[C]) -> C | None:
    """The `Compiled` in the bytes of a file; None, or an error, if they are not one for this key."""
    first, digest, body = data[: len(_FIRST)], data[len(_FIRST) : len(_FIRST) + 64], data[len(_FIRST) + 65 :]
    if first != _FIRST or hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    text, _, cubin = body.partition(b"\n")
    facts = json.loads(text)
    if facts["key"] != key:
        return None
    for field in fields(kind):
        wanted = _TYPES.get(str(field.type))
        if wanted is not None and type(facts[field.name]) is not wanted:
            return None
    return kind(**{**facts, "cubin": cubin, "warnings": tuple(Diagnostic(**warning) for warning in facts["warnings"])})
