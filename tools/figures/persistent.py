"""Persistent blocks: one block per SM that computes tile after tile, compared with one block per tile."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

SMS, TILES = 3, 8
FILL, LOOP, STORE = 0.36, 1.15, 0.42  # inches: first copies, main loop, epilogue
_COPY, _MMA, _OUT = style.MEMORY["DRAM"], style.tint(style.GREEN, 0.55), style.tint(style.ORANGE, 0.55)


def tiles_of(block: int, blocks: int = SMS, tiles: int = TILES) -> list[int]:
    """The tiles of persistent block number `block`: the tile with its number, then every `blocks`-th."""
    return list(range(block, tiles, blocks))


def persistent_blocks():
    """Each new block fills its pipeline again; a persistent one copies for its next tile during the epilogue."""
    page = Sheet(5.6)
    left, high, step = 1.3, 0.4, 0.5

    def tile(x, y, number, fill):
        if fill:
            page.cell(x, y, FILL, high, "", fill=_COPY)
            x += FILL
        page.cell(x, y, LOOP, high, f"tile {number}", fill=_MMA)
        page.cell(x + LOOP, y, STORE, high, "", fill=_OUT)
        return x + LOOP + STORE

    def heading(y, title, words):
        page.text(0.35, y, title, ha="left", bold=True, size=style.BODY)
        page.note(0.35, y + 0.27, words)

    heading(0.36, "a block for each tile", f"{TILES} blocks, one at a time on each of {SMS} SMs")
    for sm in range(SMS):
        y, x = 0.92 + sm * step, left
        page.text(0.35, y + high / 2, f"SM {sm}", ha="left")
        for number in tiles_of(sm):
            x = tile(x, y, number, fill=True)
            page.line((x, y - 0.05), (x, y + high + 0.05), colour=style.INK, lw=2, z=4)
    heading(2.75, "persistent blocks", f"{SMS} blocks; block b takes tiles b, b + {SMS}, b + {2 * SMS}, …")
    for sm in range(SMS):
        y, x = 3.31 + sm * step, left
        page.text(0.35, y + high / 2, f"SM {sm}", ha="left")
        mine = tiles_of(sm)
        for number in mine:
            x = tile(x, y, number, fill=number == mine[0])
            if number != mine[-1]:
                page.box(x - FILL, y + high * 0.66, FILL, high * 0.34, fill=_COPY, edge=style.PAPER, radius=0, z=4)
        page.line((x, y - 0.05), (x, y + high + 0.05), colour=style.INK, lw=2, z=4)
    y = 5.0
    for x, fill, words in ((0.35, _COPY, "first copies of a tile"), (2.55, _MMA, "main loop"), (3.9, _OUT, "epilogue")):
        page.box(x, y - 0.1, 0.2, 0.2, fill=fill, edge=fill, radius=0)
        page.note(x + 0.28, y, words)
    page.line((5.2, y - 0.12), (5.2, y + 0.12), colour=style.INK, lw=2)
    page.note(5.32, y, "a block ends")
    page.note(0.35, 5.3, "The last round is as empty as before: only a finer split of the work fills it.")
    return page.fig
