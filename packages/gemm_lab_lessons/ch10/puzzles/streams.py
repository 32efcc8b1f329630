"""The puzzle of notebook 10c: which k tiles of which tiles of D a block of a stream-K kernel multiplies."""

from __future__ import annotations

from gemm_lab.notebook.puzzle import Right, register_law
from gemm_lab_lessons.ch10.small_products import stream_k

SHAPES = ((4, 3, 5), (132, 32, 64), (3, 7, 4), (5, 5, 6), (6, 2, 3), (7, 1, 5))


@register_law(
    "10_stream",
    title="One row of work",
    task="Write stream(block, blocks, tiles, k_tiles). All k tiles of tile 0 of D, then those of tile 1 and so on form "
    "one row of tiles · k_tiles units. Block `block` takes the units from total * block // blocks up to, not "
    "including, total * (block + 1) // blocks. Return them as a list of (tile, first, last): its k tiles first … "
    "last - 1 of a tile.",
    hint="Walk from the first unit to the end. A unit u belongs to tile u // k_tiles and is its k tile u % k_tiles. "
    "How far can you go before the tile ends, or the block's part does?",
    cases=[(block, *shape) for shape in SHAPES for block in range(min(shape[0], 8))],
    tried="blocks tried",
)
def stream(block: int, blocks: int, tiles: int, k_tiles: int) -> Right:
    total = tiles * k_tiles
    why = f"The block's units are {total * block // blocks} to {total * (block + 1) // blocks - 1} of {total}."
    return stream_k(block, blocks, tiles, k_tiles), why
