def warp_reads(BM, BN, rows, cols):
    warps = rows * cols
    return warps * (BM // rows + BN // cols)
