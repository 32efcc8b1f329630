def hit_share(rows, columns, block_m, block_n):
    different = rows * block_m + columns * block_n
    return 1 - different / (rows * columns * (block_m + block_n))
