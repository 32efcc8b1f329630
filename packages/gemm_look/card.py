"""HTML of cards: the frame around everything that the lab shows, labelled facts, parts that unfold, remarks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from gemm_look.theme import tag

# A place as the simulator writes it: the line, then the header inlined there, the instruction and the line of PTX.
_INSTRUCTION = re.compile(
    r"(\S+:\d+)(?: \((?:inlined|called) from [^()]*\))?, [a-z]\w*(?:(?:\.|::)\w+)+(?:, PTX line \d+)?"
)

SHOWN_OUTPUT = 4000  # characters of printf output
LEFT, RIGHT = {"align": "left"}, {"align": "right"}  # of labels and of numbers, for viewers that drop styles


def card(body: str, colour: str = "") -> str:
    """A frame around the HTML `body`. colour: that of the left edge, which tells kinds of cards apart."""
    edge = {"border_left": f"4px solid {colour}"} if colour else {}
    return tag("div", "card", body, **edge)


def mark(good: bool) -> str:
    """✓ or ✗, which stands before a verdict, so that its colour is not the only sign."""
    return "✓" if good else "✗"


def facts(pairs: Sequence[tuple[str, str]], row: str = "fact") -> str:
    """(label, value) pairs as a table with a row for each.

    Its styles put the rows side by side, where they wrap if the notebook is narrow. row: the style of a row.
    """
    rows = (
        tag("tr", row, tag("th", "label", escape(label), attributes=LEFT) + tag("td", "fact value", escape(value)))
        for label, value in pairs
    )
    return tag("table", "facts", tag("tbody", "facts body", "".join(rows))) if pairs else ""


def folded(title: str, body: str) -> str:
    """A part that is closed, except for its title, until it is clicked. body: HTML."""
    return tag("details", "folded", tag("summary", "summary", escape(title)) + body)


def message(text: str) -> str:
    """A message of the simulator: lines of the source alone; with its headers and instructions, it is folded below."""
    short = _INSTRUCTION.sub(r"\1", text)
    return escape(short) + (folded("with headers and instructions", escape(text)) if short != text else "")


def remark(text: str, style: str = "muted") -> str:
    """A line of text in a style of the theme: "muted", "small", "warn", "bad" or "good"."""
    return tag("div", style, escape(text))


def first_of(output: str) -> str:
    """The beginning of what a kernel printed, at most `SHOWN_OUTPUT` characters; its `.output` has all of it."""
    text = output.strip()
    more = f"\n… {len(text) - SHOWN_OUTPUT:,} more characters, in .output" if len(text) > SHOWN_OUTPUT else ""
    return text[:SHOWN_OUTPUT] + more


def printed(text: str) -> str:
    """Output of a program: its line breaks are kept, and long lines wrap."""
    return tag("pre", "printed", escape(text))
