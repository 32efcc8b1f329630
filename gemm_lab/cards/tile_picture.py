"""A picture of the block tile of D, to scale, as a grid of warp tiles."""

from __future__ import annotations

from gemm_look.card import remark
from gemm_look.theme import TINT_GOOD, TINT_NOTE, tag

WIDTH = 220  # pixels of the longer side


def tile_picture(block: tuple[int, int], warps: tuple[int, int], warp: tuple[int, int]) -> str:
    """HTML of the picture.

    block, warp: (rows, columns) of the block tile and of a warp tile.   warps: their number down and across.
    """
    m, n = block
    scale = WIDTH / max(m, n)
    size = {"width": f"{warp[1] * scale:.0f}px", "height": f"{warp[0] * scale:.0f}px"}

    def cell(i: int, j: int) -> str:
        colour = TINT_GOOD if (i + j) % 2 else TINT_NOTE
        return tag("td", "tile", f"warp {i * warps[1] + j}", **size, background=colour)

    rows = [f"<tr>{''.join(cell(i, j) for j in range(warps[1]))}</tr>" for i in range(warps[0])]
    note = f"block tile of D: {m} × {n} ({warps[0] * warps[1]} warps of {warp[0]} × {warp[1]})"
    return tag("table", "table", "".join(rows)) + remark(note, "small")
