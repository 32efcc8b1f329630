"""Two blocks that multiply as a pair: what each loads, and where the rows of D are."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

BLOCK_M, BLOCK_N, BLOCK_K, ELEMENT_BYTES = 128, 256, 64, 2
_A, _B, _D = style.tint(style.A, 0.5), style.tint(style.B, 0.55), style.tint(style.D, 0.55)


def stage_kib(pair: bool) -> int:
    """KiB that one block loads for a k tile: its rows of A, and all of B, or half of it in a pair."""
    return (BLOCK_M + BLOCK_N // (2 if pair else 1)) * BLOCK_K * ELEMENT_BYTES // 1024


def cta_pairs():
    """A product of 256 rows on two SMs; both use each half of B."""
    page = Sheet(5.35)
    page.text(0.35, 0.36, "a pair of blocks: one product of 256 × 256 × 16", ha="left", bold=True, size=style.BODY)
    w, half = 3.35, BLOCK_N // 2
    lefts = (0.35, page.width - 0.35 - w)
    for rank, x in enumerate(lefts):
        first = rank * BLOCK_M
        page.box(x, 0.66, w, 3.62, fill="#F4F5F7", edge=style.CARD_EDGE)
        page.text(x + w / 2, 0.87, f"SM of block {rank}" + (" of the pair" if rank else ", which issues"), bold=True)
        page.labelled(x + 0.2, 1.12, w - 0.4, 0.92, "", fill=_D, edge=style.D)
        page.text(x + w / 2, 1.42, f"D, rows {first} to {first + BLOCK_M - 1}", bold=True)
        page.text(x + w / 2, 1.72, f"tensor memory, {BLOCK_N} columns")
        y = 2.95
        page.labelled(
            x + 0.2, y, w / 2 - 0.3, 0.78, f"A, rows\n{first} to {first + BLOCK_M - 1}", fill=_A, edge=style.A
        )
        page.labelled(
            x + w / 2 + 0.1,
            y,
            w / 2 - 0.3,
            0.78,
            f"B, columns\n{rank * half} to {(rank + 1) * half - 1}",
            fill=_B,
            edge=style.B,
        )
        page.text(x + w / 2, 4.0, f"shared memory: {stage_kib(True)} KB a k tile", colour=style.MUTED)
        page.arrow(x + w / 4, y, x + w / 4, 2.08, colour=style.A, lw=1.8)
    for source, x in enumerate(lefts):
        for target, to in enumerate(lefts):
            end = to + 0.62 * w if source == target else (to + 0.9 * w if target == 0 else to + 0.42 * w)
            page.arrow(x + 0.74 * w, 2.95, end, 2.08, colour=style.B, lw=1.8)
    page.note(
        0.35,
        4.58,
        f"Alone, a block loads all of B: {stage_kib(False)} KB for a k tile. In a pair each loads half of it,",
    )
    page.note(0.35, 4.83, "and the tensor cores of both SMs read both halves. One thread issues for the pair;")
    page.note(0.35, 5.08, "a commit with multicast tells the mbarriers of both blocks.")
    return page.fig
