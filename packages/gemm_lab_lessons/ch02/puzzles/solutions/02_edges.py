import numpy as np


def any_size(A, B, D, BM, BN, BK):
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            rows, cols = min(BM, D.rows - i), min(BN, D.cols - j)
            d = np.zeros((rows, cols), int)
            for k in range(0, A.cols, BK):
                a = A[i : i + BM, k : k + BK]
                b = B[k : k + BK, j : j + BN]
                for ii in range(a.rows):
                    for jj in range(b.cols):
                        for kk in range(a.cols):
                            d[ii, jj] += a[ii, kk] * b[kk, jj]
            D[i : i + BM, j : j + BN] = d
