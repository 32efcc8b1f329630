import numpy as np


def block_tiles(A, B, D, BM, BN, BK):
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a = A[i : i + BM, k : k + BK]
                b = B[k : k + BK, j : j + BN]
                for ii in range(BM):
                    for jj in range(BN):
                        for kk in range(BK):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d
