def swizzle(row, chunk):
    return chunk ^ row // 2 % 4
