def swizzle(row, chunk):
    return chunk ^ row % 8
