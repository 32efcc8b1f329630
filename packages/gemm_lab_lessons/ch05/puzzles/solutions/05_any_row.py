def swizzle(row, chunk, chunks):
    rows_of_a_line = max(8 // chunks, 1)
    return chunk ^ row // rows_of_a_line % min(chunks, 8)
