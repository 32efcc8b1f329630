"""The simulator's messages as the live page shows them: the sentence at its line, and what else is known, folded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

# A place as the simulator writes it: "cell:12 (called from line 20), ld.shared.f32, PTX line 37".
_PLACE = re.compile(
    r"(?P<file>[\w./-]+\.\w+|cell):(?P<line>\d+)(?: \((?P<how>[^()]*)\))?(?:, (?P<code>[a-z][\w.:]*, PTX line \d+))?"
)
_OF_THE_PAGE = re.compile(r"inlined from \S+(?:, )?")
_END = re.compile(r"(?<=[.:])\s+(?=[A-Z])")  # of the first sentence


class Note(NamedTuple):
    """line: of the editor, from 1, or 0.   text: a sentence.   more: what else is known, or ""."""

    line: int
    text: str
    more: str = ""


def note(line: int, message: str, own: Callable[[str | None, int], int]) -> Note:
    """The note of a message. line: of the editor, or 0.   own: a file and its line -> the line of the editor, or 0."""
    details = []

    def in_words(place: re.Match) -> str:
        here = own(place["file"], int(place["line"]))
        calls = _OF_THE_PAGE.sub("", place["how"] or "")
        at = f"line {here}" if here else f"line {place['line']} of {place['file']}"
        if place["code"]:
            details.append(f"{at}: {place['code']}")
        return f"{at} ({calls})" if calls else at

    text = _PLACE.sub(in_words, message)
    if line:  # it is said beside the sentence
        text = re.sub(rf"^line {line}\b(?: \([^()]*\))?: ", "", text)
        text = re.sub(rf"; line {line}\.?$|; line {line}(?=\. )", ".", text).replace("..", ".")
    first, *rest = _END.split(text, maxsplit=1)
    first = re.sub(r"^(?:block|thread|lane|warp)s?\b", lambda word: word[0].capitalize(), first)
    return Note(line, first, " ".join([*rest, *(f"At {one}." for one in details)]))
