"""Wrong answers to 10_stream. The docstring of each holds words of its refusal."""


def whole_tiles(block, blocks, tiles, k_tiles):
    """The block's units are"""
    return [(tile, 0, k_tiles) for tile in range(tiles * block // blocks, tiles * (block + 1) // blocks)]


def goes_on_behind_the_end_of_a_tile(block, blocks, tiles, k_tiles):
    """The block's units are"""
    total = tiles * k_tiles
    unit, end = total * block // blocks, total * (block + 1) // blocks
    return [(unit // k_tiles, unit % k_tiles, unit % k_tiles + end - unit)]


def counts_the_last_unit_in(block, blocks, tiles, k_tiles):
    """The block's units are"""
    total = tiles * k_tiles
    unit, end = total * block // blocks, total * (block + 1) // blocks
    work = []
    while unit < end:
        tile, first = divmod(unit, k_tiles)
        last = min(k_tiles, first + end - unit)
        work.append((tile, first, last - 1))
        unit += last - first
    return work


def the_rest_of_a_tile_is_left_out(block, blocks, tiles, k_tiles):
    """The block's units are"""
    total = tiles * k_tiles
    unit, end = total * block // blocks, total * (block + 1) // blocks
    tile, first = divmod(unit, k_tiles)
    return [(tile, first, min(k_tiles, first + end - unit))]
