"""Small pieces of HTML that show kernels and runs alike in light and dark notebooks.

Styles are inline, because JupyterLab drops style sheets from outputs of untrusted notebooks.
"""

from __future__ import annotations

import re
from html import escape

INK, MUTED, LINE, PAPER = "#1b1b1b", "#5f6368", "#dadce0", "#ffffff"
GOOD, BAD, WARN, NOTE = "#00765a", "#b3261e", "#8a6100", "#0072B2"


def card(body: str, colour: str = LINE) -> str:
    """A white card with a coloured left edge. JupyterLab gives `pre` the font of prose, and wraps it."""
    body = body.replace('<pre style="', '<pre style="font-family:monospace;white-space:pre;')
    return (
        f'<div style="background:{PAPER};color:{INK};border:1px solid {LINE};border-left:4px solid {colour};'
        f'border-radius:4px;padding:8px 12px;margin:2px 0;max-width:980px;overflow-x:auto;font-size:13px">'
        f"{body}</div>"
    )


def facts(pairs: list[tuple[str, str]]) -> str:
    """Labelled values side by side; they wrap where the notebook is narrow."""
    cells = "".join(
        f'<div style="display:inline-block;vertical-align:top;margin:2px 20px 2px 0">'
        f'<span style="color:{MUTED};font-size:11px">{escape(label)}</span><br><b>{escape(value)}</b></div>'
        for label, value in pairs
    )
    return f'<div style="margin:2px 0">{cells}</div>'


def table(header: list[str], rows: list[list[str]], caption: str = "", text_columns: int = 1) -> str:
    """A plain table; every cell is escaped, the first `text_columns` are left-aligned, numbers right-aligned."""

    def cell(tag: str, text: str, index: int) -> str:
        side = "left" if index < text_columns else "right"
        whole = "white-space:nowrap;" if tag == "td" and side == "right" else ""  # numbers stay on one line
        return (
            f'<{tag} style="text-align:{side};padding:2px 12px 2px 0;background:{PAPER};color:{INK};{whole}'
            f'border-bottom:1px solid {LINE}">{escape(text)}</{tag}>'
        )

    head = "".join(cell("th", text, i) for i, text in enumerate(header))
    body = "".join("<tr>" + "".join(cell("td", text, i) for i, text in enumerate(row)) + "</tr>" for row in rows)
    note = f'<div style="color:{MUTED};font-size:11px">{escape(caption)}</div>' if caption else ""
    return f'<table style="border-collapse:collapse;margin:4px 0"><tr>{head}</tr>{body}</table>{note}'


def code(text: str, first_line: int = 1) -> str:
    """CUDA source with line numbers; comments, words of the language and directives have their colour."""
    from pygments.lexers import CudaLexer
    from pygments.token import Comment, Keyword, Literal

    colours = ((Comment.Preproc, "#8a4b00"), (Comment, "#60707a"), (Keyword, "#0b5cad"), (Literal, "#8a4b00"))
    parts = []
    for kind, words in CudaLexer(stripnl=False, ensurenl=False).get_tokens(text.rstrip("\n")):
        colour = next((shade for family, shade in colours if kind in family), None)
        shown = escape(words, quote=False)
        parts.append(f'<span style="color:{colour}">{shown}</span>' if colour and words.strip() else shown)
    count = text.rstrip("\n").count("\n") + 1
    numbers = "\n".join(str(number) for number in range(first_line, first_line + count))
    pre = f"background:{PAPER};line-height:1.3;font-size:12px;margin:0;padding:0"
    return (
        f'<div style="overflow-x:auto;margin:4px 0;display:flex"><pre style="{pre};color:#9aa0a6;text-align:right;'
        f'margin-right:14px">{numbers}</pre><pre style="{pre};color:{INK}">{"".join(parts)}</pre></div>'
    )


def code_line(text: str, column: int | None = None) -> str:
    """One line of source that wraps; the word that begins at `column` (0-based) is marked."""
    shown = escape(text, quote=False)
    if column is not None and column < len(text):
        word = re.match(r"\w+|.", text[column:])[0]
        before, after = text[:column], text[column + len(word) :]
        mark = f'<span style="background:#fce8e6;border-bottom:2px solid {BAD}">{escape(word, quote=False)}</span>'
        shown = escape(before, quote=False) + mark + escape(after, quote=False)
    return (
        f'<pre style="white-space:pre-wrap;background:{PAPER};color:{INK};line-height:1.4;font-size:12px;'
        f'margin:2px 0 4px 12px;padding:0">{shown}</pre>'
    )


def folded(title: str, body: str) -> str:
    """A part that opens on a click."""
    return f'<details style="margin:4px 0"><summary style="cursor:pointer">{escape(title)}</summary>{body}</details>'


def diff_lines(lines: list[str]) -> str:
    """A unified diff with added lines on green and removed lines on red."""
    shown = []
    for line in lines:
        paper = {"+": "#e6f4ea", "-": "#fce8e6", "@": "#eef1f6"}.get(line[:1], PAPER)
        shown.append(f'<span style="display:block;background:{paper}">{escape(line) or " "}</span>')
    return (
        f'<pre style="background:{PAPER};color:{INK};line-height:1.3;font-size:12px;overflow-x:auto;margin:4px 0">'
        + "".join(shown)
        + "</pre>"
    )


def tile_picture(block: tuple[int, int], warps: tuple[int, int], warp: tuple[int, int], width: int = 220) -> str:
    """The block tile of D drawn to scale as a grid of warp tiles."""
    m, n = block
    scale = width / max(m, n)
    rows = []
    for i in range(warps[0]):
        cells = "".join(
            f'<td style="width:{warp[1] * scale:.0f}px;height:{warp[0] * scale:.0f}px;border:1px solid #00765a;'
            f"background:{'#d9efe6' if (i + j) % 2 else '#eef8f4'};text-align:center;font-size:10px;color:{INK};"
            f'padding:0">warp {i * warps[1] + j}</td>'
            for j in range(warps[1])
        )
        rows.append(f"<tr>{cells}</tr>")
    note = (
        f'<div style="color:{MUTED};font-size:11px">block tile of D: {m} × {n} '
        f"({warps[0] * warps[1]} warps of {warp[0]} × {warp[1]})</div>"
    )
    return f'<table style="border-collapse:collapse;margin:4px 0">{"".join(rows)}</table>{note}'
