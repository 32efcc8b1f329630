"""Machine code as a strip: one stripe per instruction, in the order in which a warp issues them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gemm_look import style
from gemm_results.errors import LabError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Opcodes with a colour of their own: opcode, colour, length of the stripe, words of the legend.
KINDS = (
    ("BAR", style.VERMILION, 1.0, "BAR, the barrier"),
    ("SYNCS", "#F08A5D", 1.0, "SYNCS, an mbarrier"),
    ("WARPGROUP", style.PURPLE, 1.0, "WARPGROUP, order of wgmma"),
    ("LDG", style.MEMORY["DRAM"], 0.9, "LDG, from global memory"),
    ("LDGSTS", style.BLUE, 0.9, "LDGSTS, which is cp.async"),
    ("UTMALDG", "#1B9AAA", 1.0, "UTMALDG, a TMA load"),
    ("UTMASTG", "#7FD1CC", 1.0, "UTMASTG, a TMA store"),
    ("STS", style.SKY, 0.9, "STS, into shared memory"),
    ("LDS", "#8FA8C9", 0.75, "LDS, from shared memory"),
    ("LD", "#8FA8C9", 0.75, "LD, from generic addresses"),
    ("LDSM", style.MEMORY["shared memory"], 0.75, "LDSM, which is ldmatrix"),
    ("MOVM", "#C9A227", 0.6, "MOVM, transposes a fragment"),
    ("HMMA", style.GREEN, 0.5, "HMMA, which is mma"),
    ("HGMMA", style.GREEN, 0.9, "HGMMA, which is wgmma"),
)
_REST = ("#B6BEC7", 0.22, "addresses and the rest")
_ROW, _HEAD, _FOOT, _LEFT, _RIGHT = 0.62, 0.55, 1.05, 0.35, 0.35  # inches


@style.drawn
def code_strip(
    rows: Sequence[tuple[str, Sequence[Any]]], title: str = "one turn of the main loop", *, counts: bool = True
) -> Figure:
    """One strip for each of `rows`, (name, instructions in order), all on one scale.

    An instruction is any object with an `opcode`, such as a SassLine. counts: write the number of instructions after
    each row. Raises `LabError` if there are no instructions.
    """
    from matplotlib.collections import LineCollection

    rows = [(name, [line.opcode.split(".")[0] for line in lines]) for name, lines in rows if lines]
    if not rows:
        raise LabError("There is nothing to draw: a strip needs the instructions of at least one loop.")
    shown = {opcode for _, opcodes in rows for opcode in opcodes}
    kinds = [kind for kind in KINDS if kind[0] in shown]
    foot = _FOOT + 0.26 * max(0, len(kinds) // 3 - 1)  # _FOOT has room for two lines of the legend
    fig = style.figure(style.WIDTH, _HEAD + _ROW * len(rows) + foot)
    width, height = fig.get_size_inches()
    names = 0.2 + 0.088 * max(len(name) for name, _ in rows)
    fig.text(_LEFT / width, 1 - 0.32 / height, title, fontweight="bold", fontsize=style.BODY, va="center")
    ax = style.axes(fig, left=_LEFT + names, right=_RIGHT + 0.45, top=_HEAD, bottom=foot)
    ax.axis("off")
    longest = max(len(opcodes) for _, opcodes in rows)
    ax.set(xlim=(0, longest), ylim=(len(rows), 0))
    points = (width - _LEFT - names - _RIGHT - 0.45) * 72 / longest  # width of a stripe
    for y, (name, opcodes) in enumerate(rows):
        for kind, colour, length, _ in (*KINDS, ("", *_REST)):
            known = [opcode for opcode, *_ in KINDS]
            places = [x for x, op in enumerate(opcodes) if op == kind or (not kind and op not in known)]
            middle = y + 0.5
            stripes = [((x + 0.5, middle - 0.45 * length), (x + 0.5, middle + 0.45 * length)) for x in places]
            wide = max(points, 1.6) if kind == "BAR" else points * 0.92
            ax.add_collection(LineCollection(stripes, colors=colour, linewidths=wide, capstyle="butt"))
        style.near(ax, name, (0, y + 0.5), (-8, 0), ha="right", va="center_baseline")
        if counts:
            look = {"ha": "left", "va": "center_baseline", "color": style.MUTED}
            style.near(ax, str(len(opcodes)), (len(opcodes), y + 0.5), (6, 0), **look)
    _legend(fig, height - _HEAD - _ROW * len(rows) - 0.2, kinds)
    return fig


def _legend(fig: Figure, top: float, kinds: Sequence[tuple]) -> None:
    """The legend of these kinds, three in a row. top: its upper edge, in inches above the lower edge of the figure."""
    from matplotlib.patches import Rectangle

    width, height = fig.get_size_inches()
    column = (width - _LEFT - _RIGHT) / 3
    for index, (colour, words) in enumerate([(kind[1], kind[3]) for kind in kinds] + [(_REST[0], _REST[2])]):
        x, y = _LEFT + index % 3 * column, top - index // 3 * 0.26
        fig.add_artist(Rectangle((x, y - 0.055), 0.13, 0.11, transform=fig.dpi_scale_trans, facecolor=colour))
        fig.text((x + 0.2) / width, y / height, words, va="center_baseline", color=style.MUTED)
    words = "One stripe for each instruction, issued from left to right. Distances are not times."
    below = top - 0.26 * max(1, len(kinds) // 3) - 0.36
    fig.text(_LEFT / width, below / height, words, va="center_baseline", color=style.MUTED)
