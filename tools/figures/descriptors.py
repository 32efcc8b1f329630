"""The fields of a matrix descriptor of tcgen05.mma, and why a step along k adds 32 bytes to its start."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.matrix_descriptor import SharedTile
from gpu_simulator.hardware.matrix_descriptor_sm100 import encode_sm100

BLOCK_K, MMA_K, ELEMENT_BYTES, ROWS = 64, 16, 2, 8
STEPS = tuple(style.tint(colour, 0.55) for colour in (style.SKY, style.ORANGE, style.PURPLE, "#8A8A8A"))
# First bit, bits, name, inches in the picture; the wide fields are those that a kernel sets.
FIELDS = (
    (61, 3, "swizzle", 1.15),
    (49, 12, "0", 0.55),
    (46, 3, "version", 1.05),
    (32, 14, "next 8 rows", 1.55),
    (16, 14, "(unused)", 1.2),
    (0, 14, "start", 1.8),
)


def step_bytes(k2: int) -> int:
    """Distance in bytes from the start of the first product of a k tile to that of product k2."""
    return k2 * MMA_K * ELEMENT_BYTES


def matrix_descriptor():
    """The fields of A's descriptor, and the four starts of a k tile in eight rows of 128 bytes."""
    page = Sheet(5.85)
    tile = SharedTile(start=49152, leading_bytes=16, stride_bytes=ROWS * BLOCK_K * ELEMENT_BYTES, swizzle=128)
    word = encode_sm100(tile)
    page.text(0.35, 0.36, "64 bits that say where a tile lies", ha="left", bold=True, size=style.BODY)
    page.text(page.width - 0.35, 0.36, f"{word:#018x}", ha="right", mono=True)
    x, y, h = 0.35, 1.0, 0.46
    meaning = {61: "2: 128 bytes", 46: "0b001", 32: f"{tile.stride_bytes:,} / 16", 0: f"{tile.start:,} / 16"}
    for first, bits, name, width in FIELDS:
        value = word >> first & ((1 << bits) - 1)
        fill = style.UNLIT if name in ("0", "(unused)") else style.tint(style.A, 0.3)
        page.cell(x, y, width, h, str(value), fill=fill, mono=True)
        page.text(x + width / 2, y - 0.16, f"{first + bits - 1}–{first}", colour=style.MUTED)
        page.text(x + width / 2, y + h + 0.18, name, bold=name not in ("0", "(unused)"))
        page.text(x + width / 2, y + h + 0.44, meaning.get(first, ""), colour=style.MUTED)
        x += width
    top, left, w, row = 3.02, 1.55, 1.42, 0.185
    page.text(0.35, 2.4, "eight rows of a tile, 128 bytes each: 64 values along k", ha="left", bold=True)
    for k2 in range(BLOCK_K // MMA_K):
        page.text(left + (k2 + 0.5) * w, top - 0.17, f"k2 = {k2}", bold=True)
        for i in range(ROWS):
            page.cell(left + k2 * w, top + i * row, w, row, fill=STEPS[k2], lw=0.8)
        page.text(left + (k2 + 0.5) * w, top + ROWS * row + 0.2, f"+ {step_bytes(k2)} bytes")
        page.text(
            left + (k2 + 0.5) * w, top + ROWS * row + 0.46, f"descriptor + {step_bytes(k2) // 16}", colour=style.MUTED
        )
    page.text(left - 0.12, top + row / 2, "row 0", ha="right", colour=style.MUTED)
    page.text(left - 0.12, top + (ROWS - 0.5) * row, f"row {ROWS - 1}", ha="right", colour=style.MUTED)
    page.note(0.35, 5.3, "A product takes 16 values of each row, and starts 32 bytes further than the one before.")
    page.note(0.35, 5.55, "The XOR of the swizzle comes after the sum, as it did when TMA wrote the rows.")
    return page.fig
