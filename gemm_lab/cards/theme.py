"""The look of everything that a notebook shows as HTML: colours, sizes, and the function that writes the styles.

Styles are inline, because JupyterLab drops style sheets from the outputs of untrusted notebooks. Colours are plain
numbers, because it drops CSS variables too. The colours of text and background are those of the page, so a card is
light in a light theme and dark in a dark one. The colours below are legible on both: each has a contrast of at least
4 to 1 with white and with JupyterLab's dark background. Tints are translucent for the same reason.
"""

from __future__ import annotations

from html import escape

GOOD, BAD, WARN, NOTE, TASK, CLOSE = "#00855f", "#dc3b30", "#a06c00", "#2478c2", "#b8578f", "#c05a0c"
LINE, MARK = "rgba(128,128,128,0.35)", "#808080"  # faint lines, and lines that have to be seen
TINT_GOOD, TINT_BAD, TINT_NOTE = "rgba(0,158,115,0.16)", "rgba(220,60,50,0.18)", "rgba(128,128,128,0.12)"
TINT_WARM, TINT_HOT = "rgba(230,120,40,0.22)", "rgba(230,90,30,0.42)"  # few bank conflicts, and many
CODE_WORD, CODE_VALUE, CODE_COMMENT = "#2478c2", "#b06410", "#7c7c7c"

SMALL = "font-size:11px"
PRE = "font-family:monospace;white-space:pre;font-size:12px;line-height:1.3;margin:0;padding:0"  # not JupyterLab's

STYLES = {
    # ---- Card ----
    "card": f"border:1px solid {LINE};border-radius:4px;padding:8px 12px;margin:2px 0;max-width:980px;"
    "overflow-x:auto;font-size:13px",
    "edge": f"border-left:4px solid {LINE};padding:4px 10px",
    "facts": "margin:2px 0",
    "fact": "display:inline-block;vertical-align:top;margin:2px 20px 2px 0",
    "label": f"{SMALL};opacity:0.7",
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
    "opacity:0.7",
    "picture": "max-width:760px;width:100%;border-radius:6px",
    "caption": "max-width:760px;font-size:13px;opacity:0.8;margin-top:2px",
    # ---- Table ----
    "table": "border-collapse:collapse;margin:4px 0",
    "text": f"text-align:left;padding:2px 12px 2px 0;border-bottom:1px solid {LINE}",
    "number": f"text-align:right;padding:2px 12px 2px 0;border-bottom:1px solid {LINE};white-space:nowrap",
    "number head": f"text-align:right;padding:2px 12px 2px 0;border-bottom:1px solid {LINE}",
    # ---- Code ----
    "code": "overflow-x:auto;margin:4px 0;display:flex",
    "pre": PRE,
    "printed": PRE.replace("white-space:pre", "white-space:pre-wrap"),
    "line numbers": f"{PRE};opacity:0.55;text-align:right;margin-right:14px",
    "wide pre": f"{PRE};overflow-x:auto;margin:4px 0",
    "one line": PRE.replace("white-space:pre", "white-space:pre-wrap").replace("margin:0", "margin:2px 0 4px 12px"),
    "marked": f"background:{TINT_BAD};border-bottom:2px solid {BAD}",
    "added": f"display:block;background:{TINT_GOOD}",
    "removed": f"display:block;background:{TINT_BAD}",
    "gap": f"display:block;background:{TINT_NOTE}",
    "same": "display:block",
    "warm": f"background:{TINT_WARM}",
    "hot": f"background:{TINT_HOT}",
    "word": f"color:{CODE_WORD}",
    "value": f"color:{CODE_VALUE}",
    "comment": f"color:{CODE_COMMENT}",
    # ---- Bars of a profile card ----
    "bars title": "opacity:0.7;font-size:12px;margin-top:8px",
    "bar row": "display:flex;align-items:center;margin:2px 0",
    "bar name": "flex:0 0 244px;text-align:right;padding-right:8px;overflow:hidden;text-overflow:ellipsis;"
    "white-space:nowrap",
    "bar place": "flex:1 1 auto;min-width:0",
    "bar": "display:flex;height:20px;box-sizing:border-box",
    "bar piece": "height:100%",
    "bar total": "flex:0 0 100px;padding-left:8px;white-space:nowrap",
    "legend": "display:flex;flex-wrap:wrap;max-width:680px;margin:4px 0 2px 0",
    "legend item": "display:flex;align-items:baseline;width:300px;font-size:12px;margin-right:24px",
    "swatch": f"width:10px;height:10px;border:1px solid {LINE};margin-right:6px",
    "legend part": "flex:1 1 auto",
    "gauges": "display:flex;flex-wrap:wrap;margin-top:6px",
    "gauge": "width:108px;margin:2px 4px 2px 0",
    # ---- Tile picture ----
    "tile": f"border:1px solid {GOOD};text-align:center;font-size:10px;padding:0",
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
