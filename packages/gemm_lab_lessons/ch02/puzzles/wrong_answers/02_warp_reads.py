"""Wrong answers to 02_warp_reads. The docstring of each holds words of its refusal."""


def each_element_once(BM, BN, rows, cols):
    """returned 24; expected 48. There are 4 warps, each with a tile of 4 × 8"""
    return BM + BN


def one_warp(BM, BN, rows, cols):
    """returned 12; expected 48"""
    return BM // rows + BN // cols


def the_tile_of_products(BM, BN, rows, cols):
    """returned 128; expected 48"""
    return rows * cols * (BM // rows) * (BN // cols)


def exchanged(BM, BN, rows, cols):
    """exchanged(128, 64, 4, 1) returned 576; expected 384"""
    return BM * rows + BN * cols


def by_table(BM, BN, rows, cols):
    """KeyError"""
    return {(8, 16, 2, 2): 48, (128, 128, 1, 1): 256}[BM, BN, rows, cols]
