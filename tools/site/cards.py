"""The colours of cards on the site. A notebook's card has one colour for light and dark pages; the site knows the page.

No colour has a contrast of 4.5 to 1, which WCAG asks for, with both a white and a nearly black page. So stored cards
keep the colours of `gemm_look.theme`, and a style sheet of the site darkens them on light pages and lightens them
on dark ones.
"""

from __future__ import annotations

from gemm_look import theme
from gemm_look.style import contrast

COLOURS = (
    theme.GOOD,
    theme.BAD,
    theme.WARN,
    theme.NOTE,
    theme.TASK,
    theme.CLOSE,
    theme.CODE_WORD,
    theme.CODE_VALUE,
    theme.CODE_COMMENT,
)
# The page, and towards which colour that of a text moves until it is legible.
LIGHT, DARK = ("#ffffff", "#000000"), ("#131416", "#ffffff")
ENOUGH = 5.5  # to 1: more than 4.5, because some cards have a translucent tint below the text
STEPS = 100


def legible(colour: str, paper: str, towards: str) -> str:
    """The first colour on the way from `colour` to `towards` that has enough contrast with `paper`."""
    for step in range(STEPS):
        part = step / STEPS
        pairs = ((int(colour[at : at + 2], 16), int(towards[at : at + 2], 16)) for at in (1, 3, 5))
        mixed = "#" + "".join(f"{round(here * (1 - part) + there * part):02x}" for here, there in pairs)
        if contrast(mixed, paper) >= ENOUGH:
            return mixed
    return towards


def style_sheet() -> str:
    """CSS that replaces the colours of text in cards; their styles are inline, so each rule is `!important`."""
    rules = ["/* Made from the colours of packages/gemm_look/theme.py by tools/site/cards.py. */"]
    for colour in dict.fromkeys(COLOURS):
        for page, (paper, towards) in (("body", LIGHT), ('body[data-jp-theme-light="false"]', DARK)):
            chosen = f':is([style^="color:{colour}"], [style*=";color:{colour}"])'
            rules.append(f"{page} article {chosen} {{ color: {legible(colour, paper, towards)} !important; }}")
    return "\n".join(rules) + "\n"
