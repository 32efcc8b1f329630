"""Timelines of one warp: its work between barriers, from a loop that waits for its copy to the pipelined loop."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

_LEFT, _HIGH = 1.15, 0.4  # inches: where time begins, the height of a bar
_LOAD, _STORE = style.MEMORY["DRAM"], style.MEMORY["L2"]
_MATRIX, _MMA = style.MEMORY["registers"], style.tint(style.GREEN, 0.55)


class _Line:
    """One timeline on `page` at height y. Each part is drawn at x, after the one before."""

    def __init__(self, page: Sheet, y: float, name: str):
        self.page, self.y, self.x = page, y, _LEFT
        page.text(0.35, y + _HIGH / 2, name, ha="left", bold=True)

    def part(self, words: str, width: float, fill: str) -> None:
        self.page.cell(self.x, self.y, width, _HIGH, words, fill=fill)
        self.x += width

    def wait(self, width: float) -> None:
        self.page.box(
            self.x,
            self.y + 0.07,
            width,
            _HIGH - 0.14,
            fill=style.tint(style.UNLIT, 0.6),
            edge=style.UNLIT_EDGE,
            radius=0,
            lw=0.7,
            dashed=True,
        )
        self.x += width

    def barrier(self) -> None:
        self.page.line(
            (self.x + 0.04, self.y - 0.08), (self.x + 0.04, self.y + _HIGH + 0.08), colour=style.VERMILION, lw=3, z=4
        )
        self.x += 0.08


def _legend(page: Sheet, y: float, right: str) -> None:
    page.line((_LEFT, y + 0.15), (_LEFT, y - 0.05), colour=style.VERMILION, lw=3)
    page.note(_LEFT + 0.12, y + 0.05, "barrier: every thread of the block waits here")
    page.text(page.width - 0.35, y + 0.05, right, ha="right", colour=style.MUTED)


def prefetch_overlap():
    """Rung 03 waits for its loads; rung 04 issues them before the multiplication and stores the data after it."""
    page = Sheet(3.55)
    page.text(0.35, 0.35, "one k tile of one warp", ha="left", bold=True, size=style.BODY)
    line = _Line(page, 0.75, "03")
    line.part("load", 0.6, _LOAD)
    start = line.x
    line.wait(1.55)
    page.text((start + line.x) / 2, line.y + _HIGH / 2, "nothing to do", colour=style.MUTED)
    line.part("store", 0.6, _STORE)
    line.barrier()
    line.part("multiply tile t", 2.4, _MMA)
    line.barrier()
    page.note(line.x + 0.15, line.y + _HIGH / 2, "tile t + 1")
    line = _Line(page, 1.75, "04")
    line.part("store", 0.6, _STORE)
    line.barrier()
    line.part("load", 0.6, _LOAD)
    start = line.x
    line.part("multiply tile t", 2.4, _MMA)
    line.barrier()
    page.note(line.x + 0.15, line.y + _HIGH / 2, "tile t + 1")
    page.arrow(start, 2.38, start + 1.55, 2.38, colour=_LOAD)
    page.note(start, 2.6, "tile t + 1 on its way, in registers")
    _legend(page, 3.1, "lengths are not to scale")
    return page.fig


def barriers_and_buffers():
    """Two barriers per k tile; one barrier with two buffers; one barrier between independent multiplications."""
    page = Sheet(5.1)
    page.text(0.35, 0.35, "two k tiles of one warp", ha="left", bold=True, size=style.BODY)

    def multiply(line: _Line, words: str, mma: float) -> None:
        line.part("", 0.22, _MATRIX)
        line.part(words, mma, _MMA)

    line = _Line(page, 0.75, "05")
    for tile in ("t", "t + 1"):
        line.part("store", 0.6, _STORE)
        line.barrier()
        multiply(line, f"tile {tile}", 1.6)
        line.barrier()
    page.note(_LEFT, 1.38, "one buffer: written only when every warp has read it, read only when all is written")
    line = _Line(page, 1.95, "06")
    for tile, buffer in (("t", 0), ("t + 1", 1)):
        line.part(f"to {buffer}", 0.6, style.tint(_STORE, 0.4) if buffer else _STORE)
        line.barrier()
        multiply(line, f"tile {tile}, buffer {buffer}", 1.6)
    page.note(_LEFT, 2.58, "two buffers: the other one is free, so only the readers wait")
    line = _Line(page, 3.15, "08")
    for tile, buffer in (("t", 1), ("t + 1", 0)):
        line.part(f"tile {tile}", 0.78, _MMA)
        line.part(f"to {buffer}", 0.6, style.tint(_STORE, 0.4) if buffer else _STORE)
        line.barrier()
        line.part("", 0.22, _MATRIX)
        line.part("last step", 0.9, _MMA)
    page.note(_LEFT, 3.78, "ldmatrix reads the first step of the next tile while the last one of this is multiplied:")
    page.note(_LEFT, 4.0, "the mma behind the barrier already have their fragments")
    page.cell(_LEFT, 4.3, 0.22, 0.22, "", fill=_MATRIX)
    words = "ldmatrix behind the barrier: in 05 and 06 the next mma has to wait for it"
    page.note(_LEFT + 0.32, 4.41, words)
    _legend(page, 4.7, "lengths are not to scale")
    return page.fig
