"""The picture of the house: which part of the package may import which, and what happens on each floor."""

from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet

# From the top: the floor's number, its parts, what happens there. tests/test_architecture.py holds the imports to it.
HOUSE = (
    (6, ("notebook", "cli"), "what a learner types"),
    (5, ("api",), "Kernel, Run, Ladder"),
    (4, ("measure", "plots", "server"), "check, time, draw, share"),
    (3, ("emulator", "device"), "launch: NumPy or a GPU"),
    (2, ("compiler",), "CUDA to machine code"),
    (1, ("model", "catalog", "published", "source_text"), "laws, and the kernels"),
    (0, ("errors", "arguments", "hardware", "config"), "standard library only"),
)
APART = (("emulator", "device"), ("measure", "plots"))  # neighbours that do not import each other


def house_floors():
    """Seven floors; imports go down only."""
    step, top, left, w = 0.6, 0.85, 0.8, 4.5
    page = Sheet(top + step * len(HOUSE) + 0.55)
    page.ax.fill(
        [left - 0.25, left + w / 2, left + w + 0.25],
        [top, 0.25, top],
        color=style.tint(style.LIT, 0.55),
        edgecolor=style.INK,
        linewidth=1.1,
        zorder=1,
    )
    page.text(left + w / 2, 0.64, "imports go down only", bold=True)
    for row, (floor, parts, what) in enumerate(HOUSE):
        y = top + row * step
        page.box(
            left, y, w, step, fill=style.tint(style.SKY, 0.1 + 0.045 * (6 - floor)), edge=style.INK, lw=1.1, radius=0
        )
        page.text(left - 0.3, y + step / 2, str(floor), colour=style.MUTED, size=style.BODY)
        _rooms(page, parts, left, y, w, step)
        page.text(left + w + 0.3, y + step / 2, what, ha="left", colour=style.MUTED)
    y = top + len(HOUSE) * step
    page.line((left - 0.6, y), (page.width - 0.4, y), colour=style.INK, lw=1.6)
    page.text(left + w / 2, y + 0.27, "a thick wall: neighbours that do not import each other", colour=style.MUTED)
    return page.fig


def _rooms(page: Sheet, parts: tuple[str, ...], left: float, y: float, w: float, step: float) -> None:
    total = sum(len(part) + 4 for part in parts)
    x = left
    for place, part in enumerate(parts):
        width = w * (len(part) + 4) / total
        page.text(x + width / 2, y + step / 2, part, mono=True)
        x += width
        if place + 1 < len(parts):
            wall = (part, parts[place + 1]) in APART
            page.line(
                (x, y),
                (x, y + step),
                colour=style.VERMILION if wall else style.RULE,
                lw=3.0 if wall else style.THIN,
                z=4,
            )
