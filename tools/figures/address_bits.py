"""One byte address of a tile with rows of 128 bytes, bit by bit, before and after the XOR."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.swizzle import row_swizzle
from tools.figures.swizzle_bits import BYTE, CHUNK, CHUNK_BITS, ROW

ROW_BYTES, BITS = 128, 12
EXAMPLE = (13, 6, 4)  # row, chunk, byte in the chunk


def addresses() -> tuple[int, int]:
    """The address of the example in a plain tile, and in the swizzled one."""
    row, chunk, byte = EXAMPLE
    plain = row * ROW_BYTES + chunk * 16 + byte
    return plain, int(row_swizzle(ROW_BYTES)(plain))


def address_bits():
    """The three fields of the address, and how three row bits are XORed into the chunk bits."""
    page = Sheet(4.0)
    w, h, x0, top = 0.42, 0.38, 2.1, 1.5
    row, chunk, byte = EXAMPLE
    column, swizzle = ROW_BYTES.bit_length() - 1, row_swizzle(ROW_BYTES)
    plain, moved = addresses()

    def x(bit):
        return x0 + (BITS - 1 - bit) * w

    page.text(0.3, 0.4, f"the address of row {row}, chunk {chunk}, byte {byte}", ha="left", bold=True, size=style.BODY)
    fields = (("row", column, BITS, ROW), ("chunk", CHUNK_BITS, column, CHUNK), ("byte", 0, CHUNK_BITS, BYTE))
    for name, low, high, _ in fields:
        page.text((x(high - 1) + x(low) + w) / 2, top - 0.52, name, colour=style.MUTED)
        page.line(
            (x(high - 1) + 0.03, top - 0.3),
            (x(high - 1) + 0.03, top - 0.38),
            (x(low) + w - 0.03, top - 0.38),
            (x(low) + w - 0.03, top - 0.3),
            colour=style.MUTED,
        )
    for bit in range(BITS):
        page.text(x(bit) + w / 2, top - 0.16, str(bit), colour=style.MUTED)
    below = top + h + 0.86
    for y, title, value in ((top, "plain", plain), (below, "swizzled", moved)):
        page.text(0.3, y + h / 2, title, ha="left", bold=True)
        page.text(1.9, y + h / 2, f"{value:,}", ha="right", mono=True)
        for _, low, high, fill in fields:
            for bit in range(low, high):
                changed = y == below and swizzle.mask >> bit & 1
                page.cell(x(bit), y, w, h, str(value >> bit & 1), fill=fill, mono=True, bold=changed)
                if changed:
                    page.box(x(bit), y, w, h, fill="none", edge=style.INK, lw=1.8, radius=0, z=4)
    for number, bit in enumerate(bit for bit in range(BITS) if swizzle.mask >> bit & 1):
        source, level = x(bit + swizzle.shift) + w / 2, top + h + 0.18 + number * 0.17
        page.line((source, top + h), (source, level), (x(bit) + w / 2, level), colour=style.BLUE, lw=1.5, z=3)
        page.arrow(x(bit) + w / 2, top + h + 0.04, x(bit) + w / 2, below - 0.03, colour=style.BLUE, lw=1.5)
    place = moved % ROW_BYTES // 16
    words = f"chunk {chunk:03b} XOR the last three row bits {row % 8:03b} is place {place:03b}, the number {place}"
    page.note(0.3, below + h + 0.42, words)
    return page.fig
