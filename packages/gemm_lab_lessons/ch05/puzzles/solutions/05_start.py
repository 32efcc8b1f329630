def fits(start, row_bytes):
    return start % (8 * row_bytes) == 0
