"""A ring buffer: stages of shared memory between a producer and a consumer, each stage with two mbarriers."""

from __future__ import annotations

from gemm_lab_lessons.ch08.mbarrier_phases import stage_and_parities
from gemm_look import style
from gemm_look.sheet import Sheet

NUM_STAGES, K_TILES = 4, 9
_READ, _FULL, _FILLING = style.tint(style.GREEN, 0.55), style.tint(style.BLUE, 0.45), style.tint(style.ORANGE, 0.5)
_STATES = (
    (_READ, "tile 4", "being read"),
    (_FULL, "tile 5", "full"),
    (_FILLING, "tile 6", "on its way"),
    (style.PAPER, "", "empty"),
)


def stage_ring():
    """Four stages at one moment, the barriers for which each side waits, and the parities of the first nine k tiles."""
    page = Sheet(6.15)
    left, w, gap, y, high = 1.15, 1.3, 0.2, 1.62, 0.72
    page.text(0.35, 0.36, "four stages of shared memory, at one moment", ha="left", bold=True, size=style.BODY)
    middles = [left + s * (w + gap) + w / 2 for s in range(NUM_STAGES)]
    for stage, (fill, tile, words) in enumerate(_STATES):
        page.labelled(
            middles[stage] - w / 2, y, w, high, f"{tile}\n{words}" if tile else words, fill=fill, edge=style.RULE
        )
        page.text(middles[stage], y - 0.2, f"stage {stage}", colour=style.MUTED)
    for here, there in zip(middles, middles[1:], strict=False):
        page.arrow(here + w / 2, y + high / 2, there - w / 2, y + high / 2)
    page.line(
        (middles[-1] + w / 2, y + high / 2),
        (middles[-1] + w / 2 + 0.3, y + high / 2),
        (middles[-1] + w / 2 + 0.3, y + high + 0.22),
        (left - 0.3, y + high + 0.22),
        (left - 0.3, y + high / 2),
        colour=style.MUTED,
        lw=1.4,
    )
    page.arrow(left - 0.3, y + high / 2, left, y + high / 2)
    page.text(middles[0], 0.8, "consumer", bold=True)
    page.arrow(middles[0], 0.94, middles[0], y - 0.33, colour=style.INK)
    page.text(middles[3], 0.8, "producer, for tile 7", bold=True)
    page.arrow(middles[3], 0.94, middles[3], y - 0.33, colour=style.INK)
    rows = (
        ("consumer", "waits on full[stage], multiplies, arrives on empty[stage]"),
        ("producer", "waits on empty[stage], sends the copies, whose bytes complete full[stage]"),
    )
    for number, (who, what) in enumerate(rows):
        page.text(0.35, 2.95 + 0.28 * number, who, ha="left", bold=True)
        page.text(1.35, 2.95 + 0.28 * number, what, ha="left")
    page.line((0.35, 3.55), (page.width - 0.35, 3.55))
    x0, step, y = 3.05, 0.5, 3.85
    table = [stage_and_parities(k_tile, NUM_STAGES) for k_tile in range(K_TILES)]
    lines = (
        ("k tile", range(K_TILES)),
        ("stage = k tile mod 4", [t[0] for t in table]),
        ("full: consumer's parity", [t[1] for t in table]),
        ("empty: producer's parity", [t[2] for t in table]),
    )
    for number, (title, values) in enumerate(lines):
        page.text(0.35, y + number * 0.36, title, ha="left", bold=number == 0)
        for k_tile, value in enumerate(values):
            x = x0 + k_tile * step
            if number >= 2:
                page.box(
                    x - step / 2 + 0.02,
                    y + number * 0.36 - 0.15,
                    step - 0.04,
                    0.3,
                    radius=0,
                    edge="none",
                    fill=style.tint(style.SKY, 0.5) if value else style.UNLIT,
                )
            page.text(x, y + number * 0.36, str(value), bold=number == 0, mono=number > 0)
    page.note(0.35, 5.42, "The parity turns over each time round the ring. Nothing is reset, and no barrier")
    page.note(0.35, 5.68, "stops the whole block. In the first round every stage is empty: parity 1 has passed.")
    return page.fig
