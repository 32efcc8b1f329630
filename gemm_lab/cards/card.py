"""HTML of cards: the frame around everything that the lab shows, labelled facts, parts that unfold, remarks."""

from __future__ import annotations

from html import escape

from gemm_lab.cards.theme import tag


def card(body: str, colour: str = "") -> str:
    """A frame around the HTML `body`. colour: that of the left edge, which tells kinds of cards apart."""
    edge = {"border_left": f"4px solid {colour}"} if colour else {}
    return tag("div", "card", body, **edge)


def facts(pairs: list[tuple[str, str]]) -> str:
    """(label, value) pairs side by side; they wrap if the notebook is narrow."""
    cells = (
        tag("div", "fact", f"{tag('span', 'label', escape(label))}<br><b>{escape(value)}</b>") for label, value in pairs
    )
    return tag("div", "facts", "".join(cells))


def folded(title: str, body: str) -> str:
    """A part that is closed, except for its title, until it is clicked. body: HTML."""
    return tag("details", "folded", tag("summary", "summary", escape(title)) + body)


def remark(text: str, style: str = "muted") -> str:
    """A line of text in a style of the theme: "muted", "small", "warn", "bad" or "good"."""
    return tag("div", style, escape(text))


def printed(text: str) -> str:
    """Output of a program: its line breaks are kept, and long lines wrap."""
    return tag("pre", "printed", escape(text))


def picture(png: str, alt: str) -> str:
    """A PNG, given in base64, no wider than a cell of a notebook. alt: what it shows, in words."""
    return tag("img", "picture", attributes={"alt": alt, "src": f"data:image/png;base64,{png}"})
