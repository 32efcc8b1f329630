"""A warp's store of results: directly from the fragments of m16n8k8, and staged through shared memory."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

LANES, SECTOR = 32, 32  # lanes of a warp; bytes of a sector
FRAGMENT = [(lane // 4, lane % 4 * 4, 4) for lane in range(LANES)]  # row, first byte, bytes of a lane's half2
STAGED = [(lane // 16, lane % 16 * 16, 16) for lane in range(LANES)]  # two rows of 256 bytes


def sectors(stores: list[tuple[int, int, int]]) -> tuple[int, float]:
    """(number of sectors, share of their bytes that is written) of one store instruction.

    stores: (row, first byte, bytes) of each lane.
    """
    touched = {(row, at // SECTOR) for row, at, _ in stores}
    return len(touched), sum(size for *_, size in stores) / (len(touched) * SECTOR)


def staged_epilogue():
    """Eight half-used sectors in eight rows, and sixteen full ones in two."""
    page = Sheet(4.4)
    left, top, row_h, byte = 0.95, 1.15, 0.24, 6.4 / 256

    def rows(y: float, count: int, stores, colour) -> None:
        for row in range(count):
            page.grid(left, y + row * row_h, 1, 8, SECTOR * byte, row_h - 0.05, edge=style.UNLIT_EDGE, lw=0.6)
            page.text(left - 0.12, y + (row + 0.4) * row_h, str(row), ha="right", colour=style.MUTED)
        for row, at, size in stores:
            page.box(
                left + at * byte,
                y + row * row_h,
                size * byte,
                row_h - 0.05,
                fill=colour,
                edge=style.PAPER,
                lw=0.5,
                radius=0,
                z=3,
            )

    for y, title, stores in (
        (top, "from the fragments: 4 bytes a lane", FRAGMENT),
        (top + 8 * row_h + 0.55, "staged: 16 bytes a lane", STAGED),
    ):
        count, used = sectors(stores)
        rows(y, max(row for row, *_ in stores) + 1, stores, style.tint(style.D, 0.45))
        page.text(left, y - 0.22, title, ha="left", bold=True, size=style.BODY)
        page.text(
            left + 6.4,
            y - 0.22,
            f"{LANES * stores[0][2]} bytes, {count} sectors, {used:.0%} used",
            ha="right",
            colour=style.MUTED,
        )
    page.note(left, 0.45, "one store instruction of a warp; each cell is a sector of 32 bytes, each row a row of D")
    page.text(0.5, top + 4 * row_h, "row", colour=style.MUTED, rotation=90)
    return page.fig
