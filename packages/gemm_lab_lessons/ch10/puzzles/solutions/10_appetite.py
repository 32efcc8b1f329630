def appetite(block_m, block_n):
    cycles = 2 * block_m * block_n / 4096
    return 2 * (block_m + block_n) / cycles
