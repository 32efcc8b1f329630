"""Loops over tiles: which slice reads which memory, what nine loops become on a GPU, and how a warp's reads arrive."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

LEVELS = (
    ("DRAM", "A, B and D, for all blocks", style.MEMORY["DRAM"]),
    ("shared memory", "tiles, for the threads of one block", style.MEMORY["shared memory"]),
    ("one warp’s reads", "what its 32 threads ask for together", style.INK),
    ("registers", "operands, for one thread alone", style.MEMORY["registers"]),
)
SLICES = (
    ("a = A[i:i+BM, k:k+BK]", "counts in DRAM"),
    ("aw = a[iw:iw+WM, kw:kw+WK]", "counts in shared memory"),
    ("column = aw[it:it+TM, kt:kt+1]", "counts in registers"),
)


def counted_levels():
    """Four levels, one below the other, with the slice that leads from each to the next and the counter it moves."""
    page = Sheet(4.75)
    x, w, h, pitch, top = 0.35, 3.2, 0.62, 1.08, 0.35
    for number, (name, what, colour) in enumerate(LEVELS):
        y = top + number * pitch
        passing = name.startswith("one warp")
        page.box(x, y, w, h, fill=style.tint(colour, 0.05 if passing else 0.13), edge=colour, lw=1.6, dashed=passing)
        page.text(x + 0.15, y + 0.21, name, bold=True, size=style.BODY, ha="left")
        page.note(x + 0.15, y + 0.45, what)
    for number, (code, counter) in enumerate(SLICES):
        y = top + number * pitch + h
        page.arrow(x + w / 2, y + 0.03, x + w / 2, y + pitch - h - 0.03, lw=2, head=13)
        page.text(x + w / 2 + 0.25, y + (pitch - h) / 2, code, mono=True, ha="left")
        page.text(
            7.6,
            y + (pitch - h) / 2,
            counter,
            bold=True,
            ha="right",
            colour=style.ink(LEVELS[number if number < 2 else 3][2]),
        )
    y = top + 3 * pitch + h / 2
    page.arrow(x + w + 0.05, y, x + w + 0.7, y, lw=2, head=13)
    page.text(x + w + 0.85, y - 0.12, "d[…] += column * row", mono=True, ha="left")
    page.text(x + w + 0.85, y + 0.16, "counts multiply-adds", bold=True, ha="left")
    return page.fig


LOOPS = (
    ("for i in range(0, M, BM):", "block", "blockIdx.y"),
    ("for j in range(0, N, BN):", "block", "blockIdx.x"),
    ("for k in range(0, K, BK):", "block", ""),
    ("for iw in range(0, BM, WM):", "warp", "threadIdx.x"),
    ("for jw in range(0, BN, WN):", "warp", "threadIdx.x"),
    ("for kw in range(0, BK, WK):", "warp", ""),
    ("for it in range(0, WM, TM):", "thread", "threadIdx.x"),
    ("for jt in range(0, WN, TN):", "thread", "threadIdx.x"),
    ("for kt in range(WK):", "thread", ""),
)
GROUPS = {"block": style.MEMORY["shared memory"], "warp": style.INK, "thread": "#B58900"}


def nine_loops():
    """The nine loops; six of them become the number of a block or of a thread, three stay loops."""
    page = Sheet(4.6)
    x, top, row = 0.45, 0.78, 0.39
    page.note(x, 0.38, "the loop in Python")
    page.note(4.5, 0.38, "on a GPU")
    for number, (code, level, index) in enumerate(LOOPS):
        y = top + number * row
        page.box(x - 0.12, y - row / 2 + 0.02, 0.06, row - 0.04, fill=GROUPS[level], edge=GROUPS[level], lw=0, radius=0)
        page.text(x + 0.16 * number, y, code, mono=True, ha="left")
        words = f"all at once, by {index}" if index else "stays a loop"
        colour = style.MUTED if index else style.ink(style.GREEN)
        page.text(4.5, y, words, ha="left", bold=not index, colour=colour)
        if number % 3 == 1:
            page.text(7.6, y, level, bold=True, ha="right", colour=style.ink(GROUPS[level]))
        if number % 3 == 2 and number < 8:
            page.line((x - 0.12, y + row / 2), (7.65, y + row / 2))
    page.text(x + 0.16 * 9, top + 9 * row, "d[…] += column * row", mono=True, ha="left")
    page.note(4.5, top + 9 * row, "a thread’s own arithmetic")
    return page.fig


def coalescing():
    """The sectors that 32 threads touch: neighbours in a row, and neighbours in a column."""
    page = Sheet(3.75)
    cell, sector = 0.19, 8
    page.text(0.4, 0.38, "32 threads along a row", bold=True, size=style.BODY, ha="left")
    for number in range(4):
        y = 0.72 + number * 0.42
        page.grid(0.4, y, 1, sector, cell * 1.6, 0.3, fill=style.SKY, edge=style.PAPER, outline=style.INK)
        threads = f"threads {number * 8} to {number * 8 + 7}"
        page.note(0.4 + sector * cell * 1.6 + 0.12, y + 0.15, threads)
    page.text(0.4, 2.62, "4 sectors, 32 of 32 words wanted", bold=True, ha="left", colour=style.ink(style.BLUE))
    x = 4.55
    page.text(x, 0.38, "32 threads down a column", bold=True, size=style.BODY, ha="left")
    for number, thread in enumerate((0, 1, 2, None, 31)):
        y = 0.72 + number * 0.42
        if thread is None:
            page.text(x + 0.4, y + 0.13, "…", size=style.LARGE)
            continue

        def fill(i, j):
            return style.CONFLICT if j == 2 else style.PAPER

        page.grid(x, y, 1, sector, cell * 1.6, 0.3, fill=fill, edge=style.UNLIT_EDGE, outline=style.INK)
        page.note(x + sector * cell * 1.6 + 0.12, y + 0.15, f"thread {thread}")
    page.text(x, 3.02, "32 sectors, 32 of 256 words wanted", bold=True, ha="left", colour=style.ink(style.CONFLICT))
    page.note(0.4, 3.4, "One box is a sector: 32 bytes, or eight numbers of 4 bytes.")
    return page.fig
