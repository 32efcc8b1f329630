import numpy as np


def nine_loops(A, B, D, block, warp, thread):
    BM, BN, BK = block
    WM, WN, WK = warp
    TM, TN = thread
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a = A[i : i + BM, k : k + BK]
                b = B[k : k + BK, j : j + BN]
                for iw in range(0, BM, WM):
                    for jw in range(0, BN, WN):
                        for kw in range(0, BK, WK):
                            aw = a[iw : iw + WM, kw : kw + WK]
                            bw = b[kw : kw + WK, jw : jw + WN]
                            for it in range(0, WM, TM):
                                for jt in range(0, WN, TN):
                                    for kt in range(WK):
                                        column = aw[it : it + TM, kt : kt + 1]
                                        row = bw[kt : kt + 1, jt : jt + TN]
                                        m, n = iw + it, jw + jt
                                        d[m : m + TM, n : n + TN] += column * row
            D[i : i + BM, j : j + BN] = d
