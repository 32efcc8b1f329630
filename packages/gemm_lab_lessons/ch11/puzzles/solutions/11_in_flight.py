def in_flight(block_m, block_n, block_k, stages):
    return (stages - 1) * (block_m + block_n) * block_k * 2
