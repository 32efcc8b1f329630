"""The look of everything that a notebook shows as HTML: colours, sizes, and the function that writes the styles.

Styles are inline, because JupyterLab drops style sheets from the outputs of untrusted notebooks. Colours are plain
numbers, because it drops CSS variables too. The colours of text and background are those of the page, so a card is
light in a light theme and dark in a dark one. The colours below are legible on both: each has a contrast of at least
4 to 1 with white and with JupyterLab's dark background. Tints are translucent for the same reason.

Some viewers, such as GitHub's, drop every style. So styles only arrange and emphasise: labels and values are cells of
tables, a verdict begins with ✓ or ✗, and what is lit has a mark of its own. Sizes are in em, so that a page with larger
letters enlarges a card as a whole.
"""

from __future__ import annotations

from html import escape

GOOD, BAD, WARN, NOTE, TASK, CLOSE = "#00855f", "#dc3b30", "#a06c00", "#2478c2", "#b8578f", "#c05a0c"
LINE, MARK = "rgba(128,128,128,0.35)", "#808080"  # faint lines, and lines that have to be seen
TINT_GOOD, TINT_BAD, TINT_NOTE = "rgba(0,158,115,0.16)", "rgba(220,60,50,0.18)", "rgba(128,128,128,0.12)"
TINT_LIT = "rgba(230,180,40,0.25)"  # the region that is to be edited
TINT_WARM, TINT_HOT = "rgba(230,120,40,0.22)", "rgba(230,90,30,0.42)"  # few bank conflicts, and many
CODE_WORD, CODE_VALUE, CODE_COMMENT = "#2478c2", "#b06410", "#7c7c7c"

SMALL = "font-size:0.93em"  # of a card: 12 pixels
PRE = "font-family:monospace;white-space:pre;font-size:0.93em;line-height:1.3;margin:0;padding:0"  # not JupyterLab's
CELL = "text-align:left;padding:0;border:0;line-height:1.35"  # in a table that has no lines

STYLES = {
    # ---- Card ----
    "card": f"border:1px solid {LINE};border-radius:4px;padding:8px 12px;margin:2px 0;max-width:980px;"
    "overflow-x:auto;font-size:1em",
    "edge": f"border-left:4px solid {LINE};padding:4px 10px",
    "facts": "display:block;border:0;margin:2px 0;font-size:1em",  # a table whose rows stand side by side
    "facts body": "display:block",
    "fact": "display:inline-block;vertical-align:top;margin:2px 20px 2px 0;padding:0;background:none",
    "label": f"display:block;font-weight:normal;{SMALL};opacity:0.75;{CELL}",
    "fact value": f"display:block;font-weight:bold;{CELL}",
    "small": f"{SMALL};opacity:0.7",
    "muted": "opacity:0.7",
    "good": f"color:{GOOD}",
    "bad": f"color:{BAD}",
    "warn": f"color:{WARN}",
    "note": "margin-top:4px",
    "below": "margin-top:6px",
    "list": "margin:2px 0",
    "folded": "margin:4px 0",
    "summary": "cursor:pointer",
    "blank": f"display:inline-block;min-width:90px;border:1px solid {MARK};border-radius:3px;padding:1px 8px;"
    "opacity:0.7;font:inherit;color:inherit;background:none",
    "caption": "max-width:760px;font-size:1em;opacity:0.8;margin-top:2px",
    # ---- Table ----
    "table": "border-collapse:collapse;margin:4px 0;font-size:1em",
    "row": f"border-bottom:1px solid {LINE}",
    "lit row": f"border-bottom:1px solid {LINE};background:{TINT_WARM}",
    "text": "text-align:left;padding:2px 12px 2px 0",
    "code text": f"{PRE.replace('white-space:pre', 'white-space:pre-wrap')};text-align:left;padding:2px 12px 2px 0;"
    "overflow-wrap:anywhere",
    "number": "text-align:right;padding:2px 12px 2px 0",
    "unbroken number": "text-align:right;padding:2px 12px 2px 0;white-space:nowrap",
    # ---- Code ----
    "scroll": "overflow-x:auto",
    "code": "border:0;border-collapse:collapse;margin:4px 0;font-size:1em",
    "code row": "background:none",
    "code cell": f"vertical-align:top;{CELL}",
    "pre": PRE,
    "printed": PRE.replace("white-space:pre", "white-space:pre-wrap"),
    "line numbers": f"{PRE};opacity:0.7;text-align:right;margin-right:14px",
    "wide pre": f"{PRE};overflow-x:auto;margin:4px 0",
    "one line": PRE.replace("white-space:pre", "white-space:pre-wrap").replace("margin:0", "margin:2px 0 4px 12px"),
    "marked": f"color:inherit;background:{TINT_BAD};border-bottom:2px solid {BAD}",
    "lit": f"display:inline-block;min-width:100%;color:inherit;background:{TINT_LIT}",
    "added": f"display:inline-block;min-width:100%;background:{TINT_GOOD}",
    "removed": f"display:inline-block;min-width:100%;background:{TINT_BAD}",
    "gap": f"display:inline-block;min-width:100%;background:{TINT_NOTE}",
    "warm": f"background:{TINT_WARM}",
    "hot": f"background:{TINT_HOT}",
    "word": f"color:{CODE_WORD}",
    "value": f"color:{CODE_VALUE}",
    "comment": f"color:{CODE_COMMENT}",
    # ---- Bars of a profile card ----
    "bars title": f"opacity:0.75;{SMALL};margin-top:8px",
    "bars": "border:0;border-collapse:collapse;width:100%;margin:2px 0;font-size:1em;table-layout:auto",
    "bar row": "background:none",
    "whole": "white-space:nowrap",
    "bar name": f"white-space:nowrap;width:1%;{CELL};text-align:right;padding:1px 8px 1px 0;font-weight:inherit",
    "bar place": f"{CELL};padding:1px 0",
    "bar": "display:flex;height:20px;box-sizing:border-box;text-align:center;font-size:12px;line-height:18px",
    "bar piece": "display:block;height:100%;overflow:hidden",
    "bar total": f"white-space:nowrap;width:1%;{CELL};padding:1px 0 1px 8px",
    "legend body": f"display:block;max-width:720px;{SMALL}",
    "legend item": "display:inline-flex;align-items:baseline;width:320px;margin:1px 24px 1px 0;background:none",
    "swatch": f"min-width:17px;text-align:center;{CELL};padding:0 3px;margin-right:6px",
    "legend part": f"flex:1 1 auto;font-weight:normal;{CELL}",
    "legend number": f"opacity:0.75;{CELL}",
    "gauge": "display:inline-block;vertical-align:top;width:116px;margin:2px 4px 2px 0;padding:0;background:none",
    # A bar in a line of text.
    "step": "display:inline-block;height:0.8em;overflow:hidden;color:transparent",
    # ---- Tile picture ----
    "tile": f"border:1px solid {GOOD};text-align:center;{SMALL};padding:0",
}


def tag(name: str, style: str, body: str = "", *, attributes: dict[str, str] | None = None, **more: str) -> str:
    """An HTML element in one of `STYLES`. body: HTML, which is not escaped; attributes are.

    more: further CSS properties, with underscores instead of hyphens, such as width="40%". Raises `KeyError` for a
    style that does not exist.
    """
    properties = ";".join([STYLES[style], *(f"{key.replace('_', '-')}:{value}" for key, value in more.items())])
    others = "".join(f' {key}="{escape(value)}"' for key, value in (attributes or {}).items())
    start = f'<{name}{others} style="{properties}">'
    return start if name == "img" else f"{start}{body}</{name}>"
