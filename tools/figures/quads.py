"""Four lanes exchange their results: the transpose of an epilogue without shared memory."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

LANES = 4
_HUES = tuple(style.tint(colour, 0.55) for colour in (style.A, style.ORANGE, style.GREEN, style.YELLOW))


def quad_steps() -> list[list[list[tuple[int, int]]]]:
    """The registers of four lanes before, between and after the two steps, as a list of three.

    Each is held[lane][word] = (mma tile, part of a row).
    """
    held = [[(tile, lane) for tile in range(LANES)] for lane in range(LANES)]
    steps = [held]
    for distance in (2, 1):
        after = [list(words) for words in held]
        for lane in range(LANES):
            for word in range(LANES):
                if bool(lane & distance) != bool(word & distance):  # exchanged with the partner's word
                    after[lane][word] = held[lane ^ distance][word ^ distance]
        held = after
        steps.append(held)
    return steps


def quad_exchange():
    """A row of four mma tiles in four lanes, before the exchange and after each of its steps."""
    page = Sheet(3.5)
    title = "one row of D, 64 bytes, in the registers of four lanes"
    page.text(0.35, 0.36, title, ha="left", bold=True, size=style.BODY)
    cell, left, gap, top = 0.46, 0.95, 0.62, 1.0
    titles = ("as mma leaves it", "step 1: lanes 2 apart", "step 2: neighbours")
    for number, (title, held) in enumerate(zip(titles, quad_steps(), strict=True)):
        x = left + number * (LANES * cell + gap)
        page.text(x + 2 * cell, top - 0.2, title, colour=style.MUTED)
        page.grid(
            x,
            top,
            LANES,
            LANES,
            cell,
            cell * 0.9,
            edge=style.PAPER,
            lw=1.2,
            fill=lambda i, j, held=held: _HUES[held[i][j][0]],
            words=lambda i, j, held=held: "{}.{}".format(*held[i][j]),
        )
        if number:
            page.arrow(x - gap + 0.1, top + 1.8 * cell, x - 0.1, top + 1.8 * cell, colour=style.INK)
    for lane in range(LANES):
        page.text(left - 0.12, top + (lane + 0.5) * cell * 0.9, f"lane {lane}", ha="right", colour=style.MUTED)
    y = top + LANES * cell * 0.9 + 0.33
    page.note(0.35, y, "2.1: of mma tile 2, the part 1 of its row, two BF16. A column is one register.")
    page.note(0.35, y + 0.28, "In the end each lane holds 16 bytes in a row and stores them at once.")
    return page.fig
