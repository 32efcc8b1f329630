"""The puzzle of notebook 10c: which k tiles of which tiles of D a block of a stream-K kernel multiplies."""

from __future__ import annotations

from collections.abc import Callable

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import expect_all
from gemm_lab_lessons.ch10.small_products import stream_k


@register(
    "10_stream",
    title="One row of work",
    task="Write stream(block, blocks, tiles, k_tiles). All k tiles of tile 0 of D, then those of tile 1 and so on form "
    "one row of tiles · k_tiles units. Block `block` takes the units from total * block // blocks up to, not "
    "including, total * (block + 1) // blocks. Return them as a list of (tile, first, last): its k tiles first … "
    "last - 1 of a tile.",
    hint="Walk from the first unit to the end. A unit u belongs to tile u // k_tiles and is its k tile u % k_tiles. "
    "How far can you go before the tile ends, or the block's part does?",
)
def stream(answer: Callable[[int, int, int, int], list[tuple[int, int, int]]]) -> Facts:
    shapes = [(4, 3, 5), (132, 32, 64), (3, 7, 4), (5, 5, 6), (6, 2, 3), (7, 1, 5)]
    cases = [((block, *shape), stream_k(block, *shape)) for shape in shapes for block in range(min(shape[0], 8))]

    def why(block: int, blocks: int, tiles: int, k_tiles: int) -> str:
        total = tiles * k_tiles
        return f"The block's units are {total * block // blocks} to {total * (block + 1) // blocks - 1} of {total}."

    tried = expect_all(answer, cases, why)
    return [("blocks tried", str(tried))]
