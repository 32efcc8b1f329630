"""The bits of a shared-memory address: those of the chunk, those of the row, and those that the XOR changes."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.swizzle import row_swizzle

BITS, CHUNK_BITS, BANK_BITS = 12, 4, (2, 6)
BYTE, CHUNK, ROW = "#E9ECEF", style.tint(style.ORANGE, 0.55), style.tint(style.BLUE, 0.62)


def swizzle_bits():
    """Three row sizes: the row's bits have other places, and the XOR uses these."""
    page = Sheet(5.05)
    w, h, x0, top, step = 0.4, 0.36, 2.3, 1.2, 1.2
    page.text(0.3, 0.38, "the bits of a byte address", ha="left", bold=True, size=style.BODY)
    for bit in range(BITS):
        page.text(x0 + (BITS - bit - 0.5) * w, top - 0.17, str(bit), colour=style.MUTED)
    for number, row_bytes in enumerate((64, 128, 256)):
        swizzle, y = row_swizzle(row_bytes), top + number * step
        column = row_bytes.bit_length() - 1  # address bits of one row
        page.text(0.3, y + h / 2 - 0.1, f"rows of {row_bytes} bytes", ha="left", bold=True)
        page.text(
            0.3, y + h / 2 + 0.16, f"Swizzle({swizzle.bits}, {swizzle.base}, {swizzle.shift})", ha="left", mono=True
        )
        for bit in range(BITS):
            kind = ("byte", BYTE) if bit < CHUNK_BITS else ("chunk", CHUNK) if bit < column else ("row", ROW)
            place = bit - {"byte": 0, "chunk": CHUNK_BITS, "row": column}[kind[0]]
            x = x0 + (BITS - 1 - bit) * w
            page.cell(x, y, w, h, f"{kind[0][0]}{place}", fill=kind[1], mono=True)
            if swizzle.mask >> bit & 1:
                page.box(x, y, w, h, fill="none", edge=style.INK, lw=1.8, radius=0, z=4)
        for number_, bit in enumerate(bit for bit in range(BITS) if swizzle.mask >> bit & 1):
            source, level = bit + swizzle.shift, y + h + 0.14 + number_ * 0.15
            fx, tx = (x0 + (BITS - b - 0.5) * w for b in (source, bit))
            page.line((fx, y + h), (fx, level), (tx, level), colour=style.BLUE, lw=1.5, z=3)
            page.arrow(tx, level, tx, y + h - 0.02, colour=style.BLUE, lw=1.5)
    y = top + 3 * step - 0.05
    for x, fill, words in ((0.3, ROW, "row"), (1.15, CHUNK, "chunk of 16 bytes"), (3.2, BYTE, "byte in the chunk")):
        page.box(x, y - 0.09, 0.2, 0.18, fill=fill, edge=fill, radius=0)
        page.note(x + 0.28, y, words)
    page.note(5.35, y, "framed: changed by the XOR")
    low, high = (x0 + (BITS - bit) * w for bit in (BANK_BITS[0], BANK_BITS[1] + 1))
    page.line((high + 0.03, 0.88), (high + 0.03, 0.81), (low - 0.03, 0.81), (low - 0.03, 0.88), colour=style.MUTED)
    page.text((low + high) / 2, 0.66, "bank", colour=style.MUTED)
    return page.fig
