def stream(block, blocks, tiles, k_tiles):
    total = tiles * k_tiles
    unit, end = total * block // blocks, total * (block + 1) // blocks
    work = []
    while unit < end:
        tile, first = divmod(unit, k_tiles)
        last = min(k_tiles, first + end - unit)
        work.append((tile, first, last))
        unit += last - first
    return work
