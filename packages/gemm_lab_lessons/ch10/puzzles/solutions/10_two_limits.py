def fastest(mhz, terabytes, block_m, block_n):
    flop_per_byte = 2 * block_m * block_n / (2 * (block_m + block_n))
    return min(4096 * 132 * mhz / 1e6, terabytes * flop_per_byte)
