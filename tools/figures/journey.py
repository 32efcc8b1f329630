"""The steps between the learner's edit of a kernel and the picture of its results."""

from gemm_look import style
from gemm_look.sheet import Sheet

_BEFORE = (("edit", "CUDA\nin a cell"), ("compile", "PTX and\nmachine code"))
_AFTER = (("check", "against a\nreference"), ("measure", "TFLOPS,\nwavefronts"), ("show", "pictures,\ntables"))


def journey():
    """edit, compile, launch on the GPU or the simulator, check, measure, show."""
    page = Sheet(2.5)
    w, h, step, middle, notes = 1.06, 0.5, 1.3, 0.95, 1.98
    left = (page.width - 5 * step - w) / 2

    def station(k, verb, note, lit=False):
        x = left + k * step
        page.labelled(
            x,
            middle - h / 2,
            w,
            h,
            verb,
            fill=style.LIT if lit else style.PAPER,
            bold=True,
            size=style.BODY,
            edge=style.INK,
            lw=1.1,
        )
        page.text(x + w / 2, notes, note, colour=style.MUTED, va="center")

    def hop(k, y0=middle, y1=middle):
        x = left + k * step + w
        page.arrow(x + 0.02, y0, x + step - w - 0.02, y1)

    for k, (verb, note) in enumerate(_BEFORE):
        station(k, verb, note, lit=k == 0)
    hop(0)
    x = left + 2 * step
    for y, place in ((middle - 0.35, "GPU"), (middle + 0.35, "simulator")):
        page.labelled(
            x,
            y - h / 2,
            w,
            h,
            place,
            bold=True,
            size=style.BODY,
            edge=style.INK,
            lw=1.1,
            fill=style.tint(style.SKY, 0.25),
        )
        hop(1, middle, y)
        hop(2, y, middle)
    page.text(x + w / 2, notes, "launch\non either", colour=style.MUTED, va="center")
    for k, (verb, note) in enumerate(_AFTER, start=3):
        station(k, verb, note)
        if k < 5:
            hop(k)
    return page.fig
