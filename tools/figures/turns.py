"""Two consumers that work together, and two that take turns: the times in which the tensor cores are idle."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

TILES, LOOP, STORE = 4, 1.15, 0.68  # tiles of D; inches of the products and of the epilogue of a consumer's tile
_LOOPS = (style.tint(style.GREEN, 0.55), style.tint(style.SKY, 0.6))
_STORE = style.tint(style.ORANGE, 0.6)


def together(tiles: int = TILES) -> list[list[tuple[int, float, float, float]]]:
    """(tile, start, end of its products, end of its epilogue) for two consumers that share every tile, in inches."""
    one, at = [], 0.0
    for tile in range(tiles // 2):  # their tile is twice as large, and each has half of the tensor cores' rate
        one.append((tile, at, at + 2 * LOOP, at + 2 * LOOP + STORE))
        at += 2 * LOOP + STORE
    return [one, list(one)]


def in_turn() -> list[list[tuple[int, float, float, float]]]:
    """The same for two consumers that take tiles in turn; each has the tensor cores for itself."""
    rows, free, ready = [[], []], 0.0, [0.0, 0.0]
    for tile in range(TILES):
        who = tile % 2
        start = max(free, ready[who])
        free, ready[who] = start + LOOP, start + LOOP + STORE
        rows[who].append((tile, start, free, ready[who]))
    return rows


def idle(rows: list[list[tuple[int, float, float, float]]]) -> float:
    """Inches between the first product and the last in which no product runs."""
    spans = sorted({(start, end) for row in rows for _, start, end, _ in row})
    return sum(max(0.0, after[0] - before[1]) for before, after in zip(spans, spans[1:], strict=False))


def ping_pong():
    """Two consumers and the tensor cores on one time axis, for consumers that work together and in turn."""
    page = Sheet(4.95)
    left, high, step = 1.55, 0.36, 0.45
    for y, title, words, rows in (
        (0.36, "together: 07", "each has 64 rows of a tile of 128 × 256", together()),
        (2.3, "in turn: 08", "each has tiles of 128 × 128 of its own", in_turn()),
    ):
        page.text(0.35, y, title, ha="left", bold=True, size=style.BODY)
        page.text(page.width - 0.35, y, words, ha="right", colour=style.MUTED)
        for who, row in enumerate(rows):
            top = y + 0.26 + who * step
            page.text(0.35, top + high / 2, f"consumer {who}", ha="left")
            for tile, start, end, stored in row:
                page.cell(left + start, top, end - start, high, f"tile {tile}", fill=_LOOPS[who])
                page.cell(left + end, top, stored - end, high, "store", fill=_STORE)
        top = y + 0.26 + 2 * step
        page.text(0.35, top + high / 2, "tensor cores", ha="left", bold=True)
        last = max(end for row in rows for _, _, end, _ in row)
        page.box(left, top, last, high, fill=style.tint(style.CONFLICT, 0.35), edge="none", radius=0)
        for who, row in enumerate(rows):
            half = high / 2 if idle(rows) else high
            for _, start, end, _ in row:
                page.box(
                    left + start,
                    top + (who * half if idle(rows) else 0),
                    end - start,
                    half,
                    fill=_LOOPS[who],
                    edge=style.PAPER,
                    radius=0,
                    lw=0.8,
                    z=3,
                )
    page.box(0.35, 4.12, 0.2, 0.2, fill=style.tint(style.CONFLICT, 0.35), edge="none", radius=0)
    page.note(0.65, 4.22, "the tensor cores idle: both consumers store at the same time")
    page.note(0.35, 4.55, "In turn, a consumer stores while the other multiplies. The price: smaller tiles of D.")
    return page.fig
