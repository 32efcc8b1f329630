"""Draws the mbarrier stepper's still picture: the barrier's fields, its phases, who waits, and all steps."""

from __future__ import annotations

from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab.plots.style import Card

PARITY = (style.UNLIT, style.tint(style.SKY, 0.5))  # the colours of parity 0 and 1
ROW, PHASES = 0.27, 4


def picture(widget) -> Card:
    """The picture of an `MbarrierStepper` at its current step."""
    moment, barrier = widget.moment, widget.moment.barrier
    top = 4.0
    page = Sheet(top + ROW * len(widget.played) + 0.3)
    page.text(0.3, 0.36, widget.story, bold=True, size=style.BODY, ha="left")
    page.text(7.7, 0.36, f"step {widget.step} of {len(widget.played) - 1}", ha="right", colour=style.MUTED)
    colour = style.GREEN if moment.good else style.CONFLICT
    page.box(0.3, 0.58, 7.4, 0.72, fill="#F4F5F7", edge="#F4F5F7")
    page.box(0.3, 0.58, 0.05, 0.72, fill=colour, edge=colour, radius=0)
    page.text(0.5, 0.79, moment.who, bold=True, ha="left")
    page.text(1.65, 0.79, moment.code, mono=True, size=10, ha="left")
    page.text(0.5, 1.09, moment.says, ha="left", colour=style.INK if moment.good else style.ink(style.CONFLICT))
    fields = (
        ("arrivals missing", f"{barrier.pending} of {barrier.expected}"),
        ("bytes missing", f"{barrier.bytes:,}"),
        ("phase", str(barrier.phase)),
        ("its parity", str(barrier.parity)),
    )
    for number, (name, value) in enumerate(fields):
        x = 0.3 + number * 1.87
        page.box(x, 1.5, 1.79, 0.72, fill=PARITY[barrier.parity] if name == "its parity" else style.PAPER)
        page.text(x + 0.9, 1.69, name, colour=style.MUTED, size=9.5)
        page.text(x + 0.9, 1.98, value, bold=True, size=style.LARGE)
    for phase in range(-1, PHASES - 1):
        x, now = 0.3 + (phase + 1) * 1.87, phase == barrier.phase
        edge, width = (style.INK, 2.2) if now else (style.RULE, 1.0)
        page.box(x, 2.42, 1.79, 0.5, fill=PARITY[phase & 1], edge=edge, lw=width)
        state = "now" if now else "over" if phase < barrier.phase else "to come"
        name = "before the first" if phase < 0 else f"phase {phase}"
        page.text(x + 0.9, 2.58, f"{name}: {state}", bold=now, size=9.5)
        page.text(x + 0.9, 2.78, f"parity {phase & 1}", size=style.FINE)
    words = [f"{who} waits for parity {parity}" for who, parity in moment.waiting]
    words += [f"{who} goes on" for who in moment.released]
    page.text(
        0.3,
        3.2,
        "   ".join(words) or "Nobody waits.",
        ha="left",
        bold=bool(moment.released),
        colour=style.INK if words else style.MUTED,
    )
    for x, name in ((0.62, "who"), (1.75, "step"), (5.75, "missing"), (6.75, "bytes"), (7.6, "phase")):
        page.text(x, top - 0.25, name, ha="left" if x < 2 else "right", colour=style.MUTED, size=9.5)
    for number, each in enumerate(widget.played):
        y, b, now = top + number * ROW, each.barrier, number == widget.step
        if now:
            page.box(0.3, y - ROW / 2, 7.4, ROW, fill=style.tint(style.LIT, 0.45), edge="none", radius=0.03, z=1)
        ink = style.INK if each.good else style.ink(style.CONFLICT)
        page.text(0.5, y, str(number), ha="right", colour=style.MUTED, size=9.5)
        page.text(0.62, y, each.who, ha="left", colour=ink, size=9.5, bold=now)
        page.text(1.75, y, each.code, ha="left", mono=True, size=style.FINE, colour=ink)
        page.text(5.75, y, str(b.pending), ha="right", size=9.5)
        page.text(6.75, y, f"{b.bytes:,}", ha="right", size=9.5)
        page.text(7.6, y, str(b.phase), ha="right", size=9.5)
    return page.fig
