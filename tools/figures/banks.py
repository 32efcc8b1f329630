"""Banks and wavefronts: a toy machine with four banks, and ldmatrix on the real 32 banks."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

WORD, BANKS = 4, 32  # bytes of a word; number of banks


def wavefronts(words: list[int], banks: int = BANKS) -> list[list[int]]:
    """The lanes that each wavefront serves if lane i reads word words[i]; lanes with the same word share one."""
    queues: dict[int, list[int]] = {}
    for word in words:
        queue = queues.setdefault(word % banks, [])
        if word not in queue:
            queue.append(word)
    count = max(map(len, queues.values()))
    return [[lane for lane, word in enumerate(words) if queues[word % banks].index(word) == w] for w in range(count)]


def banks_and_wavefronts():
    """Four threads and four banks: all in different banks, two in one bank, all in one bank."""
    page = Sheet(4.75)
    n, w, h = 4, 0.44, 0.36
    top = 2.12
    cases = (
        ("one word in each bank", [0, 1, 2, 3]),
        ("two in the same bank", [0, 4, 2, 3]),
        ("all in the same bank", [0, 4, 8, 12]),
    )
    for y, words in ((0.97, "thread"), (1.35, "wants"), (top + n * h + 0.2, "bank")):
        page.text(0.95, y, words, colour=style.MUTED, ha="right")
    for k, (title, words) in enumerate(cases):
        waves = wavefronts(words, banks=n)
        left = 1.08 + k * 2.33
        middle = left + n * w / 2
        wave_of = {words[lane]: number for number, lanes in enumerate(waves) for lane in lanes}
        page.text(middle, 0.45, title, bold=True)
        for lane, word in enumerate(words):
            x = left + (lane + 0.5) * w
            page.labelled(x - 0.18, 0.81, 0.36, 0.32, f"T{lane}", fill=style.UNLIT, edge=style.UNLIT_EDGE)
            page.text(x, 1.35, str(word), bold=True)
            page.arrow(x, 1.5, left + (word % n + 0.5) * w, top - 0.03, lw=1.2, colour=style.INK)
        page.grid(
            left,
            top,
            n,
            n,
            w,
            h,
            edge=style.UNLIT_EDGE,
            words=lambda i, j: str(n * i + j),
            fill=lambda i, j, of=wave_of: _wave_colour(of.get(n * i + j)),
        )
        for j in range(n):
            page.text(left + (j + 0.5) * w, top + n * h + 0.2, str(j), colour=style.MUTED)
        number = len(waves)
        page.text(
            middle,
            4.28,
            f"{number} wavefront{'s' if number > 1 else ''}",
            size=style.LARGE,
            bold=True,
            colour=style.ink(style.WAVEFRONT if number == 1 else style.CONFLICT),
        )
    return page.fig


def _wave_colour(wave: int | None) -> str:
    if wave is None:
        return style.PAPER
    return style.WAVEFRONT if wave == 0 else style.tint(style.CONFLICT, 0.7)


def ldmatrix_conflict():
    """The eight 16-byte rows of one 8x8 matrix, 128 bytes apart: on 4 banks, and swizzled on all 32."""
    page = Sheet(5.3)
    rows, chunks, stride = 8, 8, 128
    w, h = 0.36, 0.27
    for k, (title, swizzled) in enumerate((("rows 128 bytes apart", False), ("the same, swizzled", True))):
        left, top = 0.78 + k * 3.72, 1.12
        middle = left + chunks * w / 2
        chunk_of = [(row if swizzled else 0) for row in range(rows)]
        starts = [row * stride + chunk_of[row] * 16 for row in range(rows)]
        words = [(start // WORD) + j for start in starts for j in range(4)]
        waves = wavefronts(words)
        wave_of_row = [next(n for n, lanes in enumerate(waves) if 4 * row in lanes) for row in range(rows)]
        page.text(middle, 0.42, title, bold=True, size=style.BODY)
        page.note(left, 0.92, "bank 0")
        page.text(left + chunks * w, 0.92, f"bank {BANKS - 1}", ha="right", colour=style.MUTED)
        page.grid(
            left,
            top,
            rows,
            chunks,
            w,
            h,
            edge=style.UNLIT_EDGE,
            lw=0.6,
            fill=lambda i, j, c=chunk_of, v=wave_of_row: _wave_colour(v[i]) if c[i] == j else style.PAPER,
            words=lambda i, j, c=chunk_of: str(i) if c[i] == j else "",
        )
        for row in range(rows):
            page.text(left - 0.1, top + (row + 0.5) * h, f"{row}", ha="right", colour=style.MUTED)
        load = [len({word for word in words if word % BANKS // 4 == chunk}) // 4 for chunk in range(chunks)]
        y = top + rows * h + 0.92
        for chunk, count in enumerate(load):
            for level in range(count):
                page.cell(
                    left + chunk * w + 0.04, y - (level + 1) * 0.085, w - 0.08, 0.085, lw=0.5, fill=_wave_colour(level)
                )
        page.line((left, y), (left + chunks * w, y), z=4)
        page.text(middle, y + 0.22, "rows wanted from each group of 4 banks", colour=style.MUTED)
        number = len(waves)
        page.text(
            middle,
            y + 0.7,
            f"{number} wavefront{'s' if number > 1 else ''}",
            size=style.LARGE,
            bold=True,
            colour=style.ink(style.WAVEFRONT if number == 1 else style.CONFLICT),
        )
    page.text(0.34, 1.12 + 4 * h, "row", colour=style.MUTED, rotation=90)
    return page.fig
