"""Permanently restricts this process: its access to files and the network, and its signals to other processes.

Landlock does this, a part of Linux since 5.13 that needs no privileges
(https://docs.kernel.org/userspace-api/landlock.html). On other systems nothing is restricted, and `available` says why.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path


def available() -> tuple[bool, str]:
    """Whether a process can be restricted here, and by what, or why not."""
    if not sys.platform.startswith("linux"):
        return False, f"Landlock is a part of Linux, and this is {sys.platform}"
    try:
        import landlockpy
    except ImportError:
        return False, "the package landlockpy is not installed"
    version = landlockpy.abi_version()
    if not version:
        return False, "this Linux has no Landlock, which Linux 5.13 and newer have"
    return True, f"Landlock, version {version}"


def confine(
    read: Iterable[Path], execute: Iterable[Path] = (), write: Iterable[Path] = (), names: Iterable[Path] = ()
) -> bool:
    """Restrict this thread, and what it starts, to the given files and folders; False if that is not possible.

    read: may be read.   execute: may also be executed.   write: may also be changed.   names: folders in which the
    names of files may be read, but not the files. What is open stays open; what does not exist is ignored. No TCP
    connection can be made or accepted.
    """
    if not available()[0]:
        return False
    from landlockpy import AccessFS, Ruleset, Scope

    reading = AccessFS.READ_FILE | AccessFS.READ_DIR
    making = AccessFS.MAKE_REG | AccessFS.MAKE_DIR | AccessFS.MAKE_SYM | AccessFS.MAKE_SOCK | AccessFS.MAKE_FIFO
    removing = AccessFS.REMOVE_FILE | AccessFS.REMOVE_DIR
    writing = reading | making | removing | AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.REFER
    of_files = AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.EXECUTE
    with Ruleset(scoped=Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET) as rules:
        for paths, access in (
            (read, reading),
            (execute, reading | AccessFS.EXECUTE),
            (write, writing),
            (names, AccessFS.READ_DIR),
        ):
            for path in paths:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    rules.allow_path(path, access if path.is_dir() else access & of_files)
        rules.restrict()
    return True
