"""What warp 0 and thread 0 own of D in simt/04_register_tiles and simt/05_warp_tiles, and what the warp reads."""

from __future__ import annotations

from itertools import pairwise

from gemm_look import style
from gemm_look.sheet import Sheet

BLOCK, THREAD = 128, 8  # a block tile is 128 × 128, a thread owns 8 × 8 sums
THREADS = BLOCK // THREAD  # in a row of threads of 04
WARP_N, LANES_M, LANES_N = 32, 8, 4
SEEN = 0.075  # inches: the least width of what belongs to the thread


def owned_04(thread: int) -> tuple[set[int], set[int]]:
    """The rows and the columns of a thread in 04: neither are neighbours."""
    row, column = divmod(thread, THREADS)
    return {row + i * THREADS for i in range(THREAD)}, {column + j * THREADS for j in range(THREAD)}


def owned_05(thread: int) -> tuple[set[int], set[int]]:
    """The rows and the columns of a thread in 05: four neighbours, twice."""
    warp, lane = divmod(thread, 32)
    row = warp // (BLOCK // WARP_N) * LANES_M * THREAD + lane // LANES_N * 4
    column = warp % (BLOCK // WARP_N) * WARP_N + lane % LANES_N * 4
    return (
        {row + i // 4 * 4 * LANES_M + i % 4 for i in range(THREAD)},
        {column + j // 4 * 4 * LANES_N + j % 4 for j in range(THREAD)},
    )


def of_warp(owned) -> tuple[set[int], set[int]]:
    """The rows and the columns of warp 0."""
    rows, columns = zip(*(owned(thread) for thread in range(32)), strict=True)
    return set().union(*rows), set().union(*columns)


def _runs(numbers: set[int]) -> list[tuple[int, int]]:
    """Neighbouring numbers as (first, how many)."""
    ends = [-1, *(at for at, (a, b) in enumerate(pairwise(sorted(numbers))) if b > a + 1), len(numbers) - 1]
    found = sorted(numbers)
    return [(found[a + 1], found[b] - found[a + 1] + 1) for a, b in pairwise(ends)]


def warp_tiles():
    """Two block tiles side by side, with the strips of A and B above and beside them."""
    page = Sheet(4.55)
    side, strip, gap, y = 2.72, 0.24, 0.08, 1.32
    cell = side / BLOCK
    for left, name, owned in ((0.75, "04_register_tiles", owned_04), (4.72, "05_warp_tiles", owned_05)):
        rows, columns = of_warp(owned)
        mine = owned(0)
        page.text(left, 0.42, name, ha="left", bold=True, size=style.BODY)
        page.note(left, 0.72, f"warp 0: {len(rows)} rows, {len(columns)} columns")
        page.box(left, y, side, side, fill=style.tint(style.C, 0.1), edge=style.UNLIT_EDGE, radius=0, lw=0.7)
        page.box(left - gap - strip, y, strip, side, fill=style.tint(style.A, 0.14), edge="none", radius=0)
        page.box(left, y - gap - strip, side, strip, fill=style.tint(style.B, 0.14), edge="none", radius=0)
        for row, many in _runs(rows):
            page.box(left - gap - strip, y + row * cell, strip, many * cell, fill=style.A, edge="none", radius=0)
            for column, wide in _runs(columns):
                page.box(left + column * cell, y + row * cell, wide * cell, many * cell,
                         fill=style.tint(style.C, 0.75), edge="none", radius=0)  # fmt: skip
        for column, wide in _runs(columns):
            page.box(left + column * cell, y - gap - strip, wide * cell, strip, fill=style.B, edge="none", radius=0)
        for row, many in _runs(mine[0]):
            for column, wide in _runs(mine[1]):
                more = max(0.0, SEEN - wide * cell)  # a single element would be too small to be seen
                page.box(left + column * cell - more / 2, y + row * cell - more / 2, wide * cell + more,
                         many * cell + more, fill=style.LIT, edge=style.INK, lw=0.3, radius=0, z=4)  # fmt: skip
        page.text(left - gap - strip / 2, y - gap - strip / 2, "A", bold=True, colour=style.ink(style.A))
        page.text(left + side + 0.16, y - gap - strip / 2, "B", bold=True, colour=style.ink(style.B))
        page.text(
            left,
            y + side + 0.25,
            f"for one k: {len(rows)} + {len(columns)} = {len(rows) + len(columns)} words",
            ha="left",
            bold=True,
        )
    return page.fig
