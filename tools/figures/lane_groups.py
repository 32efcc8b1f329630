"""The groups of lanes in wide accesses: which lanes of a warp share a pass over the banks."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.banks import LANES_OF_A_PHASE

LANES = 32
KINDS = (("4 bytes a lane", 4), ("8 bytes a lane", 8), ("16 bytes a lane", 16), ("ldmatrix.x4", 16))
SHADES = tuple(style.tint(colour, 0.55) for colour in (style.SKY, style.ORANGE, style.GREEN, style.PURPLE))


def lane_groups():
    """32 lanes for each width, coloured by group; a group without bank conflicts is one wavefront of 128 bytes."""
    page = Sheet(4.1)
    w, h, left, top, step = 0.151, 0.34, 1.62, 0.82, 0.83
    page.text(left, 0.35, "the 32 lanes of a warp", ha="left", bold=True)
    page.text(7.8, 0.35, "at best", ha="right", bold=True)
    for number, (name, width) in enumerate(KINDS):
        y, each = top + number * step, LANES_OF_A_PHASE[width]
        groups = LANES // each
        page.text(left - 0.15, y + h / 2, name, ha="right", bold=True)
        page.grid(left, y, 1, LANES, w, h, fill=lambda i, j, each=each: SHADES[j // each], edge=style.PAPER, lw=0.8)
        for group in range(groups):
            x = left + group * each * w
            page.box(x, y, each * w, h, fill="none", edge=style.MUTED, lw=1.2, radius=0.04, z=4)
            what = "matrix" if name.startswith("ldmatrix") else "group"
            first, last = group * each, (group + 1) * each - 1
            page.text(x + each * w / 2, y + h / 2, f"{what} {group}" if groups > 1 else "one group")
            page.text(x + each * w / 2, y + h + 0.16, f"T{first}–T{last}", colour=style.MUTED)
        page.text(
            7.8,
            y + h / 2,
            f"{groups} wavefront{'s' * (groups > 1)}",
            ha="right",
            colour=style.ink(style.WAVEFRONT),
            bold=True,
        )
    page.text(left - 0.15, top + 3 * step + h + 0.16, "lanes name rows", ha="right", colour=style.MUTED)
    return page.fig
