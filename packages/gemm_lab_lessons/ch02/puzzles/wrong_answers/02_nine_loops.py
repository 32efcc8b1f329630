"""Wrong answers to 02_nine_loops. The docstring of each holds words of its refusal."""

import numpy as np


def _loops(A, B, D, block, warp, thread, load):
    BM, BN, BK = block
    WM, WN, WK = warp
    TM, TN = thread
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                for iw in range(0, BM, WM):
                    for jw in range(0, BN, WN):
                        for kw in range(0, BK, WK):
                            for it in range(0, WM, TM):
                                for jt in range(0, WN, TN):
                                    load(A, B, d, (i, j, k), (iw, jw, kw), (it, jt), (block, warp, thread))
            D[i : i + BM, j : j + BN] = d


def copies_in_the_innermost_loops(A, B, D, block, warp, thread):
    """512 elements of A were read from DRAM, and 128 are enough. The tiles of A and B are copied in the loop over k"""

    def load(A, B, d, at, in_block, in_warp, tiles):
        (i, j, k), (iw, jw, kw), (it, jt) = at, in_block, in_warp
        (BM, BN, BK), (WM, WN, WK), (TM, TN) = tiles
        a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
        aw, bw = a[iw : iw + WM, kw : kw + WK], b[kw : kw + WK, jw : jw + WN]
        for kt in range(WK):
            m, n = iw + it, jw + jt
            d[m : m + TM, n : n + TN] += aw[it : it + TM, kt] * bw[kt, jt : jt + TN]

    block, warp, thread = block, block, thread
    _loops(A, B, D, block, warp, thread, load)


def without_warps(A, B, D, block, warp, thread):
    """A multiply-add takes registers: cut a thread's column and row first"""
    BM, BN, BK = block
    TM, TN = thread
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                for it in range(0, BM, TM):
                    for jt in range(0, BN, TN):
                        for kt in range(BK):
                            d[it : it + TM, jt : jt + TN] += a[it : it + TM, kt] * b[kt, jt : jt + TN]
            D[i : i + BM, j : j + BN] = d


def sums_of_the_warp_only(A, B, D, block, warp, thread):
    """D is 8 × 8, with k = 8"""
    BM, BN, BK = block
    WM, WN, WK = warp
    TM, TN = thread
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                for iw in range(0, BM, WM):
                    for jw in range(0, BN, WN):
                        for kw in range(0, BK, WK):
                            aw, bw = a[iw : iw + WM, kw : kw + WK], b[kw : kw + WK, jw : jw + WN]
                            for it in range(0, WM, TM):
                                for jt in range(0, WN, TN):
                                    for kt in range(WK):
                                        d[it : it + TM, jt : jt + TN] += aw[it : it + TM, kt] * bw[kt, jt : jt + TN]
            D[i : i + BM, j : j + BN] = d


def slices_inside_the_threads_loops(A, B, D, block, warp, thread):
    """elements of A's tiles were read from shared memory, and 128 are enough. A warp's slices are cut"""
    BM, BN, BK = block
    WM, WN, WK = warp
    TM, TN = thread
    for i in range(0, D.rows, BM):
        for j in range(0, D.cols, BN):
            d = np.zeros((BM, BN), int)
            for k in range(0, A.cols, BK):
                a, b = A[i : i + BM, k : k + BK], B[k : k + BK, j : j + BN]
                for iw in range(0, BM, WM):
                    for jw in range(0, BN, WN):
                        for kw in range(0, BK, WK):
                            for it in range(0, WM, TM):
                                for jt in range(0, WN, TN):
                                    aw, bw = a[iw : iw + WM, kw : kw + WK], b[kw : kw + WK, jw : jw + WN]
                                    for kt in range(WK):
                                        m, n = iw + it, jw + jt
                                        d[m : m + TM, n : n + TN] += aw[it : it + TM, kt] * bw[kt, jt : jt + TN]
            D[i : i + BM, j : j + BN] = d
