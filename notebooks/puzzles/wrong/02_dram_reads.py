"""Wrong answers to 02_dram_reads. The docstring of each holds words of its refusal."""


def each_element_once(M, N, K, BM, BN):
    """returned 384; expected 768. A is 16 × 8, B is 8 × 32, and D has 2 × 2 tiles"""
    return M * K + K * N


def exchanged(M, N, K, BM, BN):
    """exchanged(160, 34, 10, 32, 34) returned 8340; expected 3300"""
    return M * K * (M // BM) + K * N * (N // BN)


def one_tile_only(M, N, K, BM, BN):
    """returned 192; expected 768"""
    return (BM + BN) * K


def for_square_tiles(M, N, K, BM, BN):
    """for_square_tiles(64, 8, 18, 32, 4) returned 6912; expected 2592"""
    return 2 * M * N * K // BM if BM == BN else M * N * K * 3 // BN


def by_table(M, N, K, BM, BN):
    """KeyError"""
    return {(16, 32, 8): 768, (64, 64, 64): 32768}[M, N, K]
