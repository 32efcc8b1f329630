def who(row, col):
    block_x, block_y = col // 32, row // 32
    thread = row % 32 + 32 * (col % 32)
    return block_x, block_y, thread
