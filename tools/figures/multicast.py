"""A cluster of two blocks: each loads its rows of A and half of B, and TMA copies that half to both."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

BLOCK_M, BLOCK_N, BLOCK_K, ELEMENT_BYTES, BLOCKS, CONSUMER_WARPS = 128, 256, 64, 2, 2, 8


def kib_from_l2(cluster: int) -> int:
    """KiB that a block reads from L2 for one k tile: its rows of A, and its share of B's columns."""
    return (BLOCK_M + BLOCK_N // cluster) * BLOCK_K * ELEMENT_BYTES // 1024


def cluster_multicast():
    """L2 above, two blocks below, the halves of B that go to both, and the arrivals that free a stage."""
    page = Sheet(5.6)
    page.text(0.35, 0.36, "a cluster of two blocks: one k tile", ha="left", bold=True, size=style.BODY)
    wide, top, half = 3.4, 2.1, BLOCK_N // BLOCKS
    lefts = (0.35, page.width - 0.35 - wide)
    page.labelled(
        0.35,
        0.66,
        page.width - 0.7,
        0.5,
        "L2",
        fill=style.tint(style.MEMORY["L2"], 0.3),
        edge=style.MEMORY["L2"],
        bold=True,
    )
    for rank, x in enumerate(lefts):
        page.box(x, top - 0.15, wide, 1.75, fill="#F4F5F7", edge=style.CARD_EDGE)
        page.text(x + wide / 2, top + 1.12, f"shared memory of block {rank}", bold=True)
        page.labelled(x + 0.15, top, 0.9, 0.92, f"A, {BLOCK_M}\nrows", fill=style.tint(style.A, 0.5), edge=style.A)
        for part in range(BLOCKS):
            page.labelled(
                x + 1.15 + part * 1.08,
                top,
                1.04,
                0.92,
                f"B, columns\n{part * half} to {(part + 1) * half - 1}",
                edge=style.B,
                fill=style.tint(style.B, 0.6 if part == rank else 0.35),
            )
        page.text(x + wide / 2, top + 1.4, f"asks L2 for {kib_from_l2(BLOCKS)} KB, gets {kib_from_l2(1)} KB")
        page.arrow(x + 0.6, 1.18, x + 0.6, top - 0.04, colour=style.A, lw=2)
    middle = page.width / 2
    for part in range(BLOCKS):
        source = middle + (-0.2 if part == 0 else 0.2)
        for x in lefts:
            page.arrow(source, 1.18, x + 1.15 + part * 1.08 + 0.52, top - 0.04, colour=style.B, lw=2)
    y = top + 1.97
    page.text(0.35, y, "full[stage], in each block", ha="left", bold=True)
    page.text(2.95, y, f"{kib_from_l2(1)} KB, whoever asked: half of B comes from the other", ha="left")
    page.text(0.35, y + 0.3, "empty[stage], in each block", ha="left", bold=True)
    page.text(2.95, y + 0.3, f"{BLOCKS * CONSUMER_WARPS} arrivals: the consumer warps of both blocks", ha="left")
    page.line((0.35, y + 0.6), (page.width - 0.35, y + 0.6))
    page.note(0.35, y + 0.88, "A block writes into the other's stage, so both must have read it. That is the price:")
    page.note(0.35, y + 1.14, "they go at one pace, and the slower one sets it.")
    return page.fig
