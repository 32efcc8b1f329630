"""The puzzles and exercises whose check has passed, kept from one session to the next for `lab.progress()`."""

from __future__ import annotations

from gemm_lab.notebook.remembered.kept import Kept

_kept = Kept("solved.json")


def remember(name: str) -> None:
    """Remember that the check of a puzzle or an exercise has passed. Raises nothing, even if the disk is read-only."""
    if name not in _kept.load():
        _kept.store(name, True)


def solved_so_far() -> frozenset[str]:
    """The names of all puzzles and exercises whose check has passed."""
    return frozenset(_kept.load())


def unsaved() -> str:
    """Why the last of them could not be saved, or why the next one cannot be; "" if all is well."""
    return _kept.problem or _kept.unwritable()
