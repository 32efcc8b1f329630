def scale_byte(row, column, columns):
    tile = row // 128 * (columns // 4) + column // 4
    return tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + column % 4
