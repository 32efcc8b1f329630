"""A card: the frame around everything that the lab shows, with labelled facts, parts that open, and remarks."""

from __future__ import annotations

from html import escape

from gemm_lab.cards.theme import tag


def card(body: str, colour: str = "") -> str:
    """A frame around HTML; `colour` is that of its left edge and says at a glance what it is about."""
    edge = {"border_left": f"4px solid {colour}"} if colour else {}
    return tag("div", "card", body, **edge)


def facts(pairs: list[tuple[str, str]]) -> str:
    """Labelled values side by side; they wrap where the notebook is narrow."""
    cells = (
        tag("div", "fact", f"{tag('span', 'label', escape(label))}<br><b>{escape(value)}</b>") for label, value in pairs
    )
    return tag("div", "facts", "".join(cells))


def folded(title: str, body: str) -> str:
    """A part that opens on a click."""
    return tag("details", "folded", tag("summary", "summary", escape(title)) + body)


def remark(text: str, style: str = "muted") -> str:
    """A line of its own in a style of the theme: "muted", "small", "warn", "bad" or "good"."""
    return tag("div", style, escape(text))


def printed(text: str) -> str:
    """Text of a program, in its own lines, which wrap."""
    return tag("pre", "printed", escape(text))


def picture(png: str, alt: str) -> str:
    """A PNG, given in base64, no wider than a cell of a notebook; `alt` says in words what it shows."""
    return tag("img", "picture", attributes={"alt": alt, "src": f"data:image/png;base64,{png}"})
