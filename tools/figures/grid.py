"""The grid of blocks over D, and the threads of one block of the first kernel."""

from gemm_look import style
from gemm_look.sheet import Sheet

_ROWS, _COLUMNS = 3, 4  # blocks that are drawn
_SHOWN = (0, 1, 2, None, 31)  # rows and columns of the block that are drawn; None: left out


def grid_of_blocks():
    """blockIdx.x counts blocks to the right, blockIdx.y downwards; thread 1 is below thread 0, thread 32 beside it."""
    page = Sheet(4.1)
    x, y, w, h = 0.75, 1.25, 0.66, 0.62
    page.text(x, 0.4, "D, covered by blocks", size=style.BODY, bold=True, ha="left")
    for row in range(_ROWS):
        for column in range(_COLUMNS):
            lit = (row, column) == (1, 3)
            fill = style.C if lit else style.tint(style.C, 0.14)
            colour = style.text_on(style.C) if lit else style.INK
            page.cell(x + column * w, y + row * h, w, h, f"{column}, {row}", fill=fill, lw=2, colour=colour)
    page.arrow(x, y - 0.16, x + _COLUMNS * w, y - 0.16)
    page.text(x + _COLUMNS * w / 2, y - 0.36, "blockIdx.x", mono=True)
    page.arrow(x - 0.16, y, x - 0.16, y + _ROWS * h)
    page.text(x - 0.3, y + _ROWS * h / 2, "blockIdx.y", mono=True, rotation=90)

    left, top, cell_w, cell_h = 4.35, 1.25, 0.64, 0.44
    page.text(left, 0.4, "block 3, 1 and its threads", size=style.BODY, bold=True, ha="left")
    page.arrow(x + 4 * w + 0.06, y + 1.5 * h, left - 0.14, y + 1.5 * h, lw=1.2)
    for i, row in enumerate(_SHOWN):
        for j, column in enumerate(_SHOWN):
            if row is None or column is None:
                page.text(left + (j + 0.5) * cell_w, top + (i + 0.5) * cell_h, "…", colour=style.MUTED)
                continue
            page.cell(
                left + j * cell_w,
                top + i * cell_h,
                cell_w,
                cell_h,
                str(row + 32 * column),
                fill=style.LIT if column == 0 else style.tint(style.C, 0.14),
                lw=2,
            )
    page.text(left + cell_w / 2, top - 0.2, "col 0", colour=style.MUTED)
    page.text(left + 1.5 * cell_w, top - 0.2, "1", colour=style.MUTED)
    page.text(left, top + 5 * cell_h + 0.3, "yellow: threads 0 to 31, the first warp", ha="left")
    return page.fig
