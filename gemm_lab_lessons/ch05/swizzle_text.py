"""The swizzle explorer as text, for a terminal: a table of the tile with the first bank of each chunk."""

from __future__ import annotations

import numpy as np

from gemm_lab_lessons.ch04.wavefront_text import passes
from gemm_lab_lessons.ch05.tile_access import TileAccess, totals

MOST_ROWS, MOST_CHUNKS = 16, 16


def explain(access: TileAccess, asked: bool = False) -> str:
    """The tile, the count of wavefronts, the banks of the rows around the access, and the lanes of each wavefront.

    asked: the learner still has to predict the count, so neither it nor the wavefronts are shown.
    """
    tile, schedule = access.layout, access.schedule
    wavefronts, ideal = totals(tile, access.name)
    verdict = "no conflicts" if schedule.count <= access.ideal else f"{schedule.count / access.ideal:g} × the ideal"
    said = (
        f"{schedule.count} wavefront{'s' * (schedule.count != 1)}, ideal {access.ideal}: {verdict}. "
        f"Whole tile: {wavefronts:,}, ideal {ideal:,}."
    )
    lines = [
        f"{tile.rows} rows × {tile.row_bytes} bytes ({tile.columns} × {tile.element}), {tile.name}",
        f"{access.name}, step {access.step}: {access.says}",
        "How many wavefronts will it take? Set .answer to see." if asked else said,
        "",
        *_grid(access),
        *([] if asked else ["", *passes(access)]),
    ]
    return "\n".join(lines)


def _grid(access: TileAccess) -> list[str]:
    """A table of the first bank of every chunk, for up to 16 rows; chunks that the access uses are in [ ]."""
    tile = access.layout
    low = int(access.rows[access.active].min())
    rows = range(low, min(low + MOST_ROWS, tile.rows))
    count = tile.row_bytes // tile.chunk_bytes
    first = int(access.bytes[access.active].min()) // tile.chunk_bytes
    start = 0 if count <= MOST_CHUNKS else min(first // MOST_CHUNKS * MOST_CHUNKS, count - MOST_CHUNKS)
    chunks = range(start, min(start + MOST_CHUNKS, count))
    ends = np.maximum(access.bytes + access.width - 1, 0) // tile.chunk_bytes
    touched = {
        (int(r), c)
        for r, b, e in zip(access.rows, access.bytes, ends, strict=True)
        if r >= 0
        for c in range(int(b) // tile.chunk_bytes, int(e) + 1)
    }
    what = "chunk" if tile.chunk_bytes == 16 else "column"
    out = [f"first bank of each {what}; [ ]: touched", f"{what:>8} " + "".join(f"{c:>5}" for c in chunks)]
    for row in rows:
        cells = []
        for chunk in chunks:
            bank = int(tile.address(row, chunk * tile.chunk_bytes)) // 4 % tile.banks
            cells.append(f"[{bank:>2}]" if (row, chunk) in touched else f" {bank:>2} ")
        out.append(f"row {row:>4} " + "".join(f" {cell}" for cell in cells))
    return out
