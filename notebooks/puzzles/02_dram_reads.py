def dram_reads(M, N, K, BM, BN):
    times_a = N // BN  # all of A, for each column of tiles
    times_b = M // BM  # all of B, for each row of tiles
    return M * K * times_a + K * N * times_b
