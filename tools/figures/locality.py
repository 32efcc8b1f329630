"""Block order and L2: the tiles that are computed at the same time, and the strips of A and B that they read."""

from __future__ import annotations

from gemm_lab_lessons.ch10.block_order import Wave, block_order, waves
from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware import data_sheets as hardware

TILES_M, TILES_N, AT_ONCE, GROUP_M = 8, 12, 12, 4
BLOCK, SIZE, FULL_GROUP_M = 128, 8192, 8  # the full-size case in the last lines: tiles of 128 x 128, K = 8192


def first_wave(order: str) -> Wave:
    """The first wave of the small grid in the picture."""
    return waves(block_order(order, TILES_M, TILES_N, GROUP_M), AT_ONCE, (BLOCK, BLOCK), SIZE)[0]


def full_size_bytes(order: str) -> int:
    """Different bytes that the first wave of an 8192 x 8192 x 8192 product reads, with one block per SM of an H200."""
    tiles = SIZE // BLOCK
    placed = block_order(order, tiles, tiles, FULL_GROUP_M)
    return waves(placed, hardware.gpu("h200").sms, (BLOCK, BLOCK), SIZE)[0].distinct_bytes


def block_order_locality():
    """Row order and grouped order: the same number of tiles, fewer strips."""
    page = Sheet(5.35)
    cell, strip, gap, top = 0.255, 0.2, 0.07, 1.3
    for x, order, title in ((0.72, "row", "row by row"), (4.55, "grouped", f"grouped, GROUP_M = {GROUP_M}")):
        path = [tuple(tile) for tile in block_order(order, TILES_M, TILES_N, GROUP_M)]
        lit = {tile: number for number, tile in enumerate(path[:AT_ONCE])}
        rows, columns = {m for m, _ in lit}, {n for _, n in lit}
        page.text(x, 0.38, title, ha="left", bold=True, size=style.BODY)
        page.text(x - gap - strip / 2, top - gap - strip / 2, "A", bold=True, colour=style.ink(style.A))
        page.text(x + TILES_N * cell / 2, top - gap - strip - 0.17, "B", bold=True, colour=style.ink(style.B))
        page.grid(
            x - gap - strip,
            top,
            TILES_M,
            1,
            strip,
            cell,
            edge=style.tint(style.A, 0.6),
            fill=lambda i, j, rows=rows: style.A if i in rows else style.tint(style.A, 0.12),
        )
        page.grid(
            x,
            top - gap - strip,
            1,
            TILES_N,
            cell,
            strip,
            edge=style.tint(style.B, 0.6),
            fill=lambda i, j, columns=columns: style.B if j in columns else style.tint(style.B, 0.12),
        )
        page.grid(
            x,
            top,
            TILES_M,
            TILES_N,
            cell,
            cell,
            edge=style.PAPER,
            lw=1.2,
            fill=lambda i, j, lit=lit: style.tint(style.C, 0.55) if (i, j) in lit else style.tint(style.C, 0.12),
            words=lambda i, j, lit=lit: str(lit.get((i, j), "")),
        )
        wave = first_wave(order)
        y = top + TILES_M * cell + 0.3
        page.text(
            x,
            y,
            f"{wave.rows} of A + {wave.columns} of B = {wave.rows + wave.columns} strips from DRAM",
            ha="left",
            bold=True,
        )
        page.note(x, y + 0.26, f"{2 * wave.blocks} strips read through L2")
    page.line((0.45, 4.32), (page.width - 0.45, 4.32))
    row, grouped = (full_size_bytes(order) / 2**20 for order in ("row", "grouped"))
    page.text(
        0.45,
        4.6,
        f"M = N = K = {SIZE}, BF16, {hardware.gpu('h200').sms} tiles of {BLOCK} × {BLOCK} at once:",
        ha="left",
    )
    page.text(
        0.45,
        4.88,
        f"row by row they want {row:.0f} MiB of A and B, in groups of {FULL_GROUP_M} rows {grouped:.0f} MiB",
        ha="left",
        bold=True,
    )
    return page.fig
