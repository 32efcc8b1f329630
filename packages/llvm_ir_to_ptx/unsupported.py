"""The error for LLVM IR that cannot be translated."""

from __future__ import annotations


class UnsupportedIR(Exception):
    """A construct of LLVM IR that has no translation here; the message names it, and its source line where known.

    construct: what it is, as the subject of a sentence.   where: (file, line) of the source, or None.
    """

    def __init__(self, construct: str, where: tuple[str, int] | None = None):
        self.construct, self.where = construct, where
        place = f" ({where[0]}, line {where[1]})" if where else ""
        super().__init__(f"{construct} cannot be translated into PTX here{place}.")


def shortened(text: str, most: int = 100) -> str:
    """The text in one line, cut to `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
