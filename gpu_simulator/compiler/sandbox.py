"""Take from this process, for good, what it does not need: files, the network, signals to others.

Landlock does it, a part of Linux since 5.13 that needs no rights (https://docs.kernel.org/userspace-api/landlock.html).
Elsewhere nothing is taken, and `available` says why.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path


def available() -> tuple[bool, str]:
    """Whether a process can be confined here, and with what, or why not."""
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
    """Leave this thread, and what it starts, the given files and folders and nothing else; False where that cannot be.

    execute: may be read and run, too.   write: may be read and changed, too.   names: folders in which the names of
    files may be read, and not the files. What is open stays open; what does not exist is left out. No TCP connection
    can be made or accepted.
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
